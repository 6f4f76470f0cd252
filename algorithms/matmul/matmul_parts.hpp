#pragma once
// Matmul, sums over the parts of k, host dialect. Parallel sources: matmul_parts.kernel.
//
// Algorithm  An element of C has the results of `parts` parts, each in its own plane. They are added in pairs, level by
//            level, in the order of the planes: a sum waits until its partner is complete, so that there is at most one
//            sum per level.
// Passes     one; every result of a part is read once, every element of C is written once.
// Tunables   none; 8192 elements of C per group.
// Source     N. Higham, The Accuracy of Floating Point Summation, 1993 (pairwise summation).
//
// T: element type.

#include <concord/matmul.hpp>
#include "matmul_host.hpp"

#include <bit>

namespace concord::detail::host {

inline constexpr u64 sum_parts_elements = 8192;  // of C per group

// from: planes of m x n elements, all parts of a product together.
template <class T>
void matmul_sum_parts(const Group& group, const T* from, T* c, const Product<T> p, u32 parts, u64 all) {
    constexpr u64 width = 64, levels = 11;
    static_assert(canonical_part(1, 1, ~u64{0} >> 1) >= (~u64{0} >> 1) >> (levels - 1));
    const u64 plane = p.m * p.n, end = std::min(all, (group.x + 1) * sum_parts_elements);
    for (u64 at = group.x * sum_parts_elements; at < end;) {
        // Elements of one row.
        const u64 product = at / plane, in_plane = at % plane, column = in_plane % p.n;
        const u64 count = std::min({width, end - at, p.n - column});
        const T* in = from + product * parts * plane + in_plane;
        T waiting[levels][width], t[width];
        const auto add = [&](u64 level) {
            for (u64 e = 0; e < count; ++e)
                t[e] = waiting[level][e] + t[e];
        };
        for (u64 part = 0; part < parts; ++part, in += plane) {
            std::copy_n(in, count, t);
            const u64 complete = static_cast<u64>(std::countr_one(part));
            for (u64 level = 0; level < complete; ++level)
                add(level);
            if (part + 1 < parts) std::copy_n(t, count, waiting[complete]);
        }
        // The sums that have waited for a partner behind the last one.
        for (u64 level = static_cast<u64>(std::countr_one(u64{parts} - 1)); level < levels; ++level) {
            if ((parts - 1) >> level & 1) add(level);
        }
        T* const to = c + product * p.c_stride + in_plane / p.n * p.c_pitch + column;
        for (u64 e = 0; e < count; ++e)
            finish(p, t[e], to + e);
        at += count;
    }
}

}  // namespace concord::detail::host
