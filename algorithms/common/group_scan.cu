// Scans of sums within a warp and a group, CUDA C++. Parallel source: group_scan.cl.
//
// Algorithm  Within a warp the Kogge-Stone network: log2(32) steps of a shuffle and an addition. Then each thread
//            adds the totals of earlier warps from shared memory.
// Order      For integers only: the order of additions depends on the number of warps.
// Passes     log2(32) shuffles, one barrier. No global memory traffic.
// Tunables   none.
// Source     P. M. Kogge, H. S. Stone, A Parallel Algorithm for the Efficient Solution of a General Class of
//            Recurrence Equations, 1973.

#include "common.cu"

// Returns the inclusive sum within the warp.
template <class E>
__device__ __forceinline__ E scan_warp(E value) {
    const u32 lane = threadIdx.x % warp_width;
#pragma unroll
    for (u32 distance = 1; distance < warp_width; distance *= 2) {
        const E other = shuffle_up(value, distance);
        if (lane >= distance) value += other;
    }
    return value;
}

// The two halves of a scan over warps, which need a barrier between them. First each warp stores its total. Then each
// thread adds the totals of earlier warps to `before` and all WARPS totals to `all`. through: the inclusive sum
// within the warp.
template <class E>
__device__ __forceinline__ void store_warp_total(E through, E* totals) {
    if (threadIdx.x % warp_width == warp_width - 1) totals[threadIdx.x / warp_width] = through;
}
template <u32 WARPS, class E>
__device__ __forceinline__ void add_warp_totals(const E* totals, E& before, E& all) {
    const u32 warp = threadIdx.x / warp_width;
#pragma unroll
    for (u32 w = 0; w < WARPS; ++w) {
        const E other = totals[w];
        if (w < warp) before += other;
        all += other;
    }
}

// The exclusive sum of a thread, and the sum of all values.
template <class E>
struct Scanned {
    E before, all;
};

// Scans the values of the group's first WARPS warps. totals: shared memory for WARPS values. All threads of the group
// call it. Threads of later warps receive no sums. Two calls with the same `totals` need a barrier between them.
template <u32 WARPS, class E>
__device__ __forceinline__ Scanned<E> scan_group(E value, E* totals) {
    const bool takes_part = threadIdx.x < WARPS * warp_width;
    E through = value;
    if (takes_part) {
        through = scan_warp(value);
        store_warp_total(through, totals);
    }
    __syncthreads();
    Scanned<E> result = {through - value, 0};
    if (takes_part) add_warp_totals<WARPS>(totals, result.before, result.all);
    return result;
}

// The sum of the values of a group of WARPS warps. totals: as above. All threads of the group call it.
template <u32 WARPS, class E>
__device__ __forceinline__ E sum_group(E value, E* totals) {
#pragma unroll
    for (u32 distance = warp_width / 2; distance > 0; distance /= 2) value += shuffle_down(value, distance);
    if (threadIdx.x % warp_width == 0) totals[threadIdx.x / warp_width] = value;
    __syncthreads();
    E sum = 0;
#pragma unroll
    for (u32 w = 0; w < WARPS; ++w) sum += totals[w];
    return sum;
}

#define SCAN_ROOM (GROUP / 32)

// Defines two functions for values of type E. All threads of the group call them. sums: shared memory for SCAN_ROOM
// values. NAME_total(value, sums, all) returns the inclusive sum up to this thread and sets *all to the sum of all
// values. NAME_sum(value, sums) returns the sum of all values. Before NAME_sum, `sums` is not in use.
#define SCAN_GROUP(NAME, E)                                      \
    INLINED E NAME##_total(E value, E* sums, E* all) {           \
        E through = scan_warp(value);                            \
        __syncthreads();                                         \
        store_warp_total(through, sums);                         \
        __syncthreads();                                         \
        *all = 0;                                                \
        add_warp_totals<SCAN_ROOM>(sums, through, *all);         \
        return through;                                          \
    }                                                            \
    INLINED E NAME##_sum(E value, E* sums) { return sum_group<SCAN_ROOM>(value, sums); }
