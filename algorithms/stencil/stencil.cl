// Stencil, `streaming`, OpenCL C. The parallel source stencil.cu describes it.

#include "stencil_star.cl"

#define LANES_Y (GROUP / LANES_X)
#define WIDTH (LANES_X * PACK)
#define HEIGHT (LANES_Y * ROWS)
#define SIDE ((RADIUS + PACK - 1) / PACK)  // packs of a halo row on one side
#define PITCH (LANES_X + 2 * SIDE)         // packs between row starts of a stage
#define ABOVE (2 * RADIUS * LANES_X)       // halo packs above and below the tile
#define HALO (ABOVE + HEIGHT * 2 * SIDE)   // all halo packs, with those on the left and right
#define HALO_EACH ((HALO + GROUP - 1) / GROUP)

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void stencil_streaming(__global const T* restrict in, ulong in_at, __global T* restrict out, ulong out_at, u64 depth,
                       u64 rows, u64 columns, u64 z_begin, u64 z_end, u64 y_begin, u64 y_end, u32 tiles_y, u32 tiles_x,
                       u64 planes, const Star star) {
    __local V stages[2][(HEIGHT + 2 * RADIUS) * PITCH];
    const u32 local_id = get_local_id(0), group = get_group_id(0), tile = group / tiles_x;
    const u64 tile_x = (u64)(group % tiles_x) * WIDTH, tile_y = y_begin + (u64)(tile % tiles_y) * HEIGHT;
    const u64 begin = z_begin + tile / tiles_y * planes, end = min(z_end, begin + planes), plane = rows * columns;
    in += in_at;
    out += out_at;

    // The work-item's own packs: their position in a plane and in a stage. Positions left of or above the volume wrap
    // around to large unsigned numbers.
    const u32 local_x = local_id % LANES_X, local_y = local_id / LANES_X * ROWS;
    const u32 staged = (RADIUS + local_y) * PITCH + SIDE + local_x;
    const u64 own_x = tile_x + local_x * PACK, own_y = tile_y + local_y, own = own_y * columns + own_x;
    bool inside[ROWS];
#pragma unroll
    for (u32 j = 0; j < ROWS; ++j) inside[j] = own_x < columns && own_y + j < rows;

    // Halo packs that the work-item loads.
    u64 halo_at[HALO_EACH];
    u32 halo_staged[HALO_EACH];
    bool halo_inside[HALO_EACH];
    V halo[HALO_EACH];
#pragma unroll
    for (u32 k = 0; k < HALO_EACH; ++k) {
        const u32 i = local_id + k * GROUP;
        u32 row, column;
        if (i < ABOVE) {
            row = i / LANES_X;
            if (row >= RADIUS) row += HEIGHT;
            column = SIDE + i % LANES_X;
        } else {
            row = RADIUS + (i - ABOVE) / (2 * SIDE);
            column = (i - ABOVE) % (2 * SIDE);
            if (column >= SIDE) column += LANES_X;
        }
        const u64 y = tile_y + row - RADIUS, x = tile_x + (u64)column * PACK - SIDE * PACK;
        halo_at[k] = y * columns + x;
        halo_staged[k] = row * PITCH + column;
        halo_inside[k] = i < HALO && y < rows && x < columns;
        halo[k] = load(in + begin * plane + halo_at[k], halo_inside[k]);
    }

    // Fill the queue; its middle is the current plane.
    V queue[ROWS][2 * RADIUS + 1];
#pragma unroll
    for (u32 k = 0; k <= 2 * RADIUS; ++k) {
        const u64 z = begin + k - RADIUS;
#pragma unroll
        for (u32 j = 0; j < ROWS; ++j)
            queue[j][k] = load(in + z * plane + own + j * columns, inside[j] && z < depth);
    }

    for (u64 z = begin; z < end; ++z) {
        // Load the packs at the end of the queue for the next plane.
        V next[ROWS];
        const u64 front = z + 1 + RADIUS;
        const bool in_z = front < depth && z + 1 < end;
#pragma unroll
        for (u32 j = 0; j < ROWS; ++j)
            next[j] = load(in + front * plane + own + j * columns, inside[j] && in_z);

        // Stage the current plane; load the next plane's halo.
        __local V* const stage = stages[z % 2];
#pragma unroll
        for (u32 j = 0; j < ROWS; ++j) stage[staged + j * PITCH] = queue[j][RADIUS];
#pragma unroll
        for (u32 k = 0; k < HALO_EACH; ++k) {
            if (local_id + k * GROUP < HALO) stage[halo_staged[k]] = halo[k];
            if (z + 1 < end) halo[k] = load(in + (z + 1) * plane + halo_at[k], halo_inside[k]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);

        // Compute and store.
        V column[ROWS + 2 * RADIUS];
#pragma unroll
        for (u32 k = 0; k < ROWS + 2 * RADIUS; ++k) {
            if (k >= RADIUS && k < RADIUS + ROWS) {
                column[k] = queue[k - RADIUS][RADIUS];
            } else {
                column[k] = stage[staged + k * PITCH - RADIUS * PITCH];
            }
        }
#pragma unroll
        for (u32 j = 0; j < ROWS; ++j) {
            T line[(2 * SIDE + 1) * PACK];
#pragma unroll
            for (u32 k = 0; k <= 2 * SIDE; ++k) {
                V pack = queue[j][RADIUS];
                if (k != SIDE) pack = stage[staged + j * PITCH + k - SIDE];
#pragma unroll
                for (u32 i = 0; i < PACK; ++i) line[k * PACK + i] = pack.item[i];
            }
            V result;
#pragma unroll
            for (u32 i = 0; i < PACK; ++i) {
                const u32 x = SIDE * PACK + i, y = RADIUS + j;
                T t = star.c[0] * line[x];
#pragma unroll
                for (u32 r = 1; r <= RADIUS; ++r)
                    t = fma(star.c[r],
                            ((line[x - r] + line[x + r]) + (column[y - r].item[i] + column[y + r].item[i])) +
                                (queue[j][RADIUS - r].item[i] + queue[j][RADIUS + r].item[i]),
                            t);
                result.item[i] = canonical(t);
            }
            if (inside[j] && own_y + j < y_end) *(__global V*)(out + z * plane + own + j * columns) = result;
        }

#pragma unroll
        for (u32 j = 0; j < ROWS; ++j) {
#pragma unroll
            for (u32 k = 0; k < 2 * RADIUS; ++k) queue[j][k] = queue[j][k + 1];
            queue[j][2 * RADIUS] = next[j];
        }
    }
}
