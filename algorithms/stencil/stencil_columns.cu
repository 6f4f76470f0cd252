// Stencil, `columns`, CUDA C++. Parallel source: stencil_columns.cl.
//
// Algorithm  A thread has ROWS packs of PACK points, one above the other, and advances along z. It keeps the planes
//            from RADIUS before to RADIUS + AHEAD after the current one of its packs in a queue in registers. It loads
//            its neighbours in x and y, which a thread of the same group has loaded RADIUS planes earlier, from L1.
//            Threads never wait for each other.
// Passes     one per step
// Traffic    every point is read once and written once. Halos, and the planes at the borders between pieces of the
//            depth, are read again, mostly from L2.
// Tunables   GROUP threads, LANES_X of them along x; ROWS; PACK, of up to 16 bytes as the rows are aligned; AHEAD
//            planes in flight; RESIDENT groups per unit; stencil.planes.
// Source     P. Micikevicius, 3D Finite Difference Computation on GPUs using CUDA, 2009, without its shared memory.
//
// T: f32 or f64. The number of columns is a multiple of PACK, so a pack is entirely inside or outside the volume. The
// kernel computes planes [z_begin, z_end) and rows [y_begin, y_end); neighbours are read from all of the volume.
// Tiles are numbered along x, then y, then pieces of `planes` planes along z. With EXCHANGES the kernel also exchanges
// halos with the devices below and above (stencil_star.cu).

#include "stencil_star.cu"

constexpr u32 LANES_Y = GROUP / LANES_X, WIDTH = LANES_X * PACK, HEIGHT = LANES_Y * ROWS;
constexpr u32 SIDE = (RADIUS + PACK - 1) / PACK;  // packs of neighbours on one side
constexpr u32 LINE = (2 * SIDE + 1) * PACK;       // a pack and its neighbours in x
constexpr u32 NEWEST = 2 * RADIUS + AHEAD;        // last element of the queue; element RADIUS is the current plane

extern "C" __global__ void __launch_bounds__(GROUP, RESIDENT)
    stencil_columns(const T* __restrict__ in, T* __restrict__ out, u64 depth, u64 rows, u64 columns, u64 z_begin,
                    u64 z_end, u64 y_begin, u64 y_end, u32 tiles_y, u32 tiles_x, u64 planes, Star star HALO_PARAMETERS) {
    Halos halos HALOS;
    u64 plane = rows * columns;
    if (halos.deliver(out, plane)) return;
    const u32 tile = blockIdx.x / tiles_x;
    // Positions left of or above the volume wrap around to large unsigned numbers.
    const u64 x = u64(blockIdx.x % tiles_x) * WIDTH + threadIdx.x % LANES_X * PACK;
    const u64 y = y_begin + u64(tile % tiles_y) * HEIGHT + threadIdx.x / LANES_X * ROWS;
    u64 begin = z_begin + tile / tiles_y * planes, end = min(z_end, begin + planes);
    if (x >= columns) return;
    halos.start(in, out, begin, end, plane, depth);
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

    const T* from = in + begin * plane + y * columns + x;
    T* to = out + begin * plane + y * columns + x;
    for (u64 z = begin; z < end; ++z) {
        halos.stored_without_barrier(z);
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
                const V pack = k == SIDE ? queue[j][RADIUS]
                                         : load(from + j * columns + k * PACK - SIDE * PACK,
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
            if (y + j < y_end) *reinterpret_cast<V*>(to + j * columns) = result;
        }
        from += plane;
        to += plane;
#pragma unroll
        for (u32 j = 0; j < ROWS; ++j) {
#pragma unroll
            for (u32 k = 0; k < NEWEST; ++k) queue[j][k] = queue[j][k + 1];
        }
    }
    halos.finish(end);
}
