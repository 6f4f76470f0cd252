// Map, CUDA C++. Parallel sources: map.cl, map_host.hpp.
//
// Algorithm  out[i] = f(a[i], b[i]). F(x, y) is f with a canonical NaN. For an f of one element, F ignores y, and b is
//            a and is not read.
// Passes     one. Traffic: reads every input once, writes the output once.
// naive      one element per thread.
// vectorized Each thread moves PACK elements per access (16 bytes of the widest type), with UNROLL accesses in
//            flight. Elements before the first and after the last whole pack are processed one by one. The host side
//            passes PACK = 1 if the operands are aligned differently. Groups are many and short: on an H200 one access
//            per thread is fastest, because the instructions before a group's first load dominate.
// Tunables   GROUP: threads per group; UNROLL: packs per thread; PACK: elements per pack.
// Source     V. Volkov, Better performance at lower occupancy, GTC 2010 (several accesses in flight).
//
// A, B, U: element types of the inputs and the output.

#include "common.cu"

extern "C" __global__ void __launch_bounds__(GROUP) map_naive(const A* a, const B* b, U* out, u64 n, const Op op) {
    const u64 i = u64(blockIdx.x) * GROUP + threadIdx.x;
    if (i < n) out[i] = F(a[i], b[i]);
}

// head: elements before the first whole pack; packs: number of whole packs; ends: elements outside whole packs.
extern "C" __global__ void __launch_bounds__(GROUP)
    map_vectorized(const A* a, const B* b, U* out, u64 head, u64 packs, u32 ends, const Op op) {
    const auto* pack_a = reinterpret_cast<const Pack<A, PACK>*>(a + head);
    const auto* pack_b = reinterpret_cast<const Pack<B, PACK>*>(b + head);
    auto* pack_out = reinterpret_cast<Pack<U, PACK>*>(out + head);
    const u64 first = u64(blockIdx.x) * (GROUP * UNROLL) + threadIdx.x;

    // Load.
    Pack<A, PACK> x[UNROLL];
    Pack<B, PACK> y[UNROLL];
#pragma unroll
    for (int k = 0; k < UNROLL; ++k) {
        const u64 i = first + k * GROUP;
        if (i < packs) {
            x[k] = pack_a[i];
            y[k] = pack_b[i];
        }
    }
    // Compute and store.
#pragma unroll
    for (int k = 0; k < UNROLL; ++k) {
        const u64 i = first + k * GROUP;
        if (i < packs) {
            Pack<U, PACK> z;
#pragma unroll
            for (int j = 0; j < PACK; ++j) z.item[j] = F(x[k].item[j], y[k].item[j]);
            pack_out[i] = z;
        }
    }

    // The first group processes the ends, fewer than two packs in total.
    if (ends == 0 || blockIdx.x != 0 || threadIdx.x >= ends) return;
    const u64 i = threadIdx.x < head ? threadIdx.x : threadIdx.x + packs * PACK;
    out[i] = F(a[i], b[i]);
}
