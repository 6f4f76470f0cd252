// Stencil, `temporal`, OpenCL C. The parallel source stencil_temporal.cu describes it.
//
// A team of 32 work-items takes the place of a warp.

#include "lanes.cl"
#include "stencil_star.cl"

#define TEAMS (GROUP / LANES)
#define MARGIN (RADIUS * STEPS)
#define QUEUE (2 * RADIUS)
#define SIDE ((MARGIN + PACK - 1) / PACK)  // lanes of the margin on one side
#define WIDTH ((LANES - 2 * SIDE) * PACK)
#define HEIGHT (TEAMS * ROWS - 2 * MARGIN)
#define LINE (PACK + 2 * RADIUS)           // a pack and its neighbours in x

// Values of a team's lanes in one plane.
typedef struct {
    V row[ROWS];
} Rows;

SHUFFLE_FROM(shuffle_point, T)

// Sets a pack of each row: the volume's points, or zeros outside.
INLINED void load_rows(Rows* to, __global const T* from, u64 columns, const bool* inside, bool in_z) {
#pragma unroll
    for (u32 j = 0; j < ROWS; ++j) {
#pragma unroll
        for (u32 i = 0; i < PACK; ++i) to->row[j].item[i] = 0;
        if (inside[j] && in_z) to->row[j] = *(__global const V*)(from + j * columns);
    }
}

// Collects a pack and its RADIUS neighbours on each side. All work-items of the group call it.
INLINED void collect_line(T* line, const V* own, __local T* meet) {
    const u32 lane = lane_id();
#pragma unroll
    for (u32 i = 0; i < PACK; ++i) line[RADIUS + i] = own->item[i];
#pragma unroll
    for (u32 d = 1; d <= RADIUS; ++d) {
        const u32 lanes = (d + PACK - 1) / PACK;
        line[RADIUS - d] = shuffle_point(own->item[lanes * PACK - d], lane - lanes, meet);
        line[RADIUS + PACK - 1 + d] = shuffle_point(own->item[(d - 1) % PACK], lane + lanes, meet);
    }
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void stencil_temporal(__global const T* restrict in, ulong in_at, __global T* restrict out, ulong out_at, u64 depth,
                      u64 rows, u64 columns, u64 z_begin, u64 z_end, u64 y_begin, u64 y_end, u32 tiles_y, u32 tiles_x,
                      u64 planes, const Star star) {
    // Of each step and team, the first and the last RADIUS rows of the plane that the step computes.
    __local V stage[STEPS][TEAMS][QUEUE][LANES];
    __local T meet[LANE_ROOM];
    const u32 local_id = get_local_id(0), lane = lane_id(), team = local_id / LANES;
    const u32 group = get_group_id(0), tile = group / tiles_x;
    const u32 team_above = team == 0 ? 0 : team - 1, team_below = team == TEAMS - 1 ? team : team + 1;
    // Positions left of, above or before the volume wrap around to large unsigned numbers.
    const u64 x = (u64)(group % tiles_x) * WIDTH + ((u64)lane - SIDE) * PACK;
    const u64 y = y_begin + (u64)(tile % tiles_y) * HEIGHT + team * ROWS - MARGIN;
    const u64 begin = z_begin + tile / tiles_y * planes, end = min(z_end, begin + planes), plane = rows * columns;
    const u64 own = y * columns + x;
    in += in_at;
    out += out_at;
    bool inside[ROWS], stores[ROWS];
#pragma unroll
    for (u32 j = 0; j < ROWS; ++j) {
        const u32 row = team * ROWS + j;
        inside[j] = x < columns && y + j < rows;
        stores[j] = inside[j] && lane >= SIDE && lane < LANES - SIDE && row >= MARGIN && row < MARGIN + HEIGHT &&
                    y + j < y_end;
    }

    // queue[s][k]: plane k - QUEUE before the newest one that step s received. Planes before the volume are zeros.
    Rows queue[STEPS][QUEUE];
#pragma unroll
    for (u32 s = 0; s < STEPS; ++s) {
#pragma unroll
        for (u32 k = 0; k < QUEUE; ++k) load_rows(&queue[s][k], in, columns, inside, false);
    }

    const u64 first = begin > MARGIN ? begin - MARGIN : 0, last = end + MARGIN;
    Rows next;
    load_rows(&next, in + first * plane + own, columns, inside, first < depth);
#pragma unroll QUEUE
    for (u64 z = first; z < last; ++z) {
#pragma unroll
        for (u32 s = 0; s < STEPS; ++s) {
#pragma unroll
            for (u32 k = 0; k < RADIUS; ++k) {
                stage[s][team][k][lane] = queue[s][RADIUS].row[k];
                stage[s][team][RADIUS + k][lane] = queue[s][RADIUS].row[ROWS - RADIUS + k];
            }
        }
        Rows newest = next;
        load_rows(&next, in + (z + 1) * plane + own, columns, inside, z + 1 < depth && z + 1 < last);
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (u32 s = 0; s < STEPS; ++s) {
            // Compute plane z - (s + 1) RADIUS of the step's result.
            const bool in_z = z - (s + 1) * RADIUS < depth;
            V column[ROWS + 2 * RADIUS];
#pragma unroll
            for (u32 k = 0; k < RADIUS; ++k) {
                column[k] = stage[s][team_above][RADIUS + k][lane];
                column[RADIUS + ROWS + k] = stage[s][team_below][k][lane];
            }
#pragma unroll
            for (u32 j = 0; j < ROWS; ++j) column[RADIUS + j] = queue[s][RADIUS].row[j];
            Rows result;
#pragma unroll
            for (u32 j = 0; j < ROWS; ++j) {
                T line[LINE];
                collect_line(line, &column[RADIUS + j], meet);
#pragma unroll
                for (u32 i = 0; i < PACK; ++i) {
                    const u32 h = RADIUS + i, v = RADIUS + j;
                    T t = star.c[0] * line[h];
#pragma unroll
                    for (u32 r = 1; r <= RADIUS; ++r) {
                        const T above = r == RADIUS ? newest.row[j].item[i] : queue[s][(RADIUS + r) % QUEUE].row[j].item[i];
                        t = fma(star.c[r],
                                ((line[h - r] + line[h + r]) + (column[v - r].item[i] + column[v + r].item[i])) +
                                    (queue[s][RADIUS - r].row[j].item[i] + above),
                                t);
                    }
                    if (s + 1 == STEPS) t = canonical(t);
                    result.row[j].item[i] = inside[j] && in_z ? t : 0;
                }
            }
#pragma unroll
            for (u32 k = 0; k + 1 < QUEUE; ++k) queue[s][k] = queue[s][k + 1];
            queue[s][QUEUE - 1] = newest;
            newest = result;
        }
        if (z >= begin + MARGIN) {
            __global T* to = out + (z - MARGIN) * plane + own;
#pragma unroll
            for (u32 j = 0; j < ROWS; ++j) {
                if (stores[j]) *(__global V*)(to + j * columns) = newest.row[j];
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
