// Attainable rates in CUDA C++. Parallel sources: ceilings.cl, ceilings_host.hpp.
//
// Algorithm   read_words: reads every word of the input once, 16 bytes per access, UNROLL accesses in flight per
//             work-item. Stores the xor of all words only if it equals `never`, so that the compiler keeps the loads.
//             fma_chains: CHAINS independent chains of fused multiply-adds per work-item, UNROLL steps per iteration.
//             mma_chains: MMA_CHAINS independent chains of products of f64 blocks, 16 x 16 by 16 x 8, per warp.
//             idle: an empty kernel, for the cost of a launch. KERNEL_... selects one of them.
// Passes      one
// Traffic     read_words: 4 bytes read per word; the others: none
// Tunables    GROUP: work-items per group, CHAINS, UNROLL; T: f32 or f64
// Source      own

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

#ifdef KERNEL_mma_chains
// t += a * b for a block, whose elements are all a and all b.
__device__ __forceinline__ void multiply_block(double (&t)[4], double a, double b) {
#if __CUDA_ARCH__ >= 900
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %4, %4, %4, %4, %4, %4, %4}, "
        "{%5, %5, %5, %5}, {%0, %1, %2, %3};"
        : "+d"(t[0]), "+d"(t[1]), "+d"(t[2]), "+d"(t[3])
        : "d"(a), "d"(b));
#else
#pragma unroll
    for (int part = 0; part < 8; ++part)
        asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                     : "+d"(t[part % 2 * 2]), "+d"(t[part % 2 * 2 + 1])
                     : "d"(a), "d"(b));
#endif
}

extern "C" __global__ void __launch_bounds__(GROUP) mma_chains(double* out, double a, double b, u32 steps) {
    double t[MMA_CHAINS][4];
#pragma unroll
    for (int k = 0; k < MMA_CHAINS; ++k)
#pragma unroll
        for (int i = 0; i < 4; ++i) t[k][i] = threadIdx.x + k;
    for (u32 s = 0; s < steps; ++s) {
#pragma unroll
        for (int k = 0; k < MMA_CHAINS; ++k) multiply_block(t[k], a, b);
    }
    double sum = 0;
#pragma unroll
    for (int k = 0; k < MMA_CHAINS; ++k)
#pragma unroll
        for (int i = 0; i < 4; ++i) sum += t[k][i];
    if (sum == a) out[0] = sum;
}
#endif

#ifdef KERNEL_idle
extern "C" __global__ void idle(u32 /*unused*/) {}
#endif
