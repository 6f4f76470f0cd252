// Copies runs of elements at a fixed stride, CUDA C++. Parallel sources: halo.cl, halo_host.hpp.
//
// Algorithm  A halo along y consists of the same rows of each plane: one run of elements per plane. One along x has a
//            short run per row. This kernel packs the runs into a contiguous message buffer, and unpacks them. A group
//            copies a piece of one run.
// Passes     one
// Traffic    every element is read once and written once
// Tunables   GROUP threads, EACH packs per thread, PACK elements per pack. PACK is 1 unless all runs begin and end at
//            a multiple of a larger pack.
// Source     textbook (strided copy).
//
// ELEMENT: unsigned integer of the element's size. Lengths and strides count packs. Groups are numbered by run, then
// by piece.

#include "common.cu"

using V = Pack<ELEMENT, PACK>;

extern "C" __global__ void __launch_bounds__(GROUP)
    halo_runs(const ELEMENT* __restrict__ from, ELEMENT* __restrict__ to, u64 length, u64 from_stride, u64 to_stride,
              u32 pieces) {
    const u64 run = blockIdx.x / pieces, begin = u64(blockIdx.x % pieces) * (GROUP * EACH);
    const u64 end = min(length, begin + GROUP * EACH);
    const V* const source = reinterpret_cast<const V*>(from) + run * from_stride;
    V* const target = reinterpret_cast<V*>(to) + run * to_stride;
#pragma unroll EACH
    for (u64 i = begin + threadIdx.x; i < end; i += GROUP) target[i] = source[i];
}
