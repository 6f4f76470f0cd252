// Histogram of more bins than local memory holds, `sorted`, CUDA C++. Parallel sources: histogram_sorted.cl,
// histogram_count.hpp.
//
// Algorithm  ids: the bin of every sample (histogram_ids.cu). Concord's radix sort orders ids by coarse bin, which is
//            2^shift bins. positions: the first id of each coarse bin. segments: a group takes a segment of the
//            sorted ids, counts one coarse bin after another in shared memory and adds the counts to the counters.
// Passes     three launches and those of the sort
// Traffic    one read per sample; 4 bytes per id are written, sorted (see sort.hpp) and read; each segment adds the
//            counters of its coarse bins
// Tunables   GROUP threads per group; shift and the length of segments: histogram_run.cpp
// Source     textbook
//
// WORDS: 32-bit words per count.

#include "histogram_counter.cu"

// One thread per coarse bin, and one for the end of the last: finds the first id in or past its coarse bin.
extern "C" __global__ void __launch_bounds__(GROUP)
    histogram_positions(const u32* ids, u64* positions, u64 n, u32 coarse, u32 shift) {
    const u32 c = blockIdx.x * GROUP + threadIdx.x;
    if (c > coarse) return;
    u64 low = 0, high = n;
    while (low < high) {
        const u64 middle = low + (high - low) / 2;
        if (ids[middle] >> shift < c) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    positions[c] = low;
}

extern __shared__ u32 table[];

extern "C" __global__ void __launch_bounds__(GROUP)
    histogram_segments(const u32* ids, const u64* positions, Counter* out, u64 n, u64 bins, u64 segment, u32 coarse,
                       u32 shift, u32 /*words*/) {
    const u32 thread = threadIdx.x, fine = 1u << shift;
    const u64 begin = blockIdx.x * segment, end = min(n, begin + segment);
    for (u32 c = ids[begin] >> shift; c < coarse; ++c) {
        const u64 first = max(begin, positions[c]), last = min(end, positions[c + 1]);
        if (first >= end) break;
        if (first >= last) continue;
        for (u32 b = thread; b < fine; b += GROUP) table[b] = 0;
        __syncthreads();
        for (u64 i = first + thread; i < last; i += GROUP) atomicAdd(table + (ids[i] & (fine - 1)), 1u);
        __syncthreads();
        for (u32 b = thread; b < fine; b += GROUP) {
            if (table[b] != 0) atomicAdd(out + ((u64(c) << shift) + b), Counter(table[b]));
        }
        __syncthreads();
    }
}
