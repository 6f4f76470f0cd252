// Matmul, textbook steps, OpenCL C. Parallel source: matmul_steps.cu.
//
// naive         one element of C per work-item, adjacent work-items in one row: 2 elements loaded from global memory
//               per fma.
// tiled         tiles of A and B pass through local memory: 2 / TILE elements loaded from global memory per fma, 2
//               from local memory.
// blocks        BLOCK x BLOCK elements of C per work-item, in vector registers, one per row, no local memory: 2 /
//               BLOCK loaded per fma.
// blocks_tiled  both: a group of TILE x TILE work-items computes BLOCK x BLOCK elements per work-item; 2 / (TILE *
//               BLOCK) loaded from global memory per fma, 2 / BLOCK from local memory.
// Passes        one; 2 m n k operations.
// Tunables      none; GROUP work-items, TILE = sqrt(GROUP), BLOCK 4.
// Source        V. Volkov, J. Demmel, Benchmarking GPUs to Tune Dense Linear Algebra, 2008.
//
// T: element type; V: vector of four elements. Every element is one chain of fma, l ascending from 0.

#include "matmul_tile"
#include "tile_order"

#define BLOCK 4

// A group computes GROUP / 32 x 32 elements.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void matmul_naive(__global const T* a, ulong a_at, __global const T* b, ulong b_at, __global T* c, ulong c_at,
                  const Product p, u32 tile_rows, u32 tile_columns, u32 band) {
    const u32 tiles = tile_rows * tile_columns, group = get_group_id(0), batch = group / tiles;
    const Place place = place_of_tile(group % tiles, tile_rows, tile_columns, band);
    const u64 i = (u64)place.row * (GROUP / 32) + get_local_id(0) / 32, j = (u64)place.column * 32 + get_local_id(0) % 32;
    if (i >= p.m || j >= p.n) return;
    const Part part = part_of(&p, batch);
    a += a_at + part.a + i * p.a_row;
    b += b_at + part.b + j * p.b_column;
    T t = 0;
    for (u64 l = 0; l < part.k; ++l) t = fma(a[l * p.a_column], b[l * p.b_row], t);
    finish(&p, t, c + c_at + batch * p.c_stride + i * p.c_pitch + j);
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void matmul_tiled(__global const T* a, ulong a_at, __global const T* b, ulong b_at, __global T* c, ulong c_at,
                  const Product p, u32 tile_rows, u32 tile_columns, u32 band) {
    __local T from_a[TILE][TILE], from_b[TILE][TILE];
    const u32 tiles = tile_rows * tile_columns, group = get_group_id(0), batch = group / tiles;
    const Place place = place_of_tile(group % tiles, tile_rows, tile_columns, band);
    const u32 x = get_local_id(0) % TILE, y = get_local_id(0) / TILE;
    const u64 i = (u64)place.row * TILE + y, j = (u64)place.column * TILE + x;
    const Part part = part_of(&p, batch);
    a += a_at + part.a;
    b += b_at + part.b;
    T t = 0;
    for (u64 begin = 0; begin < part.k; begin += TILE) {
        if (i < p.m && begin + x < part.k) from_a[y][x] = a[i * p.a_row + (begin + x) * p.a_column];
        if (begin + y < part.k && j < p.n) from_b[y][x] = b[(begin + y) * p.b_row + j * p.b_column];
        barrier(CLK_LOCAL_MEM_FENCE);
        const u32 count = (u32)min((u64)TILE, part.k - begin);
        for (u32 l = 0; l < count; ++l) t = fma(from_a[y][l], from_b[l][x], t);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (i < p.m && j < p.n) finish(&p, t, c + c_at + batch * p.c_stride + i * p.c_pitch + j);
}

typedef union {
    V all;
    T item[BLOCK];
} Row;

// Loads four elements of a row of op(B); only `columns` exist.
INLINED V load_row(__global const T* b, u64 step, u64 columns) {
    if (step == 1 && columns >= BLOCK) return vload4(0, b);
    Row row;
    row.all = 0;
    for (u32 j = 0; j < BLOCK; ++j) {
        if (j < columns) row.item[j] = b[j * step];
    }
    return row.all;
}

INLINED void store_row(const Product* p, V t, __global T* c, u64 columns) {
    Row row;
    row.all = t;
    for (u32 j = 0; j < BLOCK; ++j) {
        if (j < columns) finish(p, row.item[j], c + j);
    }
}

// A group computes GROUP / 16 x 16 blocks.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void matmul_blocks(__global const T* a, ulong a_at, __global const T* b, ulong b_at, __global T* c, ulong c_at,
                   const Product p, u32 tile_rows, u32 tile_columns, u32 band) {
    const u32 tiles = tile_rows * tile_columns, group = get_group_id(0), batch = group / tiles;
    const Place place = place_of_tile(group % tiles, tile_rows, tile_columns, band);
    const u64 i = ((u64)place.row * (GROUP / 16) + get_local_id(0) / 16) * BLOCK,
              j = ((u64)place.column * 16 + get_local_id(0) % 16) * BLOCK;
    if (i >= p.m || j >= p.n) return;
    const u64 last = p.m - 1 - i;  // rows past it repeat it and are not stored
    const Part part = part_of(&p, batch);
    a += a_at + part.a + i * p.a_row;
    b += b_at + part.b + j * p.b_column;
    c += c_at + batch * p.c_stride + i * p.c_pitch + j;
    V t0 = 0, t1 = 0, t2 = 0, t3 = 0;
    __global const T* a1 = a + min((u64)1, last) * p.a_row;
    __global const T* a2 = a + min((u64)2, last) * p.a_row;
    __global const T* a3 = a + min((u64)3, last) * p.a_row;
    for (u64 l = 0; l < part.k; ++l) {
        const V row = load_row(b + l * p.b_row, p.b_column, p.n - j);
        const u64 at = l * p.a_column;
        t0 = fma((V)(a[at]), row, t0);
        t1 = fma((V)(a1[at]), row, t1);
        t2 = fma((V)(a2[at]), row, t2);
        t3 = fma((V)(a3[at]), row, t3);
    }
    store_row(&p, t0, c, p.n - j);
    if (last >= 1) store_row(&p, t1, c + p.c_pitch, p.n - j);
    if (last >= 2) store_row(&p, t2, c + 2 * p.c_pitch, p.n - j);
    if (last >= 3) store_row(&p, t3, c + 3 * p.c_pitch, p.n - j);
}

#define SIDE (TILE * BLOCK)  // side of a group's tile of C

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void matmul_blocks_tiled(__global const T* a, ulong a_at, __global const T* b, ulong b_at, __global T* c, ulong c_at,
                         const Product p, u32 tile_rows, u32 tile_columns, u32 band) {
    __local T from_a[TILE][SIDE];  // transposed: a column of op(A) is contiguous
    __local T from_b[TILE][SIDE];
    const u32 tiles = tile_rows * tile_columns, group = get_group_id(0), batch = group / tiles;
    const Place place = place_of_tile(group % tiles, tile_rows, tile_columns, band);
    const u32 local_id = get_local_id(0), x = local_id % TILE, y = local_id / TILE;
    const u64 row = (u64)place.row * SIDE, column = (u64)place.column * SIDE;
    const Part part = part_of(&p, batch);
    a += a_at + part.a + row * p.a_row;
    b += b_at + part.b + column * p.b_column;
    V t0 = 0, t1 = 0, t2 = 0, t3 = 0;
    for (u64 begin = 0; begin < part.k; begin += TILE) {
        for (u32 at = local_id; at < TILE * SIDE; at += GROUP) {
            const u32 l = at % TILE, i = at / TILE;
            if (row + i < p.m && begin + l < part.k) from_a[l][i] = a[i * p.a_row + (begin + l) * p.a_column];
        }
        for (u32 at = local_id; at < TILE * SIDE; at += GROUP) {
            const u32 j = at % SIDE, l = at / SIDE;
            if (column + j < p.n && begin + l < part.k) from_b[l][j] = b[(begin + l) * p.b_row + j * p.b_column];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        const u32 count = (u32)min((u64)TILE, part.k - begin);
        for (u32 l = 0; l < count; ++l) {
            const V of_b = vload4(x, from_b[l]);
            t0 = fma((V)(from_a[l][y * BLOCK]), of_b, t0);
            t1 = fma((V)(from_a[l][y * BLOCK + 1]), of_b, t1);
            t2 = fma((V)(from_a[l][y * BLOCK + 2]), of_b, t2);
            t3 = fma((V)(from_a[l][y * BLOCK + 3]), of_b, t3);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    const u64 i = row + y * BLOCK, j = column + x * BLOCK;
    if (i >= p.m || j >= p.n) return;
    c += c_at + batch * p.c_stride + i * p.c_pitch + j;
    store_row(&p, t0, c, p.n - j);
    if (i + 1 < p.m) store_row(&p, t1, c + p.c_pitch, p.n - j);
    if (i + 2 < p.m) store_row(&p, t2, c + 2 * p.c_pitch, p.n - j);
    if (i + 3 < p.m) store_row(&p, t3, c + 3 * p.c_pitch, p.n - j);
}
