// Matmul, textbook steps, CUDA C++. Parallel source: matmul_steps.cl.
//
// naive         one element of C per thread, adjacent threads in one row: 2 elements loaded from global memory per
//               fma.
// tiled         tiles of A and B pass through shared memory: 2 / TILE elements loaded from global memory per fma, 2
//               from shared memory.
// blocks        4 x 4 elements of C per thread, in registers, no shared memory: 1/2 loaded per fma.
// blocks_tiled  both: a group of TILE x TILE threads computes 4 x 4 elements per thread; 1 / (2 TILE) loaded from
//               global memory per fma, 1/2 from shared memory.
// Passes        one; 2 m n k operations.
// Tunables      none; GROUP threads, TILE = sqrt(GROUP), block 4.
// Source        V. Volkov, J. Demmel, Benchmarking GPUs to Tune Dense Linear Algebra, 2008.
//
// T: element type. Every element is one chain of fma, l ascending from 0.

#include "matmul_tile"
#include "tile_order"

constexpr u32 block = 4;

// A group computes GROUP / 32 x 32 elements.
extern "C" __global__ void __launch_bounds__(GROUP)
    matmul_naive(const T* a, const T* b, T* c, const Product p, u32 tile_rows, u32 tile_columns, u32 band) {
    const u32 tiles = tile_rows * tile_columns, batch = blockIdx.x / tiles;
    const Place place = place_of_tile(blockIdx.x % tiles, tile_rows, tile_columns, band);
    const u64 i = u64(place.row) * (GROUP / 32) + threadIdx.x / 32, j = u64(place.column) * 32 + threadIdx.x % 32;
    if (i >= p.m || j >= p.n) return;
    const Part part = part_of(&p, batch);
    a += part.a + i * p.a_row;
    b += part.b + j * p.b_column;
    T t = 0;
    for (u64 l = 0; l < part.k; ++l) t = fma(a[l * p.a_column], b[l * p.b_row], t);
    finish(&p, t, c + batch * p.c_stride + i * p.c_pitch + j);
}

extern "C" __global__ void __launch_bounds__(GROUP)
    matmul_tiled(const T* a, const T* b, T* c, const Product p, u32 tile_rows, u32 tile_columns, u32 band) {
    __shared__ T from_a[TILE][TILE], from_b[TILE][TILE];
    const u32 tiles = tile_rows * tile_columns, batch = blockIdx.x / tiles;
    const Place place = place_of_tile(blockIdx.x % tiles, tile_rows, tile_columns, band);
    const u32 x = threadIdx.x % TILE, y = threadIdx.x / TILE;
    const u64 i = u64(place.row) * TILE + y, j = u64(place.column) * TILE + x;
    const Part part = part_of(&p, batch);
    a += part.a;
    b += part.b;
    T t = 0;
    for (u64 begin = 0; begin < part.k; begin += TILE) {
        if (i < p.m && begin + x < part.k) from_a[y][x] = a[i * p.a_row + (begin + x) * p.a_column];
        if (begin + y < part.k && j < p.n) from_b[y][x] = b[(begin + y) * p.b_row + j * p.b_column];
        __syncthreads();
        const u32 count = u32(min(u64(TILE), part.k - begin));
        for (u32 l = 0; l < count; ++l) t = fma(from_a[y][l], from_b[l][x], t);
        __syncthreads();
    }
    if (i < p.m && j < p.n) finish(&p, t, c + batch * p.c_stride + i * p.c_pitch + j);
}

// Stores the part of a block that is inside C: rows x columns elements from its first element on.
__device__ __forceinline__ void store_block(const Product& p, const T (&t)[block][block], T* c, u64 rows,
                                            u64 columns) {
#pragma unroll
    for (u32 i = 0; i < block; ++i) {
#pragma unroll
        for (u32 j = 0; j < block; ++j) {
            if (i < rows && j < columns) finish(&p, t[i][j], c + i * p.c_pitch + j);
        }
    }
}

