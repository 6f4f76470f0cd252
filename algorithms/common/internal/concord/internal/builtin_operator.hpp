#pragma once
// The built-in operators and functions, which kernels of theirs the host has, and their arguments.

#include <concord/detail/canonical.hpp>
#include <concord/internal/builtin_function.hpp>
#include <concord/operators.hpp>
#include <concord/span.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

namespace concord::detail {

// The type whose kernels a type's sum and product use. Wrapping arithmetic is the same for signed and unsigned
// integers.
template <class T>
using Wrapping =
    typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type;

namespace ops {

// Integers are computed in an unsigned type of at least 32 bits, which wraps.
template <class T>
using Wide =
    std::conditional_t<std::is_floating_point_v<T>, T, std::conditional_t<(sizeof(T) < 8), u32, u64>>;

template <class T, class W = Wide<T>>
CONCORD_BUILTIN_OF((T, W), T, sum, (T a, T b), return T(W(a) + W(b));)
template <class T, class W = Wide<T>>
CONCORD_BUILTIN_OF((T, W), T, product, (T a, T b), return T(W(a) * W(b));)
template <class T>
CONCORD_BUILTIN_OF((T), T, min, (T a, T b), return min(a, b);)
template <class T>
CONCORD_BUILTIN_OF((T), T, max, (T a, T b), return max(a, b);)
template <class T>
CONCORD_BUILTIN_OF((T), T, copy, (T x), return x;)
template <class T, class W = Wide<T>>
CONCORD_BUILTIN_OF((T, W), T, negate, (T x), return T(W(0) - W(x));)
template <class T>
CONCORD_BUILTIN_OF((T), T, abs, (T x), return abs(x);)
// negate and abs of floats, on their bits.
template <class T>
CONCORD_BUILTIN_OF((T), T, flip_sign, (T bits), return bits ^ ~(~T(0) >> 1);)
template <class T>
CONCORD_BUILTIN_OF((T), T, clear_sign, (T bits), return bits & (~T(0) >> 1);)
template <class T, class W = Wide<T>>
CONCORD_BUILTIN_OF((T, W), T, square, (T x), return T(W(x) * W(x));)
template <class T>
CONCORD_BUILTIN_OF((T), T, sqrt, (T x), return sqrt(x);)
#define CONCORD_OF_ONE(NAME) \
    template <class T>       \
    CONCORD_BUILTIN_OF((T), T, NAME, (T x), return NAME(x);)
#define CONCORD_OF_TWO(NAME) \
    template <class T>       \
    CONCORD_BUILTIN_OF((T), T, NAME, (T x, T y), return NAME(x, y);)
CONCORD_MATH_UNARY(CONCORD_OF_ONE) CONCORD_MATH_BINARY(CONCORD_OF_TWO)
#undef CONCORD_OF_ONE
#undef CONCORD_OF_TWO

    using Sum = Builtin<sum_function>;
using Product = Builtin<product_function>;
using Min = Builtin<min_function>;
using Max = Builtin<max_function>;
using Copy = Builtin<copy_function>;
using Negate = Builtin<negate_function>;
using Abs = Builtin<abs_function>;
using FlipSign = Builtin<flip_sign_function>;
using ClearSign = Builtin<clear_sign_function>;
using Square = Builtin<square_function>;
using Sqrt = Builtin<sqrt_function>;

// Calls f with the operator.
template <class F>
decltype(auto) visit(ReduceOp op, F&& f) {
    switch (op) {
        case ReduceOp::sum:
            return f(Sum{});
        case ReduceOp::product:
            return f(Product{});
        case ReduceOp::min:
            return f(Min{});
        default:
            return f(Max{});
    }
}

// Calls f(TypeTag<U>{}, function) with the function, unless it is one of vocabulary.hpp, and the type in which it
// computes for elements of T: for functions on bits the unsigned integer of the size of T.
template <class T, class F>
decltype(auto) visit(MapFunction function, F&& f) {
    constexpr bool is_float = std::is_floating_point_v<T>;
    using Bits = typename std::conditional_t<is_float, Element<bits_of(type_of<T>())>, TypeTag<T>>::type;
    switch (function) {
        case MapFunction::copy:
            return f(TypeTag<Bits>{}, Copy{});
        case MapFunction::negate:
            return f(TypeTag<Bits>{}, std::conditional_t<is_float, FlipSign, Negate>{});
        case MapFunction::abs:
            return f(TypeTag<Bits>{},
                     std::conditional_t<is_float, ClearSign,
                                        std::conditional_t<std::is_signed_v<T>, Abs, Copy>>{});
        case MapFunction::square:
            return f(TypeTag<T>{}, Square{});
        default:
            if constexpr (is_float) return f(TypeTag<T>{}, Sqrt{});
            refuse_type(type_of<T>());
    }
}

// Calls f with the function of vocabulary.hpp.
#define CONCORD_CASE(NAME) \
    case Function::NAME:   \
        return f(Builtin<NAME##_function>{});
template <class F>
auto visit_math(MapFunction function, const F& f) {
    using Function = MapFunction;
    switch (function) {
        CONCORD_MATH_UNARY(CONCORD_CASE)
        default:
            return decltype(f(Sqrt{}))();
    }
}
template <class F>
auto visit_math(PairFunction function, const F& f) {
    using Function = PairFunction;
    switch (function) { CONCORD_MATH_BINARY(CONCORD_CASE) }
    return decltype(f(Builtin<pow_function>{}))();
}
#undef CONCORD_CASE

}  // namespace ops

// min or max of integers, which its value selects. Elements are of the unsigned type of their size.
struct SelectedMinMax {
    ReduceOp op;
    bool is_signed;

