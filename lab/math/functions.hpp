#pragma once
// The functions of core/math as C++ code, for the programs in this folder and tests/unit/math_test.cpp.

#include <concord/types.hpp>

// In this order.
namespace concord {
#include "math/math_prelude.h"

#include "math/math_tables.h"

#include "math/math_f32.h"

#include "math/math_f64.h"
}  // namespace concord

// X(name) for each function of one argument, and for each one of two.
// clang-format off
#define CONCORD_MATH_UNARY(X)                                                                              \
    X(exp) X(exp2) X(expm1) X(log) X(log2) X(log10) X(log1p) X(sin) X(cos) X(tan) X(sinpi) X(cospi) X(asin) \
    X(acos) X(atan) X(sinh) X(cosh) X(tanh) X(erf) X(erfc) X(rsqrt) X(cbrt) X(lgamma) X(tgamma)
#define CONCORD_MATH_BINARY(X) X(pow) X(atan2) X(hypot)
// clang-format on

namespace concord::math_check {

// The digest of results is the sum of this over all (input, result), in any order.
inline u64 mix(u64 x) {
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93;
    return x ^ x >> 32;
}
inline u64 digest_f32(u32 input, u32 result) {
    return mix(u64(input) << 32 | result);
}
inline u64 digest_f64(u64 input, u64 result) {
    return mix(mix(input) ^ result);
}

}  // namespace concord::math_check
