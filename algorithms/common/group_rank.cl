// Ranks of flags within a group, OpenCL C. Parallel source: group_rank.cu, which also ranks digits.
//
// Algorithm  flags: a work-item has rows of flags, one bit each. The rank of a row is the number of set flags in the
//            same row of earlier work-items. One 64-bit word holds the counts of four rows, so that one scan ranks
//            four rows.
// Passes     one scan within the group. No global memory traffic.
// Tunables   none.
// Source     M. Billeter, O. Olsson, U. Assarsson, Efficient Stream Compaction on Wide SIMD Many-Core Architectures,
//            2009.

SCAN_GROUP(scan_group, u64)

// Counts per row, 16 bits each: set flags of earlier work-items, and of all work-items.
typedef struct {
    u64 before, all;
} RowRanks;

INLINED u32 count_of_row(u64 counts, u32 row) { return (u32)(counts >> (16 * row)) & 0xffff; }

// Ranks at most four rows of flags. sums: local memory for 2 * GROUP values. All work-items of the group call it.
INLINED RowRanks rank_flags(const u32* flags, u32 rows, __local u64* sums) {
    u64 mine = 0;
#pragma unroll
    for (u32 r = 0; r < rows; ++r) mine |= (u64)popcount(flags[r]) << (16 * r);
    RowRanks ranks;
    ranks.before = scan_group_total(mine, sums, &ranks.all) - mine;
    return ranks;
}
