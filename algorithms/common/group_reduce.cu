// Reductions within a warp and a group, CUDA C++. Parallel source: group_reduce.cl.
//
// Algorithm  A tree over the lanes of a warp, through registers: lanes l and l + 16 meet, then l and l + 8, ..., l and
//            l + 1. Sums of a group: the warps' sums meet in shared memory, where one thread adds them in order.
// Source     M. Harris, Optimizing Parallel Reduction in CUDA, 2007; J. Luitjens, Faster Parallel Reductions on Kepler,
//            2014.

// Each of a thread's N values with those of the warp's other lanes; valid in lane 0.
template <int N, class E, class F>
__device__ __forceinline__ void reduce_warp(E (&value)[N], const F combine) {
#pragma unroll
    for (u32 distance = warp_width / 2; distance > 0; distance /= 2) {
#pragma unroll
        for (int j = 0; j < N; ++j) value[j] = combine(value[j], shuffle_down(value[j], distance));
    }
}

// The sum of the values of a group of WARPS warps; valid in thread 0. sums: shared memory for WARPS values. All threads of
// the group call it. A barrier has to lie between two calls with the same sums.
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
