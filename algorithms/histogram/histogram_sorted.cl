// Histogram of more bins than local memory holds, `sorted`, OpenCL C. Parallel sources: histogram_sorted.cu,
// histogram_count.hpp.
//
// Algorithm  ids: the bin of every sample (histogram_ids.cl). Concord's radix sort orders ids by coarse bin, which is
//            2^shift bins. positions: the first id of each coarse bin. segments: a group takes a segment of the
//            sorted ids, counts one coarse bin after another in local memory and adds the counts to the counters.
// Passes     three launches and those of the sort
// Traffic    one read per sample; 4 bytes per id are written, sorted (see sort.hpp) and read; each segment adds the
//            counters of its coarse bins
// Tunables   GROUP work-items per group; shift and the length of segments: histogram_run.cpp
// Source     textbook
//
// WORDS: 32-bit words per count.

#include "histogram_counter.cl"

// One work-item per coarse bin, and one for the end of the last: finds the first id in or past its coarse bin.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void histogram_positions(__global const u32* ids, ulong ids_at, __global u64* positions, ulong positions_at, u64 n,
                         u32 coarse, u32 shift) {
    const u32 c = (u32)get_group_id(0) * GROUP + get_local_id(0);
    if (c > coarse) return;
    u64 low = 0, high = n;
    while (low < high) {
        const u64 middle = low + (high - low) / 2;
        if (ids[ids_at + middle] >> shift < c) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    positions[positions_at + c] = low;
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void histogram_segments(__global const u32* ids, ulong ids_at, __global const u64* positions, ulong positions_at,
                        volatile __global u32* out, ulong out_at, u64 n, u64 bins, u64 segment, u32 coarse, u32 shift,
                        u32 words, __local u32* table) {
    const u32 local_id = get_local_id(0), fine = 1u << shift;
    const u64 begin = get_group_id(0) * segment, end = min(n, begin + segment);
    ids += ids_at;
    positions += positions_at;
    for (u32 c = ids[begin] >> shift; c < coarse; ++c) {
        const u64 first = max(begin, positions[c]), last = min(end, positions[c + 1]);
        if (first >= end) break;
        if (first >= last) continue;
        for (u32 b = local_id; b < fine; b += GROUP) table[b] = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (u64 i = first + local_id; i < last; i += GROUP) atomic_inc(table + (ids[i] & (fine - 1)));
        barrier(CLK_LOCAL_MEM_FENCE);
        for (u32 b = local_id; b < fine; b += GROUP) {
            if (table[b] != 0) add_to(out + out_at, ((u64)c << shift) + b, table[b]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
