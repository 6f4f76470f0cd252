// Matmul, sums over the parts of k, CUDA C++. Parallel sources: matmul_parts.cl, matmul_parts.hpp.
//
// Algorithm  An element of C has the results of `parts` parts, each in its own plane. They are added in pairs, level by
//            level. LANES neighbouring runs of RUN results, a power of two, belong to an element; a thread adds the
//            results of one run, then the sums of the runs are added in shared memory. Results past the last are -0,
//            which leaves every sum unchanged.
// Passes     one; every result of a part is read once, every element of C is written once.
// Tunables   GROUP threads, LANES per element, RUN.
// Source     N. Higham, The Accuracy of Floating Point Summation, 1993 (pairwise summation).
//
// T: element type.

#include "matmul_tile.cu"

constexpr u32 elements = GROUP / LANES;  // of C per group

// from: planes of m x n elements, all parts of a product together.
extern "C" __global__ void __launch_bounds__(GROUP)
    matmul_sum_parts(const T* from, T* c, const Product p, u32 parts, u64 all) {
    __shared__ T sums[GROUP];
    const u32 lane = threadIdx.x / elements, first = lane * RUN;
    const u64 at = u64(blockIdx.x) * elements + threadIdx.x % elements, plane = p.m * p.n;
    const u64 product = at / plane, in_plane = at - product * plane;
    from += product * parts * plane + in_plane;
    T t[RUN];
#pragma unroll
    for (u32 r = 0; r < RUN; ++r) t[r] = at < all && first + r < parts ? from[(first + r) * plane] : T(-0.0);
#pragma unroll
    for (u32 w = 1; w < RUN; w *= 2) {
#pragma unroll
        for (u32 r = 0; r < RUN; r += 2 * w) t[r] += t[r + w];
    }
    sums[threadIdx.x] = t[0];
    for (u32 w = 1; w < LANES; w *= 2) {
        __syncthreads();
        if (lane % (2 * w) == 0) sums[threadIdx.x] += sums[threadIdx.x + w * elements];
    }
    if (lane > 0 || at >= all) return;
    finish(p, sums[threadIdx.x], c + product * p.c_stride + in_plane / p.n * p.c_pitch + in_plane % p.n);
}
