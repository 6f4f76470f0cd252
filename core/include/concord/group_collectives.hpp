#pragma once
/// @file
/// Collectives of a work-group, for hand-written kernels.
///
/// Sources in CUDA C++ and OpenCL C call concord_group_sum, concord_group_min and concord_group_max without an include:
///
///     __shared__ f32 scratch[256];                 // in OpenCL C: __local f32 scratch[256];
///     const f32 sum = concord_group_sum(x, scratch);
///
/// All work-items of the group call them and get the result. Groups have one dimension and a power of two of
/// work-items. `scratch` is local memory with one element per work-item. Types: i32, u32, i64, u64, f32, f64. The
/// functions contain the barriers that they need, also between calls with the same `scratch`.
///
/// Host kernels, which process a whole group, call the functions of this header with the values of all work-items. All
/// of them combine the values in the same order, a tree over neighbours, so that results are bitwise identical: of four
/// values the sum is (x0 + x1) + (x2 + x3).

#include <concord/types.hpp>
#include <concord/vocabulary.hpp>

#include <type_traits>

namespace concord {

namespace detail {
// Combines neighbours, then neighbours of the results, in place.
template <class T, class F>
[[gnu::always_inline]] inline T group_tree(T* values, u64 size, F combine) {
    for (size /= 2; size > 0; size /= 2) {
        for (u64 i = 0; i < size; ++i)
            values[i] = combine(values[2 * i], values[2 * i + 1]);
    }
    return values[0];
}
}  // namespace detail

/// The sum of `size` values, those of a group's work-items. `size` is a power of two. Overwrites the values.
template <class T>
[[gnu::always_inline]] inline T group_sum(T* values, u64 size) {
    return detail::group_tree(values, size, [](T x, T y) {
        if constexpr (std::is_floating_point_v<T>) {
            return Vocabulary::canonical(x + y);
        } else {
            using U = detail::BitsOf<T>;  // wraps
            return static_cast<T>(static_cast<U>(x) + static_cast<U>(y));
        }
    });
}

/// The minimum, like Vocabulary::min. Overwrites the values.
template <class T>
[[gnu::always_inline]] inline T group_min(T* values, u64 size) {
    return detail::group_tree(values, size, [](T x, T y) { return (Vocabulary::min)(x, y); });
}

/// The maximum, like Vocabulary::max. Overwrites the values.
template <class T>
[[gnu::always_inline]] inline T group_max(T* values, u64 size) {
    return detail::group_tree(values, size, [](T x, T y) { return (Vocabulary::max)(x, y); });
}

}  // namespace concord
