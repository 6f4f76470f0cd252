// Attainable rate of fused multiply-adds, CUDA C++. Parallel sources: ceilings_fma.cl, ceilings_host.hpp.
//
// Algorithm   CHAINS independent chains of fused multiply-adds per thread, UNROLL steps per iteration.
// Passes      one
// Traffic     none
// Tunables    GROUP: threads per group, CHAINS, UNROLL; T: f32 or f64
// Source      own

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
