// The bins of all samples, for `sorted` (histogram_sorted.cl), OpenCL C. Parallel sources: histogram_ids.cu,
// histogram_count.hpp.
//
// Passes     one launch
// Traffic    one read and 4 bytes written per sample
// Tunables   GROUP work-items per group
// Source     textbook
//
// T: type of the samples; apply(op, x): bin of a sample, at least N if it is not counted; BIN: unsigned type of
// bins.

// none: the id of samples that are not counted. Its coarse bin lies past all others.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void histogram_ids(__global const T* in, ulong in_at, __global u32* ids, ulong ids_at, u64 n, u64 bins, u32 none,
                   const Op op) {
    const u64 i = get_group_id(0) * (u64)GROUP + get_local_id(0);
    if (i >= n) return;
    const BIN bin = (BIN)apply(op, in[in_at + i]);
    ids[ids_at + i] = bin < bins ? (u32)bin : none;
}
