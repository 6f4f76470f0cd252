// The bins of all samples, for `sorted` (histogram_sorted.cu), CUDA C++. Parallel sources: histogram_ids.cl,
// histogram_count.hpp.
//
// Passes     one launch
// Traffic    one read and 4 bytes written per sample
// Tunables   GROUP threads per group
// Source     textbook
//
// T: type of the samples; apply(op, x): bin of a sample, at least N if it is not counted; BIN: unsigned type of
// bins.

// none: the id of samples that are not counted. Its coarse bin lies past all others.
extern "C" __global__ void __launch_bounds__(GROUP)
    histogram_ids(const T* in, u32* ids, u64 n, u64 bins, u32 none, const Op op) {
    const u64 i = u64(blockIdx.x) * GROUP + threadIdx.x;
    if (i >= n) return;
    const BIN bin = BIN(apply(op, in[i]));
    ids[i] = bin < bins ? u32(bin) : none;
}
