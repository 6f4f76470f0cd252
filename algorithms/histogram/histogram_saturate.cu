// The last launch of histograms with counters of 16 bits, CUDA C++. Parallel sources: histogram_saturate.cl,
// histogram_count.hpp.
//
// Algorithm  Turns counts of 32 or 64 bits into counters of 16 bits that saturate at 65535.
// Passes     one launch
// Traffic    one read and one write per counter
// Tunables   GROUP threads per group
// Source     textbook
//
// WORDS: 32-bit words per count.

#include "histogram_counter.cu"

extern "C" __global__ void __launch_bounds__(GROUP)
    histogram_saturate(const Counter* counts, u16* out, u64 bins, u32 /*words*/) {
    const u64 i = u64(blockIdx.x) * GROUP + threadIdx.x;
    if (i < bins) out[i] = u16(counts[i] < 65535 ? counts[i] : 65535);
}
