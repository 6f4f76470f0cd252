// What a device can do at best, CUDA C++. Parallel texts: ceilings.cl, ceilings_host.hpp.
//
// read_words  every word of the input once, 16 bytes an access, UNROLL accesses in flight a lane; the words meet in an
//             xor, which is stored only if it is `never`, so that no compiler leaves the loads out.
// fma_chains  CHAINS independent chains of fused multiply-adds a lane, UNROLL steps a turn of the loop.
// idle        nothing: what a launch costs.
//             A text holds one of them, named by KERNEL_....
// Tunables    GROUP lanes a group, CHAINS, UNROLL; T: f32 or f64.

#ifdef KERNEL_read_words
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
#endif

#ifdef KERNEL_fma_chains
extern "C" __global__ void __launch_bounds__(GROUP) fma_chains(T* out, T a, T b, u32 steps) {
    T x[CHAINS];
#pragma unroll
    for (int k = 0; k < CHAINS; ++k) x[k] = T(threadIdx.x + k);
    for (u32 s = 0; s < steps; s += UNROLL) {
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) {
#pragma unroll
            for (int k = 0; k < CHAINS; ++k) x[k] = fma(x[k], a, b);
        }
    }
    T sum = 0;
#pragma unroll
    for (int k = 0; k < CHAINS; ++k) sum += x[k];
    if (sum == a) out[0] = sum;
}
#endif

#ifdef KERNEL_idle
extern "C" __global__ void idle(u32 /*unused*/) {}
#endif
