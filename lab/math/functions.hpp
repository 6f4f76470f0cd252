#pragma once
// The functions of concord/detail/math as C++ code, for the programs in this folder and tests/unit/math_test.cpp.

#include <concord/vocabulary.hpp>

namespace concord {
using namespace detail::vocabulary;
}

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
