// Stencil, `streaming`, CUDA C++. Parallel source: stencil.cl.
//
// Algorithm  2.5-D blocking: a group has a tile in x and y and advances along z. A thread computes ROWS packs of PACK
//            points, one above the other. It keeps the 2 RADIUS + 1 planes around the current one of each pack in a
//            queue in registers. The current plane and its halo are in shared memory, from which threads read their
//            neighbours in x and y. They read whole packs, because reads of single points limit the kernel at radius
//            4. Two stages alternate, so a plane costs one barrier. While a plane is computed, the next plane's halo
//            and the packs at the end of the queue load.
// Passes     one per step
// Traffic    every point is read once and written once. Halos, and the planes at the borders between pieces of the
//            depth, are read again, mostly from L2.
// Tunables   GROUP threads, LANES_X of them along x; ROWS; PACK, 1 if rows are not aligned to 8 bytes; RESIDENT
//            groups per unit; stencil.planes.
// Source     P. Micikevicius, 3D Finite Difference Computation on GPUs using CUDA, 2009.
//
// T: f32 or f64. The number of columns is a multiple of PACK, so a pack is entirely inside or outside the volume. The
// kernel computes planes [z_begin, z_end) and rows [y_begin, y_end); neighbours are read from all of the volume.
// Tiles are numbered along x, then y, then pieces of `planes` planes along z. With EXCHANGES the kernel also exchanges
// halos with the devices below and above (stencil_star.cu).

#include "stencil_star.cu"

constexpr u32 LANES_Y = GROUP / LANES_X, WIDTH = LANES_X * PACK, HEIGHT = LANES_Y * ROWS;
constexpr u32 SIDE = (RADIUS + PACK - 1) / PACK;   // packs of a halo row on one side
constexpr u32 PITCH = LANES_X + 2 * SIDE;          // packs between row starts of a stage
constexpr u32 ABOVE = 2 * RADIUS * LANES_X;        // halo packs above and below the tile
constexpr u32 HALO = ABOVE + HEIGHT * 2 * SIDE;    // all halo packs, with those on the left and right
constexpr u32 HALO_EACH = (HALO + GROUP - 1) / GROUP;

extern "C" __global__ void __launch_bounds__(GROUP, RESIDENT)
    stencil_streaming(const T* __restrict__ in, T* __restrict__ out, u64 depth, u64 rows, u64 columns, u64 z_begin,
                      u64 z_end, u64 y_begin, u64 y_end, u32 tiles_y, u32 tiles_x, u64 planes, Star star HALO_PARAMETERS) {
    __shared__ V stages[2][(HEIGHT + 2 * RADIUS) * PITCH];
    Halos halos HALOS;
    u64 plane = rows * columns;
    if (halos.deliver(out, plane)) return;
    const u32 tile = blockIdx.x / tiles_x;
    const u64 tile_x = u64(blockIdx.x % tiles_x) * WIDTH, tile_y = y_begin + u64(tile % tiles_y) * HEIGHT;
    u64 begin = z_begin + tile / tiles_y * planes, end = min(z_end, begin + planes);
    halos.start(in, out, begin, end, plane, depth);

    // The thread's own packs: their position in a plane and in a stage. Positions left of or above the volume wrap
    // around to large unsigned numbers.
    const u32 thread_x = threadIdx.x % LANES_X, thread_y = threadIdx.x / LANES_X * ROWS;
    const u32 staged = (RADIUS + thread_y) * PITCH + SIDE + thread_x;
    const u64 own_x = tile_x + thread_x * PACK, own_y = tile_y + thread_y, own = own_y * columns + own_x;
    bool inside[ROWS];
#pragma unroll
    for (u32 j = 0; j < ROWS; ++j) inside[j] = own_x < columns && own_y + j < rows;

    // Halo packs that the thread loads.
    u64 halo_at[HALO_EACH];
    u32 halo_staged[HALO_EACH];
    bool halo_inside[HALO_EACH];
    V halo[HALO_EACH];
#pragma unroll
    for (u32 k = 0; k < HALO_EACH; ++k) {
        const u32 i = threadIdx.x + k * GROUP;
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
        const u64 y = tile_y + row - RADIUS, x = tile_x + u64(column) * PACK - SIDE * PACK;
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
        V* const stage = stages[z % 2];
#pragma unroll
        for (u32 j = 0; j < ROWS; ++j) stage[staged + j * PITCH] = queue[j][RADIUS];
#pragma unroll
        for (u32 k = 0; k < HALO_EACH; ++k) {
            if (threadIdx.x + k * GROUP < HALO) stage[halo_staged[k]] = halo[k];
            if (z + 1 < end) halo[k] = load(in + (z + 1) * plane + halo_at[k], halo_inside[k]);
        }
        __syncthreads();
        halos.stored(z);

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
                const V pack = k == SIDE ? queue[j][RADIUS] : stage[staged + j * PITCH + k - SIDE];
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
            if (inside[j] && own_y + j < y_end) *reinterpret_cast<V*>(out + z * plane + own + j * columns) = result;
        }

#pragma unroll
        for (u32 j = 0; j < ROWS; ++j) {
#pragma unroll
            for (u32 k = 0; k < 2 * RADIUS; ++k) queue[j][k] = queue[j][k + 1];
            queue[j][2 * RADIUS] = next[j];
        }
    }
    halos.finish(end);
}
