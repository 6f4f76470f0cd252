// Histogram, `global_atomic`, CUDA C++. Parallel sources: histogram_global.cl, histogram_count.hpp.
//
// Algorithm  Every sample adds to its counter in global memory, one sample per thread at a time.
// Passes     one launch
// Traffic    one read and one atomic addition per sample
// Tunables   GROUP threads per group
// Source     textbook
//
// T: type of the samples; apply(op, x): bin of a sample, at least N if it is not counted; BIN: unsigned type of
// bins; WORDS: 32-bit words per count.

#include "histogram_counter.cu"

extern "C" __global__ void __launch_bounds__(GROUP)
    histogram_global(const T* in, Counter* out, u64 n, u64 bins, u32 /*words*/, const Op op) {
    for (u64 i = u64(blockIdx.x) * GROUP + threadIdx.x; i < n; i += u64(gridDim.x) * GROUP) {
        const BIN bin = BIN(apply(op, in[i]));
        if (bin < bins) atomicAdd(out + bin, Counter(1));
    }
}
