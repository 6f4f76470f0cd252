// Runs of elements at a fixed distance from one another, CUDA C++. Parallel sources: halo.cl, halo_host.hpp.
//
// Algorithm  A halo along y is some rows of each plane: a run of elements a plane, which this kernel packs one after another
//            for a message, and unpacks. A group moves a piece of one run.
// Passes     one; traffic: every element is read once and written once.
// Tunables   GROUP threads, EACH packs of a thread; a pack is PACK elements, more than one where all runs begin and end at
//            multiples of it.
//
// E: unsigned integer of the elements' size. Lengths and distances are counted in packs; pieces of a run follow one another.

using V = Pack<E, PACK>;

extern "C" __global__ void __launch_bounds__(GROUP)
    halo_runs(const E* __restrict__ from, E* __restrict__ to, u64 length, u64 from_stride, u64 to_stride, u32 pieces) {
    const u64 run = blockIdx.x / pieces, begin = u64(blockIdx.x % pieces) * (GROUP * EACH);
    const u64 end = min(length, begin + GROUP * EACH);
    const V* const source = reinterpret_cast<const V*>(from) + run * from_stride;
    V* const target = reinterpret_cast<V*>(to) + run * to_stride;
#pragma unroll EACH
    for (u64 i = begin + threadIdx.x; i < end; i += GROUP) target[i] = source[i];
}
