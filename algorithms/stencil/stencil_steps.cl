// Stencil, textbook steps, OpenCL C. The parallel source stencil_steps.cu describes it. C++: stencil_host.hpp.

#include "common.cl"

#define LANES_Y (GROUP / LANES_X)

typedef struct {
    T c[RADIUS + 1];
} Star;

typedef struct {
    u64 z, y, x;  // first point of the tile
} Place;

INLINED Place place_of_group(u64 z_begin, u64 y_begin, u32 tiles_y, u32 tiles_x) {
    const u32 group = get_group_id(0), tile = group / tiles_x;
    const Place place = {z_begin + tile / tiles_y, y_begin + (u64)(tile % tiles_y) * LANES_Y,
                         (u64)(group % tiles_x) * LANES_X};
    return place;
}

// One term of the star. A neighbour outside the volume is 0.
INLINED T step_of(T t, T c, T left, T right, T before, T after, T below, T above) {
    return fma(c, ((left + right) + (before + after)) + (below + above), t);
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void stencil_naive(__global const T* in, ulong in_at, __global T* out, ulong out_at, u64 depth, u64 rows, u64 columns,
                   u64 z_begin, u64 y_begin, u64 y_end, u32 tiles_y, u32 tiles_x, const Star star) {
    const Place place = place_of_group(z_begin, y_begin, tiles_y, tiles_x);
    const u32 local_id = get_local_id(0);
    const u64 z = place.z, y = place.y + local_id / LANES_X, x = place.x + local_id % LANES_X;
    if (y >= y_end || x >= columns) return;
    in += in_at;
    const u64 plane = rows * columns, at = z * plane + y * columns + x;
    T t = star.c[0] * in[at];
#pragma unroll
    for (u32 r = 1; r <= RADIUS; ++r)
        t = step_of(t, star.c[r], x >= r ? in[at - r] : (T)0, r < columns - x ? in[at + r] : (T)0,
                    y >= r ? in[at - r * columns] : (T)0, r < rows - y ? in[at + r * columns] : (T)0,
                    z >= r ? in[at - r * plane] : (T)0, r < depth - z ? in[at + r * plane] : (T)0);
    out[out_at + at] = canonical(t);
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void stencil_tiled(__global const T* in, ulong in_at, __global T* out, ulong out_at, u64 depth, u64 rows, u64 columns,
                   u64 z_begin, u64 y_begin, u64 y_end, u32 tiles_y, u32 tiles_x, const Star star) {
    __local T tile[LANES_Y + 2 * RADIUS][LANES_X + 2 * RADIUS];
    const Place place = place_of_group(z_begin, y_begin, tiles_y, tiles_x);
    const u32 i = get_local_id(0) % LANES_X, j = get_local_id(0) / LANES_X;
    const u64 z = place.z, y = place.y + j, x = place.x + i, plane = rows * columns;
    in += in_at;
    // Rows and columns before the first wrap around to large unsigned numbers.
    for (u32 row = j; row < LANES_Y + 2 * RADIUS; row += LANES_Y) {
        for (u32 column = i; column < LANES_X + 2 * RADIUS; column += LANES_X) {
            const u64 v = place.y + row - RADIUS, h = place.x + column - RADIUS;
            tile[row][column] = v < rows && h < columns ? in[z * plane + v * columns + h] : (T)0;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (y >= y_end || x >= columns) return;
    const u64 at = z * plane + y * columns + x;
    const u32 v = j + RADIUS, h = i + RADIUS;
    T t = star.c[0] * tile[v][h];
#pragma unroll
    for (u32 r = 1; r <= RADIUS; ++r)
        t = step_of(t, star.c[r], tile[v][h - r], tile[v][h + r], tile[v - r][h], tile[v + r][h],
                    z >= r ? in[at - r * plane] : (T)0, r < depth - z ? in[at + r * plane] : (T)0);
    out[out_at + at] = canonical(t);
}
