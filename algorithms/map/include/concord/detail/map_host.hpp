#pragma once
// Map, host dialect. Parallel sources: map.kernel and map_wide.cl.
//
// Algorithm  out[i] = f(a[i], b[i]), with canonical NaNs. For a function of one element, b is a and is not read.
// Passes     one. Traffic: reads every input once, writes the output once.
// naive      one loop over a tile.
// vectorized one loop over a tile. If the data exceeds the caches, results leave with non-temporal stores, a cache line
//            at a time. To collect them in L1 first takes up to twice as long.
// Tunables   the tile and non_temporal: launch arguments.
//
// Kernels are always_inline: g++ does not otherwise make a copy of every user function for each instruction set.
//
// A, B, U: element types of the inputs and the output. Op: called with two elements.

#include <concord/detail/canonical.hpp>
#include <concord/detail/host_vector.hpp>
#include <concord/host_kernel.hpp>

#include <cstddef>
#include <cstring>
#include <type_traits>

namespace concord::detail::host {

// Adapts an operator of one element to two. b is a and is not read.
template <class Op>
struct IgnoreSecond {
    Op op;
    template <class A, class B>
    [[gnu::always_inline]] auto operator()(A a, B /*b*/) const {
        return op(a);
    }
};

// Whether the operator returns its first operand.
template <class Op>
inline constexpr bool copies = false;

template <class A, class B, class U, class Op>
[[gnu::always_inline]] inline void map_naive(const Group& group, const A* a, const B* b, U* out, u64 n,
                                             u64 tile, const Op op) {
    const u64 begin = group.x * tile, end = min_of(n, begin + tile);
    for (u64 i = begin; i < end; ++i)
        out[i] = canonical(op(a[i], b[i]));
}

// out may be exactly an input, so iterations are independent.
template <class A, class B, class U, class Op>
[[gnu::always_inline]] inline void map_elements(const A* a, const B* b, U* out, u64 n, const Op& op) {
#if defined(__clang__)
#pragma clang loop vectorize(assume_safety)
#else
#pragma GCC ivdep
#endif
    for (u64 i = 0; i < n; ++i)
        out[i] = canonical(op(a[i], b[i]));
}

// Copies a cache line with non-temporal stores: one store if the instruction set has it, which takes less time than
// four of 16 bytes. Both are aligned to 64 bytes.
[[gnu::always_inline]] inline void map_line([[maybe_unused]] HostIsa isa, void* to, const void* from) {
#if defined(__x86_64__) && !defined(__clang__)
    if (isa == HostIsa::avx512) {
        struct [[gnu::may_alias]] Line {
            std::byte bytes[64];
        };
        // Not an intrinsic, because functions for other instruction sets cannot contain it.
        asm volatile("vmovdqa64 %1, %%zmm15\n\tvmovntdq %%zmm15, %0"
                     : "=m"(*static_cast<Line*>(to))
                     : "m"(*static_cast<const Line*>(from))
                     : "xmm15");
        return;
    }
#endif
    stream_line(to, from);
}

// non_temporal: results are stored to memory in whole cache lines.
template <class A, class B, class U, class Op>
[[gnu::always_inline]] inline void map_vectorized(const Group& group, const A* a, const B* b, U* out, u64 n,
                                                  u64 tile, u32 non_temporal, const Op op) {
    constexpr u64 line = 64 / sizeof(U), ahead = 2048;  // elements; bytes
    const u64 begin = group.x * tile, end = min_of(n, begin + tile);
    const u64 whole = begin + elements_to_line(out + begin);
    const bool has_lines = non_temporal != 0 && whole + line <= end;
    // Non-temporal stores leave few line buffers for the loads of two inputs. Prefetches to L2 need none for long.
    const bool prefetches = static_cast<const void*>(a) != static_cast<const void*>(b);
    // The elements up to the first line, then the lines and the elements after them: one copy of the loop, because user
    // functions may be long.
    u64 at = begin, stop = has_lines ? whole : end;
    for (;;) {
        map_elements(a + at, b + at, out + at, stop - at, op);
        if (stop == end) break;
        for (at = stop, stop = end; at + line <= end; at += line) {
            alignas(64) U results[line];
            if (prefetches) {
                __builtin_prefetch(reinterpret_cast<const std::byte*>(a + at) + ahead, 0, 2);
                __builtin_prefetch(reinterpret_cast<const std::byte*>(b + at) + ahead, 0, 2);
            }
            if constexpr (copies<Op> && std::is_same_v<A, U>) {
                std::memcpy(results, a + at, sizeof results);
            } else {
                // Unrolled, the loop would not be vectorised.
#pragma GCC unroll 1
                for (u64 i = 0; i < line; ++i)
                    results[i] = canonical(op(a[at + i], b[at + i]));
            }
            map_line(group.isa, out + at, results);
        }
    }
    if (has_lines) stream_fence();
}

}  // namespace concord::detail::host
