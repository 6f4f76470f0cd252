// Packs of points and the coefficients of a star, CUDA C++. Parallel source: stencil_star.cl.
//
// Algorithm  none of its own: what the kernels that advance along z share.
// Passes     none of its own.
// Traffic    Each pack once.
// Tunables   PACK points per access.
// Source     P. Micikevicius, 3D Finite Difference Computation on GPUs using CUDA, 2009.
//
// T: f32 or f64. The number of columns is a multiple of PACK, so a pack is entirely inside or outside the volume.

#include "common.cu"

using V = Pack<T, PACK>;

struct Star {
    T c[RADIUS + 1];
};

// A pack of the volume, or zeros outside.
__device__ __forceinline__ V load(const T* from, bool inside) {
    V pack;
#pragma unroll
    for (u32 i = 0; i < PACK; ++i) pack.item[i] = 0;
    if (inside) pack = *reinterpret_cast<const V*>(from);
    return pack;
}
