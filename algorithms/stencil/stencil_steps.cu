// Stencil, textbook steps, CUDA C++. Parallel sources: stencil_steps.cl, stencil_host.hpp.
//
// naive      one point per thread, 6 RADIUS + 1 loads from global memory.
// tiled      a tile of a plane and its halo are in shared memory; neighbours in z are loads from global memory.
// Passes     one per step
// Traffic    every point is read once and written once if the caches serve the other loads
// Tunables   GROUP threads, LANES_X of them along x; one point per thread.
// Source     P. Micikevicius, 3D Finite Difference Computation on GPUs using CUDA, 2009.
//
// T: f32 or f64. A group computes one tile of one plane. Tiles are numbered along x, then y, then z, from plane
// z_begin and row y_begin; rows from y_end on are not computed. Neighbours are read from all of the volume.

#include "common.cu"

constexpr u32 LANES_Y = GROUP / LANES_X;

struct Star {
    T c[RADIUS + 1];
};

struct Place {
    u64 z, y, x;  // first point of the tile
};

__device__ __forceinline__ Place place_of_group(u64 z_begin, u64 y_begin, u32 tiles_y, u32 tiles_x) {
    const u32 tile = blockIdx.x / tiles_x;
    return {z_begin + tile / tiles_y, y_begin + u64(tile % tiles_y) * LANES_Y, u64(blockIdx.x % tiles_x) * LANES_X};
}

// One term of the star. A neighbour outside the volume is 0.
__device__ __forceinline__ T step(T t, T c, T left, T right, T before, T after, T below, T above) {
    return fma(c, ((left + right) + (before + after)) + (below + above), t);
}

extern "C" __global__ void __launch_bounds__(GROUP)
    stencil_naive(const T* in, T* out, u64 depth, u64 rows, u64 columns, u64 z_begin, u64 y_begin, u64 y_end,
                  u32 tiles_y, u32 tiles_x, Star star) {
    const Place place = place_of_group(z_begin, y_begin, tiles_y, tiles_x);
    const u64 z = place.z, y = place.y + threadIdx.x / LANES_X, x = place.x + threadIdx.x % LANES_X;
    if (y >= y_end || x >= columns) return;
    const u64 plane = rows * columns, at = z * plane + y * columns + x;
    T t = star.c[0] * in[at];
#pragma unroll
    for (u32 r = 1; r <= RADIUS; ++r)
        t = step(t, star.c[r], x >= r ? in[at - r] : T(0), r < columns - x ? in[at + r] : T(0),
                 y >= r ? in[at - r * columns] : T(0), r < rows - y ? in[at + r * columns] : T(0),
                 z >= r ? in[at - r * plane] : T(0), r < depth - z ? in[at + r * plane] : T(0));
    out[at] = canonical(t);
}

extern "C" __global__ void __launch_bounds__(GROUP)
    stencil_tiled(const T* in, T* out, u64 depth, u64 rows, u64 columns, u64 z_begin, u64 y_begin, u64 y_end,
                  u32 tiles_y, u32 tiles_x, Star star) {
    __shared__ T tile[LANES_Y + 2 * RADIUS][LANES_X + 2 * RADIUS];
    const Place place = place_of_group(z_begin, y_begin, tiles_y, tiles_x);
    const u32 i = threadIdx.x % LANES_X, j = threadIdx.x / LANES_X;
    const u64 z = place.z, y = place.y + j, x = place.x + i, plane = rows * columns;
    // Rows and columns before the first wrap around to large unsigned numbers.
    for (u32 row = j; row < LANES_Y + 2 * RADIUS; row += LANES_Y) {
        for (u32 column = i; column < LANES_X + 2 * RADIUS; column += LANES_X) {
            const u64 v = place.y + row - RADIUS, h = place.x + column - RADIUS;
            tile[row][column] = v < rows && h < columns ? in[z * plane + v * columns + h] : T(0);
        }
    }
    __syncthreads();
    if (y >= y_end || x >= columns) return;
    const u64 at = z * plane + y * columns + x;
    const u32 v = j + RADIUS, h = i + RADIUS;
    T t = star.c[0] * tile[v][h];
#pragma unroll
    for (u32 r = 1; r <= RADIUS; ++r)
        t = step(t, star.c[r], tile[v][h - r], tile[v][h + r], tile[v - r][h], tile[v + r][h],
                 z >= r ? in[at - r * plane] : T(0), r < depth - z ? in[at + r * plane] : T(0));
    out[at] = canonical(t);
}