    // By the bits to flip before and after, which compilers compute once, so that loops have no condition.
    template <class T>
    [[gnu::always_inline]] T operator()(T a, T b) const {
        static_assert(std::is_unsigned_v<T>);
        const T sign = is_signed ? static_cast<T>(T{1} << (8 * sizeof(T) - 1)) : T{0};
        const T flips = static_cast<T>(sign ^ (op == ReduceOp::max ? ~T{0} : T{0}));
        return static_cast<T>(ops::Min{}(static_cast<T>(a ^ flips), static_cast<T>(b ^ flips)) ^ flips);
    }
};

// The operator that its value selects. Kernels that take it are compiled once for each Wrapping type.
struct SelectedOp {
    ReduceOp op;
    bool is_signed;  // whether elements are signed integers

    // Conditions, not a switch: g++ moves them out of loops.
    template <class T>
    [[gnu::always_inline]] T operator()(T a, T b) const {
        if (op == ReduceOp::sum) return ops::Sum{}(a, b);
        if (op == ReduceOp::product) return ops::Product{}(a, b);
        if constexpr (std::is_integral_v<T>) {
            return SelectedMinMax{.op = op, .is_signed = is_signed}(a, b);
        } else {
            return op == ReduceOp::min ? ops::Min{}(a, b) : ops::Max{}(a, b);
        }
    }
};

// The bound values of a built-in operator: the bytes of its SelectedOp, padded to the size that other languages expect.
// SelectedMinMax has the same; kernels of one operator ignore them.
ValueBytes builtin_values(ReduceOp op, Type type);

// The bytes of identity_of().
ValueBytes builtin_identity(ReduceOp op, Type type);

// The bytes of a value of `type`. A NaN is canonical.
inline std::array<std::byte, 8> canonical_bytes(const ValueBytes& value, Type type) {
    std::array<std::byte, 8> bytes{};
    std::memcpy(bytes.data(), value.bytes.data(), std::min(bytes.size(), value.bytes.size()));
    if (is_float(type)) {
        visit_float(type, [&](auto tag) {
            typename decltype(tag)::type x;
            std::memcpy(&x, bytes.data(), sizeof x);
            x = canonical(x);
            std::memcpy(bytes.data(), &x, sizeof x);
        });
    }
    return bytes;
}

// Calls f(TypeTag<T>{}, functor) with the type and operator whose kernels compute `op` for elements of `type`.
template <class F>
decltype(auto) visit_builtin(ReduceOp op, Type type, F&& f) {
    return visit_type(type, [&](auto tag) -> decltype(auto) {
        using T = typename decltype(tag)::type;
        return ops::visit(op, [&](auto functor) -> decltype(auto) {
            constexpr bool wraps = std::is_same_v<decltype(functor), ops::Sum> ||
                                   std::is_same_v<decltype(functor), ops::Product>;
            return f(TypeTag<std::conditional_t<wraps, Wrapping<T>, T>>{}, functor);
        });
    });
}

// The same for kernels that take long to compile: min and max of integers are one functor, whose value selects.
template <class F>
decltype(auto) visit_few_builtins(ReduceOp op, Type type, F&& f) {
    return visit_builtin(op, type, [&](auto tag, auto functor) -> decltype(auto) {
        using T = typename decltype(tag)::type;
        constexpr bool compares =
            std::is_same_v<decltype(functor), ops::Min> || std::is_same_v<decltype(functor), ops::Max>;
        if constexpr (compares && std::is_integral_v<T>) {
            return f(TypeTag<Wrapping<T>>{}, SelectedMinMax{});
        } else {
            return f(tag, functor);
        }
    });
}

}  // namespace concord::detail
