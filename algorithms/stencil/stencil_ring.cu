// Stencil, `ring`, CUDA C++. Parallel source: stencil_ring.cl.
//
// Algorithm  2.5-D blocking: a group has a tile in x and y and advances along z. A ring in shared memory holds the
//            tile's parts of the current plane and of the next RADIUS + AHEAD planes, with halos. Asynchronous copies
//            fill it. A thread computes ROWS packs of PACK points, one above the other. It reads neighbours in x and y
//            from the ring. It keeps the 2 RADIUS + 1 planes around the current one of its packs in a queue in
//            registers, whose newest packs come from the ring. A plane costs one barrier.
// Passes     one per step
// Traffic    every point is read once and written once. Halos, and the planes at the borders between pieces of the
//            depth, are read again, mostly from L2.
// Tunables   GROUP threads, LANES_X of them along x; ROWS; PACK, of up to 16 bytes as the rows are aligned; AHEAD
//            planes in flight; RESIDENT groups per unit; stencil.planes.
// Source     P. Micikevicius, 3D Finite Difference Computation on GPUs using CUDA, 2009; NVIDIA, PTX ISA, cp.async.
//
// T: f32 or f64. The number of columns is a multiple of PACK, so a pack is entirely inside or outside the volume. The
// kernel computes planes [z_begin, z_end) and rows [y_begin, y_end); neighbours are read from all of the volume.
// Tiles are numbered along x, then y, then pieces of `planes` planes along z. With EXCHANGES the kernel also exchanges
// halos with the devices below and above (stencil_star.cu).

#include "async_copy.cu"
#include "stencil_star.cu"

constexpr u32 LANES_Y = GROUP / LANES_X, WIDTH = LANES_X * PACK, HEIGHT = LANES_Y * ROWS;
constexpr u32 SIDE = (RADIUS + PACK - 1) / PACK;            // packs of a halo row on one side
constexpr u32 PITCH = LANES_X + 2 * SIDE;                   // packs between row starts of a stage
constexpr u32 STAGE = (HEIGHT + 2 * RADIUS) * PITCH;        // packs of a plane in the ring
constexpr u32 STAGES = RADIUS + AHEAD + 1;                  // planes in the ring
constexpr u32 COPIES = (STAGE + GROUP - 1) / GROUP;         // packs of a plane that a thread copies
constexpr u32 QUEUE = 2 * RADIUS;                           // planes in registers before the newest one

extern __shared__ __align__(16) unsigned char local[];  // STAGES stages

// Packs of a plane that the thread copies.
struct Copier {
    const T* from[COPIES];
    bool inside[COPIES];
};

// Starts to copy a plane to a stage: the volume's points, or zeros outside. Moves on by one plane.
__device__ __forceinline__ void copy_plane(Copier& copier, u32 stage, bool in_z, u64 plane) {
#pragma unroll
    for (u32 k = 0; k < COPIES; ++k) {
        if (threadIdx.x + k * GROUP < STAGE)
            copy_async_or_zero<sizeof(V)>(copier.inside[k] && in_z, stage + k * GROUP * sizeof(V), copier.from[k]);
        copier.from[k] += plane;
    }
}

extern "C" __global__ void __launch_bounds__(GROUP, RESIDENT)
    stencil_ring(const T* __restrict__ in, T* __restrict__ out, u64 depth, u64 rows, u64 columns, u64 z_begin,
                 u64 z_end, u64 y_begin, u64 y_end, u32 tiles_y, u32 tiles_x, u64 planes, Star star HALO_PARAMETERS) {
    const V* const ring = reinterpret_cast<const V*>(local);
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

    Copier copier;
#pragma unroll
    for (u32 k = 0; k < COPIES; ++k) {
        const u32 i = threadIdx.x + k * GROUP, row = i / PITCH, column = i % PITCH;
        const u64 y = tile_y + row - RADIUS, x = tile_x + u64(column) * PACK - SIDE * PACK;
        const bool corner = row - RADIUS >= HEIGHT && column - SIDE >= LANES_X;
        copier.from[k] = in + begin * plane + y * columns + x;
        copier.inside[k] = y < rows && x < columns && !corner;
    }
    // Start with the current plane and the planes after it, one step per plane. to: the stage of the next copy.
    const u32 first = static_cast<u32>(__cvta_generic_to_shared(local)) + threadIdx.x * sizeof(V);
    u32 to = 0;
#pragma unroll 1
    for (; to < STAGES - 1; ++to) {
        if (begin + to < end + RADIUS) copy_plane(copier, first + to * STAGE * sizeof(V), begin + to < depth, plane);
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
                queue[j][k] = *reinterpret_cast<const V*>(in + z * plane + own + j * columns);
        }
    }

    u32 current = 0, newest = RADIUS;  // stages
#pragma unroll 3
    for (u64 z = begin; z < end; ++z) {
        // The plane at the end of the queue has arrived. All threads have left the stage before the current one.
        await_steps<AHEAD - 1>();
        __syncthreads();
        halos.stored(z);
        const u64 front = z + RADIUS + AHEAD;
        if (front < end + RADIUS) copy_plane(copier, first + to * STAGE * sizeof(V), front < depth, plane);
        commit_copies();

        // Compute and store.
        const V* const stage = ring + current * STAGE;
        T t[ROWS][PACK], line[ROWS][(2 * SIDE + 1) * PACK];
#pragma unroll
        for (u32 j = 0; j < ROWS; ++j) {
            queue[j][QUEUE] = ring[newest * STAGE + staged + j * PITCH];
#pragma unroll
            for (u32 k = 0; k <= 2 * SIDE; ++k) {
                const V pack = k == SIDE ? queue[j][RADIUS] : stage[staged + j * PITCH + k - SIDE];
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
                const V above = r <= j ? queue[r <= j ? j - r : 0][RADIUS] : stage[staged + j * PITCH - r * PITCH];
                const V below = j + r < ROWS ? queue[j + r < ROWS ? j + r : 0][RADIUS] : stage[staged + (j + r) * PITCH];
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
                *reinterpret_cast<V*>(out + z * plane + own + j * columns) = result;
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
    halos.finish(end);
}
