// Attainable bandwidth, and the cost of a launch, CUDA C++. Parallel sources: ceilings.cl, ceilings_host.hpp.
//
// Algorithm   read_words: reads every word of the input once, 16 bytes per access, UNROLL accesses in flight per
//             thread. Stores the xor of all words only if it equals `never`, so that the compiler keeps the loads.
//             idle: an empty kernel, for the cost of a launch.
// Passes      one
// Traffic     read_words: 4 bytes read per word; idle: none
// Tunables    GROUP: threads per group, UNROLL
// Source      own

extern "C" __global__ void __launch_bounds__(GROUP) read_words(const u32* in, u32* out, u64 n, u32 never) {
    const auto* quads = reinterpret_cast<const uint4*>(in);
    const u64 count = n / 4, stride = u64(gridDim.x) * GROUP;
    u64 i = u64(blockIdx.x) * GROUP + threadIdx.x;
    u32 all = 0;
    for (; i + (UNROLL - 1) * stride < count; i += UNROLL * stride) {
        uint4 x[UNROLL];
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) x[k] = quads[i + k * stride];
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) all ^= x[k].x ^ x[k].y ^ x[k].z ^ x[k].w;
    }
    for (; i < count; i += stride) all ^= quads[i].x ^ quads[i].y ^ quads[i].z ^ quads[i].w;
    if (all == never) *out = all;
}

extern "C" __global__ void idle(u32 /*unused*/) {}
