// Packs of points and the coefficients of a star, OpenCL C. The parallel source stencil_star.cu describes them.

#include "common.cl"

typedef struct {
    T item[PACK];
} __attribute__((aligned(PACK * sizeof(T)))) V;

typedef struct {
    T c[RADIUS + 1];
} Star;

// A pack of the volume, or zeros outside.
INLINED V load(__global const T* from, bool inside) {
    V pack;
#pragma unroll
    for (u32 i = 0; i < PACK; ++i) pack.item[i] = 0;
    if (inside) pack = *(__global const V*)from;
    return pack;
}
