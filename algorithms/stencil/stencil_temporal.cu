// Stencil, `temporal`, CUDA C++. Parallel source: stencil_temporal.cl.
//
// Algorithm  Several time steps per launch (3.5-D blocking). A group has a tile in x and y and advances along z. A warp
//            has ROWS rows of 32 packs of PACK points, a lane one pack per row. Step s works RADIUS planes behind step
//            s - 1, whose results it receives in registers. Per step a thread keeps the 2 RADIUS planes before the
//            newest one in a queue in registers. Neighbours in x come from other lanes. Neighbours in y that another
//            warp has come from shared memory, where each warp stages its outer rows of all steps at once.
// Margin     With each step, the outermost RADIUS points of the tile become wrong, because their neighbours are
//            missing. So a tile has a margin of MARGIN points, which it does not store.
// Passes     one per STEPS steps
// Traffic    every point is read once and written once per launch. Margins, and the planes at the borders between
//            pieces of the depth, are read again, mostly from L2.
// Tunables   GROUP threads; ROWS; PACK, of 16 bytes if rows are aligned to them; stencil.planes. STEPS is bounded by
//            the registers.
// Source     A. Nguyen et al., 3.5-D Blocking Optimization for Stencil Computations on Modern CPUs and GPUs, 2010;
//            L. Zhang et al., Revisiting Temporal Blocking Stencil Optimizations, 2023.
//
// T: f32 or f64. The number of columns is a multiple of PACK, so a pack is entirely inside or outside the volume. With
// one step, the kernel computes planes [z_begin, z_end) and rows [y_begin, y_end), and reads neighbours from all of the
// volume. With several steps this box is the whole volume. Tiles are numbered along x, then y, then pieces of `planes`
// planes along z.

#include "stencil_star.cu"

constexpr u32 WARPS = GROUP / warp_width, MARGIN = RADIUS * STEPS, QUEUE = 2 * RADIUS;
constexpr u32 SIDE = (MARGIN + PACK - 1) / PACK;  // lanes of the margin on one side
constexpr u32 WIDTH = (warp_width - 2 * SIDE) * PACK, HEIGHT = WARPS * ROWS - 2 * MARGIN;
constexpr u32 LINE = PACK + 2 * RADIUS;  // a pack and its neighbours in x
static_assert(2 * RADIUS <= ROWS, "a warp stages its outer rows");

// Values of a warp's lanes in one plane.
struct Rows {
    V row[ROWS];
};

// Sets a pack of each row: the volume's points, or zeros outside.
__device__ __forceinline__ void load_rows(Rows& to, const T* from, u64 columns, const bool (&inside)[ROWS], bool in_z) {
#pragma unroll
    for (u32 j = 0; j < ROWS; ++j) {
#pragma unroll
        for (u32 i = 0; i < PACK; ++i) to.row[j].item[i] = 0;
        if (inside[j] && in_z) to.row[j] = *reinterpret_cast<const V*>(from + j * columns);
    }
}

// Collects a pack and its RADIUS neighbours on each side. All lanes of the warp call it.
__device__ __forceinline__ void collect_line(T (&line)[LINE], const V& own) {
#pragma unroll
    for (u32 i = 0; i < PACK; ++i) line[RADIUS + i] = own.item[i];
#pragma unroll
    for (u32 d = 1; d <= RADIUS; ++d) {
        const u32 lanes = (d + PACK - 1) / PACK;
        line[RADIUS - d] = shuffle_up(own.item[lanes * PACK - d], lanes);
        line[RADIUS + PACK - 1 + d] = shuffle_down(own.item[(d - 1) % PACK], lanes);
    }
}

