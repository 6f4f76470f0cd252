// Map, CUDA C++. Parallel sources: map.cl, map_host.hpp.
//
// Algorithm  out[i] = f(a[i], b[i]); F(x, y) is f. For an f of one element F ignores y, and b, which is then a again,
//            is not read.
// Passes     one; traffic: every input once, the output once.
// naive      one element a thread.
// vectorized each thread moves PACK elements an access (16 bytes of the widest type), with UNROLL accesses in flight;
//            elements before the first and after the last whole pack are done one by one. The host side gives
//            PACK = 1 where the operands are not aligned alike. Many short groups: on an H200 one access a thread is
//            fastest, and what a group does before its first load is what counts.
// Tunables   GROUP threads a group, UNROLL packs a thread, PACK elements a pack.
// Source     V. Volkov, Better performance at lower occupancy, GTC 2010 (several accesses in flight).
//
// A, B, U: element types of the inputs and the output.

extern "C" __global__ void __launch_bounds__(GROUP) map_naive(const A* a, const B* b, U* out, u64 n, const Op op) {
    const u64 i = u64(blockIdx.x) * GROUP + threadIdx.x;
    if (i < n) out[i] = F(a[i], b[i]);
}

// head: elements before the first whole pack; packs: whole packs; ends: elements in no whole pack, before and after.
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

    // The ends, by the first group: fewer than two packs in all.
    if (ends == 0 || blockIdx.x != 0 || threadIdx.x >= ends) return;
    const u64 i = threadIdx.x < head ? threadIdx.x : threadIdx.x + packs * PACK;
    out[i] = F(a[i], b[i]);
}
