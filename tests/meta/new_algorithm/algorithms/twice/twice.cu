// Twice, CUDA C++. Parallel sources: twice.cl, twice.cpp.
//
// Algorithm  out[i] = 2 in[i]; a group processes a tile of elements.
// Passes     one; traffic: the input once, the output once.
// T: element type.

#include "common.cu"

extern "C" __global__ void twice(const T* in, T* out, u64 n, u64 tile) {
    const u64 begin = blockIdx.x * tile, end = begin + tile < n ? begin + tile : n;
    for (u64 i = begin + threadIdx.x; i < end; i += blockDim.x) out[i] = canonical(in[i] + in[i]);
}
