// Histogram, `global_atomic`, OpenCL C. Parallel sources: histogram_global.cu, histogram_count.hpp.
//
// Algorithm  Every sample adds to its counter in global memory, one sample per work-item at a time.
// Passes     one launch
// Traffic    one read and one atomic addition per sample
// Tunables   GROUP work-items per group
// Source     textbook
//
// T: type of the samples; apply(op, x): bin of a sample, at least N if it is not counted; BIN: unsigned type of
// bins; WORDS: 32-bit words per count.

#include "histogram_counter.cl"

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void histogram_global(__global const T* in, ulong in_at, volatile __global u32* out, ulong out_at, u64 n, u64 bins,
                      u32 words, const Op op) {
    for (u64 i = get_global_id(0); i < n; i += get_global_size(0)) {
        const BIN bin = (BIN)apply(op, in[in_at + i]);
        if (bin < bins) add_to(out + out_at, bin, 1);
    }
}
