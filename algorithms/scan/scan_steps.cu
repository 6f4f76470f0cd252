// Textbook variants of scan, CUDA C++. Parallel source: scan_steps.cl.
//
// hillis_steele  log n launches over global memory: combines element i with element i - 1, i - 2, i - 4, ...
//                Traffic: 2 n log n elements; n log n operations.
// blelloch       Tree in global memory, one launch per level: up-sweep, then down-sweep, on a copy whose length is a
//                power of two. Traffic: about 8 n elements; 2 n operations.
//
// The other variants scan blocks within groups, then the blocks' sums by the same kernels. A last launch combines
// each block with its carry. Traffic: 4 n elements.
//
// kogge_stone    As hillis_steele, in shared memory; blocks of GROUP elements.
// brent_kung     An upward and a downward tree in shared memory, in place; blocks of 2 GROUP elements.
// recursive      As blelloch, in shared memory; blocks of 2 GROUP elements.
// conflict_free  As recursive, with one element of padding per 32, so that the accesses of a step hit different
//                banks.
// recursive_vector  Eight elements per thread in registers, then the threads' sums; blocks of 8 GROUP elements.
// Tunables       GROUP: threads per group.
// Source         W. D. Hillis, G. L. Steele, Data Parallel Algorithms, 1986; G. Blelloch, Prefix Sums and Their
//                Applications, 1990; P. M. Kogge, H. S. Stone, A Parallel Algorithm for the Efficient Solution of a
//                General Class of Recurrence Equations, 1973; R. P. Brent, H. T. Kung, A Regular Layout for Parallel
//                Adders, 1982; M. Harris, S. Sengupta, J. Owens, Parallel Prefix Sum (Scan) with CUDA, GPU Gems 3,
//                2007.
//
// T: element type; apply(op, x, y): the operator, x is the earlier element.

#include "common.cu"

// One pass of hillis_steele.
extern "C" __global__ void __launch_bounds__(GROUP) scan_step(const T* x, T* y, u64 n, u64 distance, const Op op) {
    const u64 i = u64(blockIdx.x) * GROUP + threadIdx.x;
    if (i < n) y[i] = canonical(i < distance ? x[i] : apply(op, x[i - distance], x[i]));
}

// Converts an inclusive scan to an exclusive one.
extern "C" __global__ void __launch_bounds__(GROUP) scan_shift(const T* x, T* out, u64 n, T identity, const Op op) {
    const u64 i = u64(blockIdx.x) * GROUP + threadIdx.x;
    if (i < n) out[i] = canonical(i == 0 ? identity : x[i - 1]);
}

// Converts an exclusive scan to an inclusive one.
extern "C" __global__ void __launch_bounds__(GROUP) scan_join(const T* x, const T* in, T* out, u64 n, const Op op) {
    const u64 i = u64(blockIdx.x) * GROUP + threadIdx.x;
    if (i < n) out[i] = canonical(apply(op, x[i], in[i]));
}

// One level of the up-sweep of blelloch: right nodes become sums. nodes: number of nodes of the level above.
extern "C" __global__ void __launch_bounds__(GROUP) scan_up_sweep(T* x, u64 nodes, u64 distance, const Op op) {
    const u64 k = u64(blockIdx.x) * GROUP + threadIdx.x;
    if (k >= nodes) return;
    const u64 right = (k + 1) * 2 * distance - 1;
    x[right] = apply(op, x[right - distance], x[right]);
}

// One level of the down-sweep: the left child receives the node's carry. The right child receives that carry combined
// with the left child's sum.
extern "C" __global__ void __launch_bounds__(GROUP) scan_down_sweep(T* x, u64 nodes, u64 distance, const Op op) {
    const u64 k = u64(blockIdx.x) * GROUP + threadIdx.x;
    if (k >= nodes) return;
    const u64 right = (k + 1) * 2 * distance - 1;
    const T before = x[right], sum = x[right - distance];
    x[right - distance] = canonical(before);
    x[right] = canonical(apply(op, before, sum));
}

// Combines every element with the carry of its block.
extern "C" __global__ void __launch_bounds__(GROUP) scan_offsets(T* out, const T* offsets, u64 n, u64 block, const Op op) {
    const u64 i = u64(blockIdx.x) * GROUP + threadIdx.x;
    if (i < n) out[i] = canonical(apply(op, offsets[i / block], out[i]));
}

// Inclusive scan of one value per thread, by hillis_steele in shared memory. All threads of the group call it.
__device__ __forceinline__ T scan_threads(T* shared, T value, const Op op) {
    const u32 thread = threadIdx.x;
    shared[thread] = value;
    for (u32 distance = 1; distance < GROUP; distance *= 2) {
        __syncthreads();
        const T left = shared[thread < distance ? thread : thread - distance];
        __syncthreads();
        if (thread >= distance) shared[thread] = value = apply(op, left, value);
    }
    __syncthreads();
    return value;
}

extern "C" __global__ void __launch_bounds__(GROUP)
    scan_kogge_stone(const T* in, T* out, T* sums, u64 n, u32 exclusive, T identity, const Op op) {
    __shared__ T shared[GROUP];
    const u32 thread = threadIdx.x;
    const u64 i = u64(blockIdx.x) * GROUP + thread;
    const T value = scan_threads(shared, i < n ? in[i] : identity, op);
    if (i < n) out[i] = canonical(!exclusive ? value : thread == 0 ? identity : shared[thread - 1]);
    if (thread == GROUP - 1) sums[blockIdx.x] = value;
}