extern "C" __global__ void __launch_bounds__(GROUP)
    stencil_temporal(const T* __restrict__ in, T* __restrict__ out, u64 depth, u64 rows, u64 columns, u64 z_begin,
                     u64 z_end, u64 y_begin, u64 y_end, u32 tiles_y, u32 tiles_x, u64 planes, Star star) {
    // Of each step and warp, the first and the last RADIUS rows of the plane that the step computes.
    __shared__ V stage[STEPS][WARPS][QUEUE][warp_width];
    const u32 lane = threadIdx.x % warp_width, warp = threadIdx.x / warp_width, tile = blockIdx.x / tiles_x;
    const u32 warp_above = warp == 0 ? 0 : warp - 1, warp_below = warp == WARPS - 1 ? warp : warp + 1;
    // Positions left of, above or before the volume wrap around to large unsigned numbers.
    const u64 x = u64(blockIdx.x % tiles_x) * WIDTH + (u64(lane) - SIDE) * PACK;
    const u64 y = y_begin + u64(tile % tiles_y) * HEIGHT + warp * ROWS - MARGIN;
    const u64 begin = z_begin + tile / tiles_y * planes, end = min(z_end, begin + planes), plane = rows * columns;
    const u64 own = y * columns + x;
    bool inside[ROWS], stores[ROWS];
#pragma unroll
    for (u32 j = 0; j < ROWS; ++j) {
        const u32 row = warp * ROWS + j;
        inside[j] = x < columns && y + j < rows;
        stores[j] = inside[j] && lane >= SIDE && lane < warp_width - SIDE && row >= MARGIN && row < MARGIN + HEIGHT &&
                    y + j < y_end;
    }

    // queue[s][k]: plane k - QUEUE before the newest one that step s received. Planes before the volume are zeros.
    Rows queue[STEPS][QUEUE];
#pragma unroll
    for (u32 s = 0; s < STEPS; ++s) {
#pragma unroll
        for (u32 k = 0; k < QUEUE; ++k) load_rows(queue[s][k], in, columns, inside, false);
    }

    const u64 first = begin > MARGIN ? begin - MARGIN : 0, last = end + MARGIN;
    Rows next;
    load_rows(next, in + first * plane + own, columns, inside, first < depth);
#pragma unroll QUEUE
    for (u64 z = first; z < last; ++z) {
#pragma unroll
        for (u32 s = 0; s < STEPS; ++s) {
#pragma unroll
            for (u32 k = 0; k < RADIUS; ++k) {
                stage[s][warp][k][lane] = queue[s][RADIUS].row[k];
                stage[s][warp][RADIUS + k][lane] = queue[s][RADIUS].row[ROWS - RADIUS + k];
            }
        }
        Rows newest = next;
        load_rows(next, in + (z + 1) * plane + own, columns, inside, z + 1 < depth && z + 1 < last);
        __syncthreads();
#pragma unroll
        for (u32 s = 0; s < STEPS; ++s) {
            // Compute plane z - (s + 1) RADIUS of the step's result.
            const bool in_z = z - (s + 1) * RADIUS < depth;
            const Rows& center = queue[s][RADIUS];
            V column[ROWS + 2 * RADIUS];
#pragma unroll
            for (u32 k = 0; k < RADIUS; ++k) {
                column[k] = stage[s][warp_above][RADIUS + k][lane];
                column[RADIUS + ROWS + k] = stage[s][warp_below][k][lane];
            }
#pragma unroll
            for (u32 j = 0; j < ROWS; ++j) column[RADIUS + j] = center.row[j];
            Rows result;
#pragma unroll
            for (u32 j = 0; j < ROWS; ++j) {
                T line[LINE];
                collect_line(line, center.row[j]);
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
                    result.row[j].item[i] = inside[j] && in_z ? t : T(0);
                }
            }
#pragma unroll
            for (u32 k = 0; k + 1 < QUEUE; ++k) queue[s][k] = queue[s][k + 1];
            queue[s][QUEUE - 1] = newest;
            newest = result;
        }
        if (z >= begin + MARGIN) {
            T* const to = out + (z - MARGIN) * plane + own;
#pragma unroll
            for (u32 j = 0; j < ROWS; ++j) {
                if (stores[j]) *reinterpret_cast<V*>(to + j * columns) = newest.row[j];
            }
        }
        __syncthreads();
    }
}
