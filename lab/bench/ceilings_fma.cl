// Attainable rate of fused multiply-adds, OpenCL C. Parallel sources: ceilings_fma.cu, ceilings_host.hpp.
//
// Algorithm   CHAINS independent chains of fused multiply-adds per work-item, UNROLL steps per iteration.
// Passes      one
// Traffic     none
// Tunables    GROUP: work-items per group, CHAINS, UNROLL; T: f32 or f64; V: T or a vector of T that a work-item
//             processes at once
// Source      own

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void fma_chains(__global T* out, ulong out_at, T a, T b, u32 steps) {
    const V va = (V)(a), vb = (V)(b);
    V x[CHAINS];
#pragma unroll
    for (int k = 0; k < CHAINS; ++k) x[k] = (V)((T)(get_local_id(0) + k));
    for (u32 s = 0; s < steps; s += UNROLL) {
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) {
#pragma unroll
            for (int k = 0; k < CHAINS; ++k) x[k] = fma(x[k], va, vb);
        }
    }
    union {
        V all;
        T item[sizeof(V) / sizeof(T)];
    } both;
    both.all = (V)(0);
#pragma unroll
    for (int k = 0; k < CHAINS; ++k) both.all += x[k];
    T sum = 0;
    for (int k = 0; k < (int)(sizeof(V) / sizeof(T)); ++k) sum += both.item[k];
    if (sum == a) out[out_at] = sum;
}
