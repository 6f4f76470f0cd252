#pragma once
/// @file
/// The functions that bodies (CONCORD_FUNCTION, CONCORD_KERNEL) call under the same name on every backend, with bitwise
/// the same results.
///
/// - exp, exp2, expm1, log, log2, log10, log1p, pow, sin, cos, tan, sinpi, cospi, asin, acos, atan, atan2, sinh, cosh,
///   tanh, erf, erfc, rsqrt, cbrt, hypot, lgamma, tgamma of f32 and f64; sincos(x, s, c), which assigns sin(x) to s and
///   cos(x) to c, two local variables or two elements of buffers
/// - pow(x, n) with an integer n: the product of those of x, x^2, x^4, ... whose bits n has, in this order, each
///   rounded; 1 / pow(x, -n) for n < 0
/// - fmod of f32 and f64, which is exact
/// - min, max (like ReduceOp), clamp(x, low, high), abs, select(a, b, c), which is c ? b : a, of all types; fmin, fmax
///   (a NaN gives the other one) of f32 and f64
/// - popcount, clz, ctz, rotate(x, n) to the left, mul_hi of integers
/// - as_f32, as_u32, as_i32, as_f64, as_u64, as_i64: bits as another type of that size; signbit and canonical of f32
///   and f64
/// - atomic_add, atomic_min, atomic_max and atomic_exchange of u32, i32, u64, i64, f32 and f64; atomic_or, atomic_and,
///   atomic_xor and atomic_compare_exchange(p, expected, value) of these integers; they return the value from before.
///   OpenCL devices without 64-bit atomics refuse those of u64, i64 and f64 with unsupported.
/// - philox4x32(counter, key): four random u32 of a u32x4 and a u32x2; uniform_f32(bits) and uniform_f64(high, low) in
///   [0, 1)
/// - the vectors f32x2, f32x4, f64x2, f64x4, i32x2, i32x4, u32x2, u32x4 and u8x4: structs with the members x, y, z, w,
///   which make_f32x4(x, y, z, w) and its like return. They are elements of arrays. There is no arithmetic of vectors.
///
/// `expf(x)` and other names with an f are the functions of f32. f32 functions of one argument are correctly rounded;
/// f64 functions have errors below 1 ulp in all tried inputs. A NaN that they compute is the canonical one.
/// `native::exp(x)` is the backend's own function, whose bits differ between backends. `sqrt`, `fma`, `floor` and other
/// exact functions are the languages' own; see DeviceTraits::exact_divide_sqrt.
///
/// Bodies find these functions by their plain names. Hand-written host kernels write Vocabulary::exp(x), and kernel
/// sources concord_exp(x), also in OpenCL C.

#include <concord/types.hpp>

#include <math.h>  // NOLINT: bodies call sqrt, fabs ... unqualified, as in the other two languages
#include <cfloat>
#include <climits>
#include <cmath>
#include <type_traits>

namespace concord {
/// @cond
namespace detail::vocabulary {
// In this order.
#include <concord/detail/math/prelude.h>

#include <concord/detail/math/vectors.h>

#include <concord/detail/math/tables.h>

#include <concord/detail/math/f32.h>

#include <concord/detail/math/f64.h>

#include <concord/detail/math/vocabulary.h>

#include <concord/detail/math/random.h>
}  // namespace detail::vocabulary

// The C++ library's functions, and those that it lacks.
namespace detail::libm {
using namespace std;  // NOLINT: for qualified names only
template <class T>
T rsqrt(T x) {
    return T(1) / std::sqrt(x);
}
template <class T>
T sinpi(T x) {
    return std::sin(x * T(M_PI));
}
template <class T>
T cospi(T x) {
    return std::cos(x * T(M_PI));
}
}  // namespace detail::libm

// The functions of f32 and f64 with one argument and with two.
// clang-format off
#define CONCORD_MATH_UNARY(X)                                                                              \
    X(exp) X(exp2) X(expm1) X(log) X(log2) X(log10) X(log1p) X(sin) X(cos) X(tan) X(sinpi) X(cospi) X(asin) \
    X(acos) X(atan) X(sinh) X(cosh) X(tanh) X(erf) X(erfc) X(rsqrt) X(cbrt) X(lgamma) X(tgamma)
#define CONCORD_MATH_BINARY(X) X(pow) X(atan2) X(hypot)
// Functions that overload resolution selects, by the number of arguments.
#define CONCORD_VOCABULARY(ONE, TWO, THREE)                                                               \
    ONE(abs) ONE(signbit) ONE(popcount) ONE(clz) ONE(ctz) ONE(as_f32) ONE(as_u32) ONE(as_i32) ONE(as_f64) \
    ONE(as_u64) ONE(as_i64) ONE(canonical)                                                                \
    TWO(min) TWO(max) TWO(fmin) TWO(fmax) TWO(fmod) TWO(rotate) TWO(mul_hi) TWO(atomic_add)               \
    TWO(atomic_min) TWO(atomic_max) TWO(atomic_or) TWO(atomic_and) TWO(atomic_xor) TWO(atomic_exchange)   \
    THREE(clamp) THREE(select) THREE(atomic_compare_exchange)
// Vectors, in vectors.h.
#define CONCORD_VECTORS(X) \
    X(f32x2) X(f32x4) X(f64x2) X(f64x4) X(i32x2) X(i32x4) X(u32x2) X(u32x4) X(u8x4)
// clang-format on
/// @endcond

#define CONCORD_VECTOR_NAME(NAME) \
    using NAME = detail::vocabulary::concord_##NAME; /**< A vector: x, y (z, w). */
CONCORD_VECTORS(CONCORD_VECTOR_NAME)
#undef CONCORD_VECTOR_NAME

// Also where min and max are macros.
#pragma push_macro("min")
#pragma push_macro("max")
#undef min
#undef max

/// The scope of bodies: the element types and the functions of this header.
struct Vocabulary : detail::TypeNames {
    /// @cond
#define CONCORD_CALL [[gnu::always_inline]] static
#define CONCORD_UNARY_MEMBER(NAME)                          \
    CONCORD_CALL f32 NAME(f32 x) {                          \
        return detail::vocabulary::concord_##NAME##_f32(x); \
    }                                                       \
    CONCORD_CALL f64 NAME(f64 x) {                          \
        return detail::vocabulary::concord_##NAME##_f64(x); \
    }                                                       \
    CONCORD_CALL f32 NAME##f(f32 x) {                       \
        return detail::vocabulary::concord_##NAME##_f32(x); \
    }
#define CONCORD_BINARY_MEMBER(NAME)                            \
    CONCORD_CALL f32 NAME(f32 x, f32 y) {                      \
        return detail::vocabulary::concord_##NAME##_f32(x, y); \
    }                                                          \
    CONCORD_CALL f64 NAME(f64 x, f64 y) {                      \
        return detail::vocabulary::concord_##NAME##_f64(x, y); \
    }                                                          \
    CONCORD_CALL f32 NAME##f(f32 x, f32 y) {                   \
        return detail::vocabulary::concord_##NAME##_f32(x, y); \
    }
