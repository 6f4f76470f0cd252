// The last launch of histograms with counters of 16 bits, OpenCL C. Parallel sources: histogram_saturate.cu,
// histogram_count.hpp.
//
// Algorithm  Turns counts of 32 or 64 bits into counters of 16 bits that saturate at 65535.
// Passes     one launch
// Traffic    one read and one write per counter
// Tunables   GROUP work-items per group
// Source     textbook
//
// WORDS: 32-bit words per count.

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void histogram_saturate(__global const u32* counts, ulong counts_at, __global u16* out, ulong out_at, u64 bins,
                        u32 words) {
    const u64 i = get_global_id(0);
    if (i >= bins) return;
    __global const u32* count = counts + counts_at + i * WORDS;
    bool full = count[0] > 65535;
#if WORDS == 2
    full = full || count[1] != 0;
#endif
    out[out_at + i] = full ? (u16)65535 : (u16)count[0];
}
