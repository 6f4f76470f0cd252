// The second launch of `private_bins`, OpenCL C. Parallel source: histogram_count.hpp.
//
// Algorithm  A group sums MERGE_TILE columns of the groups' tables.
// Passes     one launch
// Traffic    one read per row and bin, one write per bin
// Tunables   none
// Source     textbook
//
// COUNTER: type of the counters.

#define MERGE_TILE 1024  // bins per group

// Sums the rows and writes the counters. Counters of 16 bits saturate at 65535.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void histogram_merge(__global const u32* rows, ulong rows_at, __global COUNTER* out, ulong out_at, u64 bins,
                     u64 row_length, u64 count, u32 size) {
    u64 sum[MERGE_TILE];
    const u64 first = get_group_id(0) * MERGE_TILE, n = min((u64)MERGE_TILE, bins - first);
    for (u64 i = 0; i < n; ++i) sum[i] = 0;
    for (u64 r = 0; r < count; ++r) {
        __global const u32* row = rows + rows_at + r * row_length + first;
        for (u64 i = 0; i < n; ++i) sum[i] += row[i];
    }
    for (u64 i = 0; i < n; ++i)
        out[out_at + first + i] = (COUNTER)(sizeof(COUNTER) == 2 && sum[i] > 65535 ? 65535 : sum[i]);
}
