// Textbook variants of reduce, CUDA C++. Parallel source: reduce_steps.cl.
//
// Algorithm   A tree. Except in global_step, a group reduces the elements that it loads to one sum. The host side
//             launches the kernel again on the sums until one is left.
// Passes      log n / log GROUP launches. Traffic: reads every element once, plus the levels of sums.
// global_step A level of the tree in global memory: log n launches, 3 n element accesses in total.
// interleaved Combines neighbours. The active threads lie ever further apart (divergent).
// sequential  Combines the upper half with the lower half. The first threads are active.
// first_add   Every thread adds two elements as it loads them.
// shuffle     As first_add, then through registers within warps.
// Tunables    GROUP: threads per group.
// Source      M. Harris, Optimizing Parallel Reduction in CUDA, 2007; J. Luitjens, Faster Parallel Reductions on
//             Kepler, 2014 (shuffle).
//
// T: element type; apply(op, x, y): the operator.

#include "common.cu"

extern "C" __global__ void __launch_bounds__(GROUP) reduce_global_step(T* x, u64 n, u64 half, const Op op) {
    const u64 i = u64(blockIdx.x) * GROUP + threadIdx.x;
    if (i + half < n) x[i] = canonical(apply(op, x[i], x[i + half]));
}

extern "C" __global__ void __launch_bounds__(GROUP)
    reduce_interleaved(const T* in, T* sums, u64 n, T identity, const Op op) {
    __shared__ T shared[GROUP];
    const u32 thread = threadIdx.x;
    const u64 i = u64(blockIdx.x) * GROUP + thread;
    shared[thread] = i < n ? in[i] : identity;
    for (u32 distance = 1; distance < GROUP; distance *= 2) {
        __syncthreads();
        if (thread % (2 * distance) == 0) shared[thread] = apply(op, shared[thread], shared[thread + distance]);
    }
    if (thread == 0) sums[blockIdx.x] = canonical(shared[0]);
}

// Combines the upper half with the lower half. The result is valid in thread 0.
__device__ __forceinline__ T meet_halves(T* shared, u32 thread, const Op op) {
    for (u32 distance = GROUP / 2; distance > 0; distance /= 2) {
        __syncthreads();
        if (thread < distance) shared[thread] = apply(op, shared[thread], shared[thread + distance]);
    }
    return shared[thread];
}

extern "C" __global__ void __launch_bounds__(GROUP)
    reduce_sequential(const T* in, T* sums, u64 n, T identity, const Op op) {
    __shared__ T shared[GROUP];
    const u32 thread = threadIdx.x;
    const u64 i = u64(blockIdx.x) * GROUP + thread;
    shared[thread] = i < n ? in[i] : identity;
    const T sum = meet_halves(shared, thread, op);
    if (thread == 0) sums[blockIdx.x] = canonical(sum);
}

// Combines two elements, one group size apart.
__device__ __forceinline__ T add_two(const T* in, u64 n, u32 thread, T identity, const Op op) {
    const u64 i = u64(blockIdx.x) * GROUP * 2 + thread, j = i + GROUP;
    return apply(op, i < n ? in[i] : identity, j < n ? in[j] : identity);
}

extern "C" __global__ void __launch_bounds__(GROUP)
    reduce_first_add(const T* in, T* sums, u64 n, T identity, const Op op) {
    __shared__ T shared[GROUP];
    const u32 thread = threadIdx.x;
    shared[thread] = add_two(in, n, thread, identity, op);
    const T sum = meet_halves(shared, thread, op);
    if (thread == 0) sums[blockIdx.x] = canonical(sum);
}

// The result is valid in lane 0 of the warp.
__device__ __forceinline__ T reduce_warp(T sum, const Op op) {
#pragma unroll
    for (u32 distance = warp_width / 2; distance > 0; distance /= 2) sum = apply(op, sum, shuffle_down(sum, distance));
    return sum;
}

extern "C" __global__ void __launch_bounds__(GROUP)
    reduce_shuffle(const T* in, T* sums, u64 n, T identity, const Op op) {
    __shared__ T shared[GROUP / warp_width];
    const u32 thread = threadIdx.x;
    const T warp_sum = reduce_warp(add_two(in, n, thread, identity, op), op);
    if (thread % warp_width == 0) shared[thread / warp_width] = warp_sum;
    __syncthreads();
    if (thread >= warp_width) return;
    const T sum = reduce_warp(thread < GROUP / warp_width ? shared[thread] : identity, op);
    if (thread == 0) sums[blockIdx.x] = canonical(sum);
}
