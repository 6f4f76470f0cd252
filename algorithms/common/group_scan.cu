// Scans of sums within a warp and a group, CUDA C++. Parallel source: group_scan.cl.
//
// Algorithm  Within a warp, Kogge and Stone's network: log2(32) steps of a shuffle and an addition. Then the warps' totals
//            meet in shared memory, where each thread adds up those of the warps before its own.
// Order      not fixed by the count alone: for integers.
// Source     P. M. Kogge, H. S. Stone, A Parallel Algorithm for the Efficient Solution of a General Class of Recurrence
//            Equations, 1973.

struct Plus {
    template <class E>
    __device__ __forceinline__ E operator()(E x, E y) const { return x + y; }
};

// Inclusive sums of a warp's values.
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

// The two halves of a scan over warps, with a barrier between them: each warp stores its total, then each thread adds the
// totals of earlier warps to `before`, and all WARPS totals to `all`. through: the thread's inclusive sum within its warp.
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

// A thread's exclusive sum, and the sum of all values.
template <class E>
struct Scanned {
    E before, all;
};

// Scans the values of the group's first WARPS warps. totals: shared memory for WARPS values. All threads of the group call it;
// those of later warps get no sums. A barrier has to lie between two calls with the same totals.
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
