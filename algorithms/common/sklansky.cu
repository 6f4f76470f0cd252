// Sklansky's network, CUDA C++: the scan of 16 values that defines the order of Concord's scans. Parallel source:
// sklansky.cl.
//
// Algorithm  Joins halves of 2, 4, 8 and 16 values: combines the last value of the left half with all values of the
//            right half. Four steps, 32 operations.
// Passes     none of its own: works in registers. No global memory traffic.
// Tunables   none.
// Source     J. Sklansky, Conditional-sum Addition Logic, 1960.

#include "common.cu"

// Inclusive scan over WIDTH neighbouring lanes with N values each, in the order of the lanes. combine(earlier,
// later). N and WIDTH are powers of two. All lanes of the warp call it.
template <u32 WIDTH, int N, class E, class F>
__device__ __forceinline__ void scan_network(E (&value)[N], const F combine) {
    const u32 lane = threadIdx.x % warp_width;
#pragma unroll
    for (int half = 1; half < N; half *= 2) {
#pragma unroll
        for (int j = 0; j < N; ++j) {
            if (j & half) value[j] = combine(value[(j & ~(half - 1)) - 1], value[j]);
        }
    }
#pragma unroll
    for (u32 half = 1; half < WIDTH; half *= 2) {
        const E left = shuffle_from(value[N - 1], (lane & ~(half - 1)) - 1);
        if (lane & half) {
#pragma unroll
            for (int j = 0; j < N; ++j) value[j] = combine(left, value[j]);
        }
    }
}

// Inclusive scan of one value per lane over 16 neighbouring lanes.
template <class E, class F>
__device__ __forceinline__ E scan_sixteen(E value, const F combine) {
    E one[1] = {value};
    scan_network<16>(one, combine);
    return one[0];
}
