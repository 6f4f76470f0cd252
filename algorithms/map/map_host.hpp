#pragma once
// Map, host dialect. Parallel sources: map.cu and map.cl.
//
// Algorithm  out[i] = f(a[i], b[i]). For a function of one element, b is a and is not read.
// Passes     one. Traffic: reads every input once, writes the output once.
// naive      one loop over a tile.
// vectorized blocks of 1024 results collect in L1. If the data exceeds the caches, a block leaves with non-temporal
// stores.
// Tunables   the tile: a launch argument.
//
// A, B, U: element types of the inputs and the output. Op: called with two elements.

#include <concord/detail/host_vector.hpp>
#include <concord/host_kernel.hpp>

#include <algorithm>

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

template <class A, class B, class U, class Op>
void map_naive(const Group& group, const A* a, const B* b, U* out, u64 n, u64 tile, const Op op) {
    const u64 begin = group.x * tile, end = std::min(n, begin + tile);
    for (u64 i = begin; i < end; ++i)
        out[i] = op(a[i], b[i]);
}

// past_cache: the data exceeds the caches, so results are stored to memory in whole cache lines.
template <class A, class B, class U, class Op>
void map_vectorized(const Group& group, const A* a, const B* b, U* out, u64 n, u64 tile, u32 past_cache,
                    const Op op) {
    constexpr u64 block_length = 1024;
    const u64 begin = group.x * tile, end = std::min(n, begin + tile);
    alignas(64) U block[block_length];
    for (u64 base = begin; base < end; base += block_length) {
        const u64 count = std::min(block_length, end - base);
        const A* x = a + base;
        const B* y = b + base;
        for (u64 i = 0; i < count; ++i)
            block[i] = op(x[i], y[i]);
        if (past_cache != 0) {
            stream_store(out + base, block, count * sizeof(U));
        } else {
            std::memcpy(out + base, block, count * sizeof(U));
        }
    }
    if (past_cache != 0) stream_fence();
}

}  // namespace concord::detail::host
