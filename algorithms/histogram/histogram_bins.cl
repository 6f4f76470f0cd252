// Histogram for CPUs, `private_bins`, OpenCL C. Parallel source: histogram_count.hpp.
//
// Algorithm  One work-item per group counts a contiguous share of the samples in its own tables. A second launch adds
//            the tables (histogram_merge.cl). Bins are computed for a block at a time, in vectors. A run of 16 equal
//            bins is counted in one step. Other samples use several sub-tables in turn, so that no counter is loaded
//            right after a store to it.
// Passes     one launch, and the merge
// Traffic    one read per sample, one row of counts per group
// Tunables   COPIES: sub-tables
// Source     textbook
//
// T: type of the samples; apply(op, x): bin of a sample, at least N if it is not counted; BIN: unsigned type of bins.
// HISTOGRAM_GUESS(x), if defined: the same in fewer operations, or 0xfffffffe.

#include "input"

#define BLOCK 256  // samples whose bins are computed before they are counted
#define RUN 16  // equal bins that are counted in one step

// Counts a block of bins in COPIES sub-tables of `stride` counters in turn.
static inline void count_block(const u32* bin, u32 n, __global u32* table, u64 stride) {
    u32 i = 0;
    for (; i + RUN <= n; i += RUN) {
        if (bin[i] == bin[i + RUN - 1]) {
            u32 differ = 0;
#pragma clang loop vectorize(enable) unroll(disable)
            for (u32 j = 0; j < RUN; ++j) differ |= bin[i + j] ^ bin[i];
            if (differ == 0) {
                table[bin[i]] += RUN;
                continue;
            }
        }
#pragma unroll
        for (u32 j = 0; j < RUN; ++j) ++table[j % COPIES * stride + bin[i + j]];
    }
    for (; i < n; ++i) ++table[bin[i]];
}

// rows: COPIES sub-tables of `stride` counters per group. The counter after the last bin's takes samples that are
// not counted. The first sub-table receives the sums.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void histogram_bins(INPUT(in), __global u32* rows, ulong rows_at, u64 n, u64 bins, u64 stride,
                    u32 copies, const Op op) {
    u32 bin[BLOCK];
    AT_INPUT(in);
    __global u32* table = rows + rows_at + get_group_id(0) * stride * COPIES;
    for (u64 i = 0; i < stride * COPIES; ++i) table[i] = 0;
    const u64 share = (n + get_num_groups(0) - 1) / get_num_groups(0);
    const u64 begin = min(n, get_group_id(0) * share), end = min(n, begin + share);
    const u32 none = (u32)bins;
    for (u64 first = begin; first < end; first += BLOCK) {
        const u32 count = (u32)min((u64)BLOCK, end - first);
        const Input x = input_from(in, first);
#ifdef HISTOGRAM_GUESS
        u32 unsure = 0;
#pragma clang loop vectorize(enable) unroll(disable)
        for (u32 i = 0; i < count; ++i) {
            const T sample = load_item(x, i);
            const u32 b = HISTOGRAM_GUESS(sample);
            unsure |= b == 0xfffffffeu ? 1 : 0;
            bin[i] = b < none ? b : none;
        }
        if (unsure != 0)
#endif
#pragma clang loop vectorize(enable) unroll(disable)
        for (u32 i = 0; i < count; ++i) {
            const BIN b = (BIN)apply(op, load_item(x, i));
            bin[i] = b < none ? (u32)b : none;
        }
        count_block(bin, count, table, stride);
    }
    for (u64 k = 1; k < COPIES; ++k) {
        for (u64 b = 0; b < bins; ++b) table[b] += table[k * stride + b];
    }
}
