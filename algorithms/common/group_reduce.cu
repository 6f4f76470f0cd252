// Reductions within a warp and a group, CUDA C++. Parallel source: group_reduce.cl.
//
// Algorithm  A tree over the lanes of a warp, through registers: lane l combines its value with that of lane l + 16,
//            then l + 8, ..., l + 1. Sums of a group: one thread adds the warps' sums from shared memory in order.
// Passes     log2(32) shuffles. No global memory traffic.
// Tunables   none.
// Source     M. Harris, Optimizing Parallel Reduction in CUDA, 2007; J. Luitjens, Faster Parallel Reductions on
//            Kepler, 2014.

#include "common.cu"

// Reduces each of a thread's N values with those of the warp's other lanes. The result is valid in lane 0.
template <int N, class E, class F>
__device__ __forceinline__ void reduce_warp(E (&value)[N], const F combine) {
#pragma unroll
    for (u32 distance = warp_width / 2; distance > 0; distance /= 2) {
#pragma unroll
        for (int j = 0; j < N; ++j) value[j] = combine(value[j], shuffle_down(value[j], distance));
    }
}

// Returns the sum of the values of a group of WARPS warps, valid in thread 0. sums: shared memory for WARPS values.
// All threads of the group call it. Two calls with the same `sums` need a barrier between them.
template <u32 WARPS, class E>
__device__ __forceinline__ E sum_group(E value, E* sums) {
    E one[1] = {value};
    reduce_warp(one, [](E x, E y) { return x + y; });
    if (threadIdx.x % warp_width == 0) sums[threadIdx.x / warp_width] = one[0];
    __syncthreads();
    E sum = 0;
    if (threadIdx.x == 0) {
        for (u32 w = 0; w < WARPS; ++w) sum += sums[w];
    }
    return sum;
}
