// Map, CUDA C++. Parallel texts: map.cl, map_host.hpp.
//
// Algorithm  out[i] = f(a[i], b[i]); F(x, y) is f. For an f of one element F ignores y, and b, which is then a again,
//            is not read.
// Passes     one; traffic: every input once, the output once.
// naive      one element a lane.
// vectorized each lane moves PACK elements an access (16 bytes of the widest type), with UNROLL accesses in flight;
//            elements before the first and after the last whole pack are done one by one. The host side gives
//            PACK = 1 where the operands are not aligned alike.
// Tunables   GROUP lanes a group, UNROLL packs a lane, PACK elements a pack.
// Source     V. Volkov, Better performance at lower occupancy, GTC 2010 (several accesses in flight).
//
// A, B, U: element types of the inputs and the output.

extern "C" __global__ void __launch_bounds__(GROUP) map_naive(const A* a, const B* b, U* out, u64 n, const Op op) {
    const u64 i = u64(blockIdx.x) * GROUP + threadIdx.x;
    if (i < n) out[i] = F(a[i], b[i]);
}

// head: elements before the first whole pack; packs: whole packs; the rest follows them.
extern "C" __global__ void __launch_bounds__(GROUP)
    map_vectorized(const A* a, const B* b, U* out, u64 n, u64 head, u64 packs, const Op op) {
    const auto* pack_a = reinterpret_cast<const Pack<A, PACK>*>(a + head);
    const auto* pack_b = reinterpret_cast<const Pack<B, PACK>*>(b + head);
    auto* pack_out = reinterpret_cast<Pack<U, PACK>*>(out + head);

    constexpr u64 tile = u64(GROUP) * UNROLL;
    for (u64 base = u64(blockIdx.x) * tile; base < packs; base += u64(gridDim.x) * tile) {
        Pack<A, PACK> x[UNROLL];
        Pack<B, PACK> y[UNROLL];
        // Load.
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            const u64 i = base + u32(k * GROUP) + threadIdx.x;
            if (i < packs) {
                x[k] = pack_a[i];
                y[k] = pack_b[i];
            }
        }
        // Compute and store.
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            const u64 i = base + u32(k * GROUP) + threadIdx.x;
            Pack<U, PACK> z;
#pragma unroll
            for (int j = 0; j < PACK; ++j) z.item[j] = F(x[k].item[j], y[k].item[j]);
            if (i < packs) pack_out[i] = z;
        }
    }

    // The ends: fewer than a pack before the first whole one and after the last, done by the last group.
    if (blockIdx.x == gridDim.x - 1) {
        const u64 rest = head + packs * PACK;
        if (threadIdx.x < head) out[threadIdx.x] = F(a[threadIdx.x], b[threadIdx.x]);
        if (rest + threadIdx.x < n) out[rest + threadIdx.x] = F(a[rest + threadIdx.x], b[rest + threadIdx.x]);
    }
}
