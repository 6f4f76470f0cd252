#pragma once
// The canonical NaN, C++. Parallel sources: common.cu, common.cl.
//
// The hardware of different devices gives different NaNs for the same operation. Kernels therefore pass each
// floating-point result through canonical() where they store it.

#include <concord/types.hpp>

#include <bit>
#include <cstddef>
#include <type_traits>

namespace concord::detail {

// The bits of the canonical NaN: quiet, positive, without payload.
inline constexpr u32 canonical_nan_f32 = 0x7fc00000;
inline constexpr u64 canonical_nan_f64 = 0x7ff8000000000000;

// Returns the canonical NaN for every NaN, and any other value unchanged. It selects bits, not values, so that no
// compiler may choose the NaN.
[[gnu::always_inline]] constexpr f32 canonical(f32 x) {
    return std::bit_cast<f32>(x != x ? canonical_nan_f32 : std::bit_cast<u32>(x));
}
[[gnu::always_inline]] constexpr f64 canonical(f64 x) {
    return std::bit_cast<f64>(x != x ? canonical_nan_f64 : std::bit_cast<u64>(x));
}
// Other types have no NaN.
template <class T>
requires(!std::is_floating_point_v<T>) [[gnu::always_inline]] constexpr T canonical(T x) {
    return x;
}

// The same for each element of a vector of T. By reference: vectors of some instruction sets cannot be returned from
// functions compiled without them.
template <class T, class Vector>
[[gnu::always_inline]] inline void make_canonical(Vector& v) {
    if constexpr (std::is_floating_point_v<T>) {
        Vector nan;
        for (std::size_t i = 0; i < sizeof(Vector) / sizeof(T); ++i) {
            if constexpr (sizeof(T) == sizeof(u32)) {
                nan[i] = std::bit_cast<T>(canonical_nan_f32);
            } else {
                nan[i] = std::bit_cast<T>(canonical_nan_f64);
            }
        }
        v = v == v ? v : nan;
    }
}

}  // namespace concord::detail
