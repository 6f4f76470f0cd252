// Histogram of more bins than local memory holds, `sorted`, OpenCL C. Parallel sources: histogram_sorted.cu,
// histogram_host.hpp.
//
// Algorithm  ids: every sample's bin; these are sorted by their coarse bin, 2^shift bins each, by Concord's radix sort of
//            a range of bits; positions: where each coarse bin begins; segments: a group takes a segment of the sorted
//            ids, counts those of one coarse bin after another in local memory, and adds the counts to the counters.
// Traffic    every sample once; 4 bytes an id written, sorted (sort.hpp) and read; and the counters of a coarse bin are
//            added to once for each segment that meets it.
// Tunables   GROUP work-items a group; shift and the segments' length: histogram_run.cpp.
// Source     textbook.
//
// T: type of the samples; apply(op, x): the bin of a sample, N or more if it is not counted; BIN: the unsigned type of
// bins; WORDS: of 32 bits in a count.

#if defined(T)

// none: the id of a sample that is not counted; it is in a coarse bin past all others.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void histogram_ids(__global const T* in, ulong in_at, __global u32* ids, ulong ids_at, u64 n, u64 bins, u32 none,
                   const Op op) {
    const u64 i = get_group_id(0) * (u64)GROUP + get_local_id(0);
    if (i >= n) return;
    const BIN bin = (BIN)apply(op, in[in_at + i]);
    ids[ids_at + i] = bin < bins ? (u32)bin : none;
}

#else

// A work-item a coarse bin, and one for their end: the first id that is in it or past it.
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
            if (table[b] == 0) continue;
            // Of 64 bits there are no atomics in OpenCL C 1.2: the lower word carries.
            volatile __global u32* counter = out + out_at + (((u64)c << shift) + b) * WORDS;
            const u32 old = atomic_add(counter, table[b]);
            if (WORDS == 2 && old + table[b] < old) atomic_inc(counter + 1);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

#endif
