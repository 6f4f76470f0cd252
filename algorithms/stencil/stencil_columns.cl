// Stencil, `columns`, OpenCL C. The parallel source stencil_columns.cu describes it.

#include "stencil_star.cl"

#define LANES_Y (GROUP / LANES_X)
#define WIDTH (LANES_X * PACK)
#define HEIGHT (LANES_Y * ROWS)
#define SIDE ((RADIUS + PACK - 1) / PACK)  // packs of neighbours on one side
#define LINE ((2 * SIDE + 1) * PACK)       // a pack and its neighbours in x
#define NEWEST (2 * RADIUS + AHEAD)        // last element of the queue; element RADIUS is the current plane

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void stencil_columns(__global const T* restrict in, ulong in_at, __global T* restrict out, ulong out_at, u64 depth,
                     u64 rows, u64 columns, u64 z_begin, u64 z_end, u64 y_begin, u64 y_end, u32 tiles_y, u32 tiles_x,
                     u64 planes, const Star star) {
    const u32 local_id = get_local_id(0), group = get_group_id(0), tile = group / tiles_x;
    in += in_at;
    out += out_at;
    // Positions left of or above the volume wrap around to large unsigned numbers.
    const u64 x = (u64)(group % tiles_x) * WIDTH + local_id % LANES_X * PACK;
    const u64 y = y_begin + (u64)(tile % tiles_y) * HEIGHT + local_id / LANES_X * ROWS;
    const u64 begin = z_begin + tile / tiles_y * planes, end = min(z_end, begin + planes), plane = rows * columns;
    if (x >= columns) return;
    bool inside[ROWS + 2 * RADIUS];  // rows from y - RADIUS on
#pragma unroll
    for (u32 k = 0; k < ROWS + 2 * RADIUS; ++k) inside[k] = y + k - RADIUS < rows;

    V queue[ROWS][NEWEST + 1];
#pragma unroll
    for (u32 k = 0; k < NEWEST; ++k) {
        const u64 z = begin + k - RADIUS;
#pragma unroll
        for (u32 j = 0; j < ROWS; ++j)
            queue[j][k] = load(in + z * plane + (y + j) * columns + x, inside[RADIUS + j] && z < depth);
    }

    __global const T* from = in + begin * plane + y * columns + x;
    __global T* to = out + begin * plane + y * columns + x;
    for (u64 z = begin; z < end; ++z) {
        const bool in_z = z + RADIUS + AHEAD < depth;
#pragma unroll
        for (u32 j = 0; j < ROWS; ++j)
            queue[j][NEWEST] = load(from + (RADIUS + AHEAD) * plane + j * columns, inside[RADIUS + j] && in_z);
        V column[ROWS + 2 * RADIUS];
#pragma unroll
        for (u32 k = 0; k < ROWS + 2 * RADIUS; ++k) {
            if (k >= RADIUS && k < RADIUS + ROWS) {
                column[k] = queue[k - RADIUS][RADIUS];
            } else {
                column[k] = load(from + k * columns - RADIUS * columns, inside[k]);
            }
        }
#pragma unroll
        for (u32 j = 0; j < ROWS; ++j) {
            T line[LINE];
#pragma unroll
            for (u32 k = 0; k <= 2 * SIDE; ++k) {
                V pack = queue[j][RADIUS];
                if (k != SIDE)
                    pack = load(from + j * columns + k * PACK - SIDE * PACK,
                                inside[RADIUS + j] && x + k * PACK - SIDE * PACK < columns);
#pragma unroll
                for (u32 i = 0; i < PACK; ++i) line[k * PACK + i] = pack.item[i];
            }
            V result;
#pragma unroll
            for (u32 i = 0; i < PACK; ++i) {
                const u32 h = SIDE * PACK + i, v = RADIUS + j;
                T t = star.c[0] * line[h];
#pragma unroll
                for (u32 r = 1; r <= RADIUS; ++r)
                    t = fma(star.c[r],
                            ((line[h - r] + line[h + r]) + (column[v - r].item[i] + column[v + r].item[i])) +
                                (queue[j][RADIUS - r].item[i] + queue[j][RADIUS + r].item[i]),
                            t);
                result.item[i] = canonical(t);
            }
            if (y + j < y_end) *(__global V*)(to + j * columns) = result;
        }
        from += plane;
        to += plane;
#pragma unroll
        for (u32 j = 0; j < ROWS; ++j) {
#pragma unroll
            for (u32 k = 0; k < NEWEST; ++k) queue[j][k] = queue[j][k + 1];
        }
    }
}
