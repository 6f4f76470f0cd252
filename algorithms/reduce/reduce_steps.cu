// The textbook's steps to a fast reduction, CUDA C++. Parallel texts: reduce_steps.cl, reduce_host.hpp.
//
// Every kernel but the first reduces what one group loads to one sum; the host side launches it again on the sums
// until one is left. Traffic: every element once, plus the sums' levels.
// global_step a step of the tree in global memory; log n launches and 3 n element accesses in all.
// interleaved neighbours meet, the lanes at work lie ever further apart (divergent).
// sequential  halves meet, the lanes at work are the first ones.
// first_add   every lane adds two elements as it loads.
// shuffle     as first_add, then within warps through registers.
// Tunables    GROUP lanes a group.
// Source      M. Harris, Optimizing Parallel Reduction in CUDA, 2007; J. Luitjens, Faster Parallel Reductions on
//             Kepler, 2014 (shuffle).
//
// T: element type; apply(op, x, y): the operator.

extern "C" __global__ void __launch_bounds__(GROUP) reduce_global_step(T* x, u64 n, u64 half, const Op op) {
    const u64 i = u64(blockIdx.x) * GROUP + threadIdx.x;
    if (i + half < n) x[i] = apply(op, x[i], x[i + half]);
}

extern "C" __global__ void __launch_bounds__(GROUP)
    reduce_interleaved(const T* in, T* sums, u64 n, T identity, const Op op) {
    __shared__ T shared[GROUP];
    const u32 lane = threadIdx.x;
    const u64 i = u64(blockIdx.x) * GROUP + lane;
    shared[lane] = i < n ? in[i] : identity;
    for (u32 distance = 1; distance < GROUP; distance *= 2) {
        __syncthreads();
        if (lane % (2 * distance) == 0) shared[lane] = apply(op, shared[lane], shared[lane + distance]);
    }
    if (lane == 0) sums[blockIdx.x] = shared[0];
}

// Halves meet; valid in lane 0.
__device__ __forceinline__ T meet_halves(T* shared, u32 lane, const Op op) {
    for (u32 distance = GROUP / 2; distance > 0; distance /= 2) {
        __syncthreads();
        if (lane < distance) shared[lane] = apply(op, shared[lane], shared[lane + distance]);
    }
    return shared[lane];
}

extern "C" __global__ void __launch_bounds__(GROUP)
    reduce_sequential(const T* in, T* sums, u64 n, T identity, const Op op) {
    __shared__ T shared[GROUP];
    const u32 lane = threadIdx.x;
    const u64 i = u64(blockIdx.x) * GROUP + lane;
    shared[lane] = i < n ? in[i] : identity;
    const T sum = meet_halves(shared, lane, op);
    if (lane == 0) sums[blockIdx.x] = sum;
}

// Two elements, a group's length apart.
__device__ __forceinline__ T add_two(const T* in, u64 n, u32 lane, T identity, const Op op) {
    const u64 i = u64(blockIdx.x) * GROUP * 2 + lane, j = i + GROUP;
    return apply(op, i < n ? in[i] : identity, j < n ? in[j] : identity);
}

extern "C" __global__ void __launch_bounds__(GROUP)
    reduce_first_add(const T* in, T* sums, u64 n, T identity, const Op op) {
    __shared__ T shared[GROUP];
    const u32 lane = threadIdx.x;
    shared[lane] = add_two(in, n, lane, identity, op);
    const T sum = meet_halves(shared, lane, op);
    if (lane == 0) sums[blockIdx.x] = sum;
}

// Valid in lane 0 of the warp.
__device__ __forceinline__ T reduce_warp(T sum, const Op op) {
#pragma unroll
    for (u32 distance = warp_width / 2; distance > 0; distance /= 2) sum = apply(op, sum, shuffle_down(sum, distance));
    return sum;
}

extern "C" __global__ void __launch_bounds__(GROUP)
    reduce_shuffle(const T* in, T* sums, u64 n, T identity, const Op op) {
    __shared__ T shared[GROUP / warp_width];
    const u32 lane = threadIdx.x;
    const T warp_sum = reduce_warp(add_two(in, n, lane, identity, op), op);
    if (lane % warp_width == 0) shared[lane / warp_width] = warp_sum;
    __syncthreads();
    if (lane >= warp_width) return;
    const T sum = reduce_warp(lane < GROUP / warp_width ? shared[lane] : identity, op);
    if (lane == 0) sums[blockIdx.x] = sum;
}