// A group computes GROUP / 16 x 16 blocks.
extern "C" __global__ void __launch_bounds__(GROUP)
    matmul_blocks(const T* a, const T* b, T* c, const Product p, u32 tile_rows, u32 tile_columns, u32 band) {
    const u32 tiles = tile_rows * tile_columns, batch = blockIdx.x / tiles;
    const Place place = place_of_tile(blockIdx.x % tiles, tile_rows, tile_columns, band);
    const u64 i = (u64(place.row) * (GROUP / 16) + threadIdx.x / 16) * block,
              j = (u64(place.column) * 16 + threadIdx.x % 16) * block;
    if (i >= p.m || j >= p.n) return;
    const u64 rows = p.m - i, columns = p.n - j;
    const Part part = part_of(&p, batch);
    a += part.a + i * p.a_row;
    b += part.b + j * p.b_column;
    T t[block][block] = {};
    for (u64 l = 0; l < part.k; ++l) {
        T of_a[block], of_b[block];
        // Rows and columns past the last repeat the last one; their results are not stored.
#pragma unroll
        for (u32 e = 0; e < block; ++e) {
            of_a[e] = a[min(u64(e), rows - 1) * p.a_row + l * p.a_column];
            of_b[e] = b[l * p.b_row + min(u64(e), columns - 1) * p.b_column];
        }
#pragma unroll
        for (u32 e = 0; e < block; ++e) {
#pragma unroll
            for (u32 f = 0; f < block; ++f) t[e][f] = fma(of_a[e], of_b[f], t[e][f]);
        }
    }
    store_block(p, t, c + batch * p.c_stride + i * p.c_pitch + j, rows, columns);
}

constexpr u32 side = TILE * block;  // side of a group's tile of C

extern "C" __global__ void __launch_bounds__(GROUP)
    matmul_blocks_tiled(const T* a, const T* b, T* c, const Product p, u32 tile_rows, u32 tile_columns, u32 band) {
    __shared__ T from_a[TILE][side];  // turned: a column of op(A) lies together
    __shared__ T from_b[TILE][side];
    const u32 tiles = tile_rows * tile_columns, batch = blockIdx.x / tiles;
    const Place place = place_of_tile(blockIdx.x % tiles, tile_rows, tile_columns, band);
    const u32 thread = threadIdx.x, x = thread % TILE, y = thread / TILE;
    const u64 row = u64(place.row) * side, column = u64(place.column) * side;
    const Part part = part_of(&p, batch);
    a += part.a + row * p.a_row;
    b += part.b + column * p.b_column;
    T t[block][block] = {};
    for (u64 begin = 0; begin < part.k; begin += TILE) {
        for (u32 at = thread; at < TILE * side; at += GROUP) {
            const u32 l = at % TILE, i = at / TILE;
            if (row + i < p.m && begin + l < part.k) from_a[l][i] = a[i * p.a_row + (begin + l) * p.a_column];
        }
        for (u32 at = thread; at < TILE * side; at += GROUP) {
            const u32 j = at % side, l = at / side;
            if (column + j < p.n && begin + l < part.k) from_b[l][j] = b[(begin + l) * p.b_row + j * p.b_column];
        }
        __syncthreads();
        const u32 count = u32(min(u64(TILE), part.k - begin));
        for (u32 l = 0; l < count; ++l) {
#pragma unroll
            for (u32 e = 0; e < block; ++e) {
#pragma unroll
                for (u32 f = 0; f < block; ++f)
                    t[e][f] = fma(from_a[l][y * block + e], from_b[l][x * block + f], t[e][f]);
            }
        }
        __syncthreads();
    }
    const u64 i = row + y * block, j = column + x * block;
    if (i >= p.m || j >= p.n) return;
    store_block(p, t, c + batch * p.c_stride + i * p.c_pitch + j, p.m - i, p.n - j);
}
