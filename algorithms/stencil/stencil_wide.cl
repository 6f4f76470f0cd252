// Stencil, `blocked`, OpenCL C for CPUs, one work-item per group. Parallel source: stencil_host.hpp.
//
// Algorithm  A group computes a tile of rows and columns and a piece of the depth, plane by plane. 2 RADIUS + 1
//            planes of the tile stay in the thread's cache. The current row is copied between zeros, so its
//            neighbours in x need no checks. Rows outside the volume are a row of zeros. Two vectors of results are
//            computed together and share the addresses of 4 RADIUS rows. Results that exceed the caches are gathered
//            in a line and leave with non-temporal stores.
// Passes     one per step
// Traffic    every point is read once and written once. Rows above and below a tile, and planes at the borders
//            between pieces of the depth, are read again.
// Tunables   ROW: maximum points per row of a tile; stencil.groups and stencil.cache_part set the tiles.
// Source     A. Nguyen et al., 3.5-D Blocking Optimization for Stencil Computations on Modern CPUs and GPUs, 2010.
//
// T: f32 or f64 of SIZE bytes. W: elements per vector of 64 bytes.

#include "common.cl"

#if SIZE == 4
#define W 16
#define VECTOR float16
#define LOAD(at) vload16(0, at)
#define STORE(v, at) vstore16(v, 0, at)
#else
#define W 8
#define VECTOR double8
#define LOAD(at) vload8(0, at)
#define STORE(v, at) vstore8(v, 0, at)
#endif

typedef struct {
    T c[RADIUS + 1];
} Star;

// The rows at distances 1 ... RADIUS of a row.
typedef struct {
    __global const T* y_before[RADIUS];
    __global const T* y_after[RADIUS];
    __global const T* z_before[RADIUS];
    __global const T* z_after[RADIUS];
} Rows;

INLINED void two_vectors(const T* centre, const Rows* rows, u64 i, T* line, const Star* star) {
    VECTOR a = star->c[0] * LOAD(centre + i), b = star->c[0] * LOAD(centre + i + W);
#pragma unroll
    for (u32 r = 1; r <= RADIUS; ++r) {
        __global const T* yb = rows->y_before[r - 1] + i;
        __global const T* ya = rows->y_after[r - 1] + i;
        __global const T* zb = rows->z_before[r - 1] + i;
        __global const T* za = rows->z_after[r - 1] + i;
        const VECTOR c = star->c[r];
        a = fma(c, ((LOAD(centre + i - r) + LOAD(centre + i + r)) + (LOAD(yb) + LOAD(ya))) + (LOAD(zb) + LOAD(za)), a);
        b = fma(c,
                ((LOAD(centre + i + W - r) + LOAD(centre + i + W + r)) + (LOAD(yb + W) + LOAD(ya + W))) +
                    (LOAD(zb + W) + LOAD(za + W)),
                b);
    }
    STORE(CANONICAL(VECTOR, a), line + i);
    STORE(CANONICAL(VECTOR, b), line + i + W);
}

INLINED T one_point(const T* centre, const Rows* rows, u64 i, const Star* star) {
    T t = star->c[0] * centre[i];
#pragma unroll
    for (u32 r = 1; r <= RADIUS; ++r)
        t = fma(star->c[r],
                ((centre[i - r] + centre[i + r]) + (rows->y_before[r - 1][i] + rows->y_after[r - 1][i])) +
                    (rows->z_before[r - 1][i] + rows->z_after[r - 1][i]),
                t);
    return canonical(t);
}

typedef struct {
    VECTOR all;
} __attribute__((packed, aligned(SIZE))) Line;

INLINED void store_row(__global T* out, const T* line, u64 count, u32 non_temporal) {
    u64 i = 0;
#if __has_builtin(__builtin_nontemporal_store)
    if (non_temporal) {
        for (; i < count && (ulong)(out + i) % 64 != 0; ++i) out[i] = line[i];
        for (; i + W <= count; i += W)
            __builtin_nontemporal_store(((const Line*)(line + i))->all, (__global VECTOR*)(out + i));
    }
#endif
    for (; i + W <= count; i += W) ((__global Line*)(out + i))->all = ((const Line*)(line + i))->all;
    for (; i < count; ++i) out[i] = line[i];
}

// A tile has tile_depth x tile_rows x tile_columns points. Tiles of planes [z_from, z_to) and rows [y_from, y_to) are
// numbered along x, then y, then z. Neighbours are read from all of the volume. `zeros` has ROW elements.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void stencil_blocked(__global const T* in, ulong in_at, __global T* out, ulong out_at, __global const T* zeros,
                     ulong zeros_at, u64 depth, u64 rows, u64 columns, u64 z_from, u64 z_to, u64 y_from, u64 y_to,
                     u64 tile_depth, u64 tile_rows, u64 tile_columns, u64 down, u64 across, u32 non_temporal,
                     const Star star) {
    T staged[ROW + 2 * RADIUS], line[ROW];
    T* const centre = staged + RADIUS;
    const u64 group = get_group_id(0), x = group % across * tile_columns, n = min(tile_columns, columns - x);
    const u64 y_begin = y_from + group / across % down * tile_rows, y_end = min(y_to, y_begin + tile_rows);
    const u64 z_begin = z_from + group / across / down * tile_depth, z_end = min(z_to, z_begin + tile_depth);
    const u64 left = min(x, (u64)RADIUS), right = min(columns - x - n, (u64)RADIUS);
    in += in_at + x;
    out += out_at + x;
    zeros += zeros_at;
    for (u64 i = 0; i < ROW + 2 * RADIUS; ++i) staged[i] = 0;
    for (u64 z = z_begin; z < z_end; ++z) {
        for (u64 y = y_begin; y < y_end; ++y) {
            __global const T* row = in + (z * rows + y) * columns;
            u64 i = 0;
            for (u64 k = 1; k <= left; ++k) centre[0 - k] = *(row - k);
            for (; i + W <= n + right; i += W) ((Line*)(centre + i))->all = ((__global const Line*)(row + i))->all;
            for (; i < n + right; ++i) centre[i] = row[i];
            Rows near;
#pragma unroll
            for (u64 r = 1; r <= RADIUS; ++r) {
                near.y_before[r - 1] = r <= y ? row - r * columns : zeros;
                near.y_after[r - 1] = r < rows - y ? row + r * columns : zeros;
                near.z_before[r - 1] = r <= z ? row - r * rows * columns : zeros;
                near.z_after[r - 1] = r < depth - z ? row + r * rows * columns : zeros;
            }
            for (i = 0; i + 2 * W <= n; i += 2 * W) two_vectors(centre, &near, i, line, &star);
            for (; i < n; ++i) line[i] = one_point(centre, &near, i, &star);
            store_row(out + (z * rows + y) * columns, line, n, non_temporal);
        }
    }
}
