// Stencil, `ring`, OpenCL C. The parallel source stencil_ring.cu describes it.

#include "async_copy.cl"
#include "stencil_star.cl"

#define LANES_Y (GROUP / LANES_X)
#define WIDTH (LANES_X * PACK)
#define HEIGHT (LANES_Y * ROWS)
#define SIDE ((RADIUS + PACK - 1) / PACK)       // packs of a halo row on one side
#define PITCH (LANES_X + 2 * SIDE)              // packs between row starts of a stage
#define STAGE ((HEIGHT + 2 * RADIUS) * PITCH)   // packs of a plane in the ring
#define STAGES (RADIUS + AHEAD + 1)             // planes in the ring
#define COPIES ((STAGE + GROUP - 1) / GROUP)    // packs of a plane that a work-item copies
#define QUEUE (2 * RADIUS)                      // planes in registers before the newest one

// Packs of a plane that the work-item copies.
typedef struct {
    __global const T* from[COPIES];
    bool inside[COPIES];
} Copier;

// Starts to copy a plane to a stage: the volume's points, or zeros outside. Moves on by one plane.
INLINED void copy_plane(Copier* copier, __local V* stage, bool in_z, u64 plane) {
    const u32 local_id = get_local_id(0);
#pragma unroll
    for (u32 k = 0; k < COPIES; ++k) {
        if (local_id + k * GROUP < STAGE)
            copy_async_or_zero(sizeof(V), copier->inside[k] && in_z, stage + local_id + k * GROUP, copier->from[k]);
        copier->from[k] += plane;
    }
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void stencil_ring(__global const T* restrict in, ulong in_at, __global T* restrict out, ulong out_at, u64 depth,
                  u64 rows, u64 columns, u64 z_begin, u64 z_end, u64 y_begin, u64 y_end, u32 tiles_y, u32 tiles_x,
                  u64 planes, const Star star, __local V* ring) {
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

    Copier copier;
#pragma unroll
    for (u32 k = 0; k < COPIES; ++k) {
        const u32 i = local_id + k * GROUP, row = i / PITCH, column = i % PITCH;
        const u64 y = tile_y + row - RADIUS, x = tile_x + (u64)column * PACK - SIDE * PACK;
        const bool corner = row - RADIUS >= HEIGHT && column - SIDE >= LANES_X;
        copier.from[k] = in + begin * plane + y * columns + x;
        copier.inside[k] = y < rows && x < columns && !corner;
    }
    // Start with the current plane and the planes after it, one step per plane. to: the stage of the next copy.
    u32 to = 0;
#pragma unroll 1
    for (; to < STAGES - 1; ++to) {
        if (begin + to < end + RADIUS) copy_plane(&copier, ring + to * STAGE, begin + to < depth, plane);
        commit_copies();
    }

    // Fill the queue, except the packs that come from the ring. Element RADIUS is the current plane.
    V queue[ROWS][QUEUE + 1];
#pragma unroll
    for (u32 k = 0; k < QUEUE; ++k) {
        const u64 z = begin + k - RADIUS;
#pragma unroll
        for (u32 j = 0; j < ROWS; ++j) {
#pragma unroll
            for (u32 i = 0; i < PACK; ++i) queue[j][k].item[i] = 0;
            if (own_x < columns && own_y + j < rows && z < depth)
                queue[j][k] = *(__global const V*)(in + z * plane + own + j * columns);
        }
    }

    u32 current = 0, newest = RADIUS;  // stages
#pragma unroll 3
    for (u64 z = begin; z < end; ++z) {
        // The plane at the end of the queue has arrived. All work-items have left the stage before the current one.
        await_steps(AHEAD - 1);
        barrier(CLK_LOCAL_MEM_FENCE);
        const u64 front = z + RADIUS + AHEAD;
        if (front < end + RADIUS) copy_plane(&copier, ring + to * STAGE, front < depth, plane);
        commit_copies();

        // Compute and store.
        __local const V* stage = ring + current * STAGE;
        T t[ROWS][PACK], line[ROWS][(2 * SIDE + 1) * PACK];
#pragma unroll
        for (u32 j = 0; j < ROWS; ++j) {
            queue[j][QUEUE] = ring[newest * STAGE + staged + j * PITCH];
#pragma unroll
            for (u32 k = 0; k <= 2 * SIDE; ++k) {
                V pack = queue[j][RADIUS];
                if (k != SIDE) pack = stage[staged + j * PITCH + k - SIDE];
#pragma unroll
                for (u32 i = 0; i < PACK; ++i) line[j][k * PACK + i] = pack.item[i];
            }
#pragma unroll
            for (u32 i = 0; i < PACK; ++i) t[j][i] = star.c[0] * line[j][SIDE * PACK + i];
        }
#pragma unroll
        for (u32 r = 1; r <= RADIUS; ++r) {
#pragma unroll
            for (u32 j = 0; j < ROWS; ++j) {
                V above, below;
                if (r <= j) {
                    above = queue[r <= j ? j - r : 0][RADIUS];
                } else {
                    above = stage[staged + j * PITCH - r * PITCH];
                }
                if (j + r < ROWS) {
                    below = queue[j + r < ROWS ? j + r : 0][RADIUS];
                } else {
                    below = stage[staged + (j + r) * PITCH];
                }
#pragma unroll
                for (u32 i = 0; i < PACK; ++i) {
                    const u32 x = SIDE * PACK + i;
                    t[j][i] = fma(star.c[r],
                                  ((line[j][x - r] + line[j][x + r]) + (above.item[i] + below.item[i])) +
                                      (queue[j][RADIUS - r].item[i] + queue[j][RADIUS + r].item[i]),
                                  t[j][i]);
                }
            }
        }
#pragma unroll
        for (u32 j = 0; j < ROWS; ++j) {
            V result;
#pragma unroll
            for (u32 i = 0; i < PACK; ++i) result.item[i] = canonical(t[j][i]);
            if (own_x < columns && own_y + j < y_end)
                *(__global V*)(out + z * plane + own + j * columns) = result;
        }

#pragma unroll
        for (u32 j = 0; j < ROWS; ++j) {
#pragma unroll
            for (u32 k = 0; k < QUEUE; ++k) queue[j][k] = queue[j][k + 1];
        }
        to = current;
        current = current + 1 == STAGES ? 0 : current + 1;
        newest = newest + 1 == STAGES ? 0 : newest + 1;
    }
}
