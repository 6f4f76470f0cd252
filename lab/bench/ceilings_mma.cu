// Attainable rate of tensor cores for f64, CUDA C++. Parallel source: ceilings_mma.cl.
//
// Algorithm   MMA_CHAINS independent chains of products of f64 blocks, 16 x 16 by 16 x 8, per warp.
// Passes      one
// Traffic     none
// Tunables    GROUP: threads per group, MMA_CHAINS
// Source      own

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