#define CONCORD_MEMBER_OF_ONE(NAME)                   \
    template <class A>                                \
    CONCORD_CALL auto NAME(A a) {                     \
        return detail::vocabulary::concord_##NAME(a); \
    }
#define CONCORD_MEMBER_OF_TWO(NAME)                      \
    template <class A, class B>                          \
    CONCORD_CALL auto NAME(A a, B b) {                   \
        return detail::vocabulary::concord_##NAME(a, b); \
    }
#define CONCORD_MEMBER_OF_THREE(NAME)                       \
    template <class A, class B, class C>                    \
    CONCORD_CALL auto NAME(A a, B b, C c) {                 \
        return detail::vocabulary::concord_##NAME(a, b, c); \
    }
    CONCORD_MATH_UNARY(CONCORD_UNARY_MEMBER)
    CONCORD_MATH_BINARY(CONCORD_BINARY_MEMBER)
    CONCORD_VOCABULARY(CONCORD_MEMBER_OF_ONE, CONCORD_MEMBER_OF_TWO, CONCORD_MEMBER_OF_THREE)
    CONCORD_CALL f32 fminf(f32 a, f32 b) {
        return fmin(a, b);
    }
    CONCORD_CALL f32 fmaxf(f32 a, f32 b) {
        return fmax(a, b);
    }
#define CONCORD_VECTOR_MEMBER(NAME)                           \
    using NAME = concord::NAME;                               \
    template <class... A>                                     \
    CONCORD_CALL NAME make_##NAME(A... a) {                   \
        return detail::vocabulary::concord_make_##NAME(a...); \
    }
    CONCORD_VECTORS(CONCORD_VECTOR_MEMBER)
#undef CONCORD_VECTOR_MEMBER
    CONCORD_CALL f32 fmodf(f32 a, f32 b) {
        return fmod(a, b);
    }
#define CONCORD_POW_MEMBER(T)                                                      \
    template <class N>                                                             \
    requires(std::is_integral_v<N>) CONCORD_CALL T pow(T x, N n) {                 \
        return detail::vocabulary::concord_pow(                                    \
            x, static_cast<std::conditional_t<std::is_signed_v<N>, i64, u64>>(n)); \
    }
    CONCORD_POW_MEMBER(f32)
    CONCORD_POW_MEMBER(f64)
    CONCORD_CALL void sincos(f32 x, f32& s, f32& c) {
        detail::vocabulary::concord_sincos(x, s, c);
    }
    CONCORD_CALL void sincos(f64 x, f64& s, f64& c) {
        detail::vocabulary::concord_sincos(x, s, c);
    }
    CONCORD_CALL u32x4 philox4x32(u32x4 counter, u32x2 key) {
        return detail::vocabulary::concord_philox4x32(counter, key);
    }
    CONCORD_CALL f32 uniform_f32(u32 bits) {
        return detail::vocabulary::concord_uniform_f32(bits);
    }
    CONCORD_CALL f64 uniform_f64(u32 high, u32 low) {
        return detail::vocabulary::concord_uniform_f64(high, low);
    }
#undef CONCORD_UNARY_MEMBER
#undef CONCORD_BINARY_MEMBER
#undef CONCORD_MEMBER_OF_ONE
#undef CONCORD_MEMBER_OF_TWO
#undef CONCORD_MEMBER_OF_THREE
#undef CONCORD_POW_MEMBER

    struct native {
#define CONCORD_NATIVE_UNARY(NAME)    \
    template <class T>                \
    CONCORD_CALL T NAME(T x) {        \
        return detail::libm::NAME(x); \
    }
#define CONCORD_NATIVE_BINARY(NAME)      \
    template <class T>                   \
    CONCORD_CALL T NAME(T x, T y) {      \
        return detail::libm::NAME(x, y); \
    }
        CONCORD_MATH_UNARY(CONCORD_NATIVE_UNARY)
        CONCORD_MATH_BINARY(CONCORD_NATIVE_BINARY)
#undef CONCORD_NATIVE_UNARY
#undef CONCORD_NATIVE_BINARY
    };
#undef CONCORD_CALL
    /// @endcond
};

#pragma pop_macro("min")
#pragma pop_macro("max")

}  // namespace concord
