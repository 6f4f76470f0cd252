// Twice, OpenCL C. Parallel sources: twice.cu, twice.cpp.
//
// Algorithm  out[i] = 2 in[i]; a group processes a tile of elements.
// Passes     one; traffic: the input once, the output once.
// T: element type.

#include "common.cl"

__kernel void twice(__global const T* in, ulong in_at, __global T* out, ulong out_at, u64 n, u64 tile) {
    const u64 begin = get_group_id(0) * tile, end = begin + tile < n ? begin + tile : n;
    for (u64 i = begin + get_local_id(0); i < end; i += get_local_size(0))
        out[out_at + i] = canonical(in[in_at + i] + in[in_at + i]);
}