extern "C" __global__ void __launch_bounds__(GROUP)
    scan_brent_kung(const T* in, T* out, T* sums, u64 n, u32 exclusive, T identity, const Op op) {
    __shared__ T shared[2 * GROUP];
    const u32 thread = threadIdx.x;
    const u64 first = u64(blockIdx.x) * 2 * GROUP;
    for (u32 i = thread; i < 2 * GROUP; i += GROUP) shared[i] = first + i < n ? in[first + i] : identity;
    for (u32 distance = 1; distance <= GROUP; distance *= 2) {
        __syncthreads();
        const u32 right = (thread + 1) * 2 * distance - 1;
        if (right < 2 * GROUP) shared[right] = apply(op, shared[right - distance], shared[right]);
    }
    for (u32 distance = GROUP / 2; distance > 0; distance /= 2) {
        __syncthreads();
        const u32 right = (thread + 1) * 2 * distance - 1 + distance;
        if (right < 2 * GROUP) shared[right] = apply(op, shared[right - distance], shared[right]);
    }
    __syncthreads();
    for (u32 i = thread; i < 2 * GROUP; i += GROUP) {
        if (first + i < n) out[first + i] = canonical(!exclusive ? shared[i] : i == 0 ? identity : shared[i - 1]);
    }
    if (thread == 0) sums[blockIdx.x] = shared[2 * GROUP - 1];
}

// recursive and conflict_free. PAD: elements of `shared` per element of padding. At 2 * GROUP the padding is unused.
template <u32 PAD>
__device__ __forceinline__ void scan_tree(const T* in, T* out, T* sums, u64 n, u32 exclusive, T identity, const Op op) {
    __shared__ T shared[2 * GROUP + 2 * GROUP / PAD];
    auto at = [&](u32 i) -> T& { return shared[i + i / PAD]; };
    const u32 thread = threadIdx.x, last = 2 * GROUP - 1;
    const u64 first = u64(blockIdx.x) * 2 * GROUP;
    for (u32 i = thread; i <= last; i += GROUP) at(i) = first + i < n ? in[first + i] : identity;
    for (u32 distance = 1; distance <= GROUP; distance *= 2) {
        __syncthreads();
        const u32 right = (thread + 1) * 2 * distance - 1;
        if (right <= last) at(right) = apply(op, at(right - distance), at(right));
    }
    if (thread == 0) {  // this thread has just written the root
        sums[blockIdx.x] = at(last);
        at(last) = identity;
    }
    for (u32 distance = GROUP; distance > 0; distance /= 2) {
        __syncthreads();
        const u32 right = (thread + 1) * 2 * distance - 1;
        if (right <= last) {
            const T before = at(right), sum = at(right - distance);
            at(right - distance) = before;
            at(right) = apply(op, before, sum);
        }
    }
    __syncthreads();
    for (u32 i = thread; i <= last; i += GROUP) {
        if (first + i < n) out[first + i] = canonical(exclusive ? at(i) : apply(op, at(i), in[first + i]));
    }
}

extern "C" __global__ void __launch_bounds__(GROUP)
    scan_recursive(const T* in, T* out, T* sums, u64 n, u32 exclusive, T identity, const Op op) {
    scan_tree<2 * GROUP>(in, out, sums, n, exclusive, identity, op);
}

extern "C" __global__ void __launch_bounds__(GROUP)
    scan_conflict_free(const T* in, T* out, T* sums, u64 n, u32 exclusive, T identity, const Op op) {
    scan_tree<warp_width>(in, out, sums, n, exclusive, identity, op);
}

extern "C" __global__ void __launch_bounds__(GROUP)
    scan_recursive_vector(const T* in, T* out, T* sums, u64 n, u32 exclusive, T identity, const Op op) {
    constexpr u32 width = 8;
    __shared__ T shared[GROUP];
    const u32 thread = threadIdx.x;
    const u64 first = (u64(blockIdx.x) * GROUP + thread) * width;
    T item[width];
    const bool whole = first + width <= n && reinterpret_cast<u64>(in) % sizeof(Pack<T, width>) == 0;
    if (whole) {
        const auto p = *reinterpret_cast<const Pack<T, width>*>(in + first);
#pragma unroll
        for (u32 j = 0; j < width; ++j) item[j] = p.item[j];
    } else {
#pragma unroll
        for (u32 j = 0; j < width; ++j) item[j] = first + j < n ? in[first + j] : identity;
    }
#pragma unroll
    for (u32 j = 1; j < width; ++j) item[j] = apply(op, item[j - 1], item[j]);
    const T sum = scan_threads(shared, item[width - 1], op);
    const T before = thread == 0 ? identity : shared[thread - 1];
#pragma unroll
    for (u32 j = width; j-- > 0;) {
        const T value = !exclusive ? apply(op, before, item[j]) : j == 0 ? before : apply(op, before, item[j - 1]);
        if (first + j < n) out[first + j] = canonical(value);
    }
    if (thread == GROUP - 1) sums[blockIdx.x] = sum;
}
