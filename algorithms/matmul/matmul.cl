// Matmul, `register_tiled`, OpenCL C. Parallel source: matmul.cu.
//
// Algorithm  A group computes a tile of C and advances along k in steps of DEPTH. A work-item loads its part of the
//            next step to registers, multiplies the current step, then stores that part to the other of two stages in
//            local memory. A stage is transposed so that a column of op(A) and a row of op(B) are contiguous. A
//            work-item holds PACKS_M x PACKS_N packs of elements of C in registers; a pack is 16 bytes high and 16
//            bytes wide. The lanes of a warp are 8 down and 4 across. For each l a work-item loads PACKS_M + PACKS_N
//            packs, while it multiplies those of the previous l. Neighbouring lanes (1 apart for A, 2 apart for B)
//            load the same pack. Past the edges of A and B a work-item loads the edge again; results computed from
//            there are not stored. The last k % DEPTH steps are a separate loop, so that every chain has exactly k
//            terms.
// Modes      How an operand is loaded. MODE_K: consecutive elements in memory have consecutive l. MODE_SIDE: they are
//            consecutive rows of op(A) or columns of op(B). MODE_PACKS, MODE_K_PACKS: MODE_SIDE and MODE_K in whole,
//            aligned packs.
// Passes     one; 2 m n k operations; k (1 / TILE_M + 1 / TILE_N) elements loaded per element of C.
// Tunables   matmul.tile selects WARPS_M x WARPS_N warps of 32 lanes, PACKS_M, PACKS_N and DEPTH; band of
//            place_of_tile.
// Source     V. Volkov, J. Demmel, Benchmarking GPUs to Tune Dense Linear Algebra, 2008; order of lanes after S.
//            Gray, maxas, SGEMM, 2014.
//
// T: element type of SIZE bytes; P: a pack. Every element is one chain of fma, l ascending from 0.

#include "matmul_tile"
#include "tile_order"

#define MODE_K 0
#define MODE_SIDE 1
#define MODE_PACKS 2
#define MODE_K_PACKS 3

#define PACK (16 / SIZE)
#define LANES_M 8
#define LANES_N 4
#define ROWS (PACKS_M * PACK)  // per work-item
#define COLUMNS (PACKS_N * PACK)
#define WARP_M (LANES_M * ROWS)
#define WARP_N (LANES_N * COLUMNS)
#define TILE_M (WARPS_M * WARP_M)
#define TILE_N (WARPS_N * WARP_N)
// One pack of padding per row: lanes that store a column of 8 elements access different banks.
#define PITCH_M (TILE_M + PACK)
#define PITCH_N (TILE_N + PACK)

typedef union {
    P all;
    T item[PACK];
} Pack;

// --- Copies ---------------------------------------------------------------------------------------------------------

// Copies of one work-item per operand and step. The group copies SIDE x DEPTH elements, WIDTH per copy. LINE adjacent
// work-items copy one line, along k or along the side. Consecutive copies of a work-item are GROUP / LINE lines
// apart.
#define ALONG_K(mode) ((mode) == MODE_K || (mode) == MODE_K_PACKS)
#define WIDTH(mode) ((mode) >= MODE_PACKS ? PACK : 1)
#define LINE(mode, side) ((ALONG_K(mode) ? DEPTH : (side)) / WIDTH(mode))
#define COPIES(mode, side) (DEPTH * (side) / (WIDTH(mode) * GROUP))
#if DEPTH * TILE_M % (WIDTH(A_MODE) * GROUP) != 0 || DEPTH * TILE_N % (WIDTH(B_MODE) * GROUP) != 0
#error "the copies of a step must divide evenly among the work-items"
#endif

// Position of the work-item's copy `q` in a step: along the side and along k.
INLINED u32 side_of(u32 mode, u32 side, u32 q) {
    const u32 at = get_local_id(0) + q * GROUP, line = LINE(mode, side);
    return ALONG_K(mode) ? at / line : at % line * WIDTH(mode);
}
INLINED u32 l_of(u32 mode, u32 side, u32 q) {
    const u32 at = get_local_id(0) + q * GROUP, line = LINE(mode, side);
    return ALONG_K(mode) ? at % line * WIDTH(mode) : at / line;
}

// Sets the addresses of the work-item's copies for the first step. `left` rows of op(A) or columns of op(B) exist, at
// least one.
INLINED void begin_copies(__global const T** from, __global const T* operand, u64 side_pitch, u64 l_pitch, u64 left,
                          u32 mode, u32 side) {
#pragma unroll
    for (u32 q = 0; q < COPIES(mode, side); ++q) {
        const u64 s = min((u64)side_of(mode, side, q), left - (ALONG_K(mode) ? 1 : WIDTH(mode)));
        from[q] = operand + s * side_pitch + l_of(mode, side, q) * l_pitch;
    }
}

// Loads a whole step to registers and advances the addresses to the next step.
INLINED void load_step(T* next, __global const T** from, u64 l_pitch, u32 mode, u32 side) {
#pragma unroll
    for (u32 q = 0; q < COPIES(mode, side); ++q) {
        if (WIDTH(mode) == PACK) {
            Pack loaded;
            loaded.all = *(__global const P*)from[q];
#pragma unroll
            for (u32 e = 0; e < PACK; ++e) next[q * PACK + e] = loaded.item[e];
        } else {
            next[q] = *from[q];
        }
        from[q] += DEPTH * l_pitch;
    }
}

// Stores what load_step() loaded to a stage.
INLINED void store_step(__local T* stage, const T* next, u32 mode, u32 side, u32 pitch) {
#pragma unroll
    for (u32 q = 0; q < COPIES(mode, side); ++q) {
        __local T* const to = stage + l_of(mode, side, q) * pitch + side_of(mode, side, q);
        if (mode == MODE_PACKS) {
            Pack stored;
#pragma unroll
            for (u32 e = 0; e < PACK; ++e) stored.item[e] = next[q * PACK + e];
            *(__local P*)to = stored.all;
        } else {
#pragma unroll
            for (u32 e = 0; e < WIDTH(mode); ++e) to[e * pitch] = next[q * WIDTH(mode) + e];
        }
    }
}

// Copies the last `rest` steps of k from global memory to a stage.
INLINED void copy_rest(__local T* stage, __global const T** from, u32 rest, u32 mode, u32 side, u32 pitch) {
    for (u32 q = 0; q < COPIES(mode, side); ++q) {
        const u32 l = l_of(mode, side, q);
        __local T* const to = stage + l * pitch + side_of(mode, side, q);
        for (u32 e = 0; e < WIDTH(mode); ++e) {
            if ((ALONG_K(mode) ? l + e : l) < rest) to[ALONG_K(mode) ? e * pitch : e] = from[q][e];
        }
    }
}

// --- Arithmetic -----------------------------------------------------------------------------------------------------

// Loads a work-item's packs of one l. They are `stride` elements apart, so that adjacent lanes load adjacent packs.
INLINED void load_packs(Pack* to, __local const T* from, u32 packs, u32 stride) {
#pragma unroll
    for (u32 q = 0; q < packs; ++q) to[q].all = *(__local const P*)(from + q * stride);
}

INLINED void multiply(T (*t)[COLUMNS], const Pack* of_a, const Pack* of_b) {
#pragma unroll
    for (u32 e = 0; e < ROWS; ++e) {
#pragma unroll
        for (u32 f = 0; f < COLUMNS; ++f)
            t[e][f] = fma(of_a[e / PACK].item[e % PACK], of_b[f / PACK].item[f % PACK], t[e][f]);
    }
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void matmul_register_tiled(__global const T* a, ulong a_at, __global const T* b, ulong b_at, __global T* c,
                           ulong c_at, const Product p, u32 tile_rows, u32 tile_columns, u32 band) {
    __local T stage_a[2][DEPTH * PITCH_M] __attribute__((aligned(16)));
    __local T stage_b[2][DEPTH * PITCH_N] __attribute__((aligned(16)));
    const u32 tiles = tile_rows * tile_columns, group = get_group_id(0), batch = group / tiles;
    const Place place = place_of_tile(group % tiles, tile_rows, tile_columns, band);
    const u64 row = (u64)place.row * TILE_M, column = (u64)place.column * TILE_N;
    const u64 m = p.m - row, n = p.n - column;
    const Part part = part_of(&p, batch);
    a += a_at + part.a + row * p.a_row;
    b += b_at + part.b + column * p.b_column;
    c += c_at + batch * p.c_stride + row * p.c_pitch + column;
    const u32 lane = get_local_id(0) % 32, warp = get_local_id(0) / 32;
    // Bits 0 and 4 of the lane select the column, bits 1 to 3 the row.
    const u32 i = warp % WARPS_M * WARP_M + (lane >> 1 & 7) * PACK,
              j = warp / WARPS_M * WARP_N + ((lane & 1) | (lane >> 3 & 2)) * PACK;

    T t[ROWS][COLUMNS];
#pragma unroll
    for (u32 e = 0; e < ROWS; ++e) {
#pragma unroll
        for (u32 f = 0; f < COLUMNS; ++f) t[e][f] = 0;
    }
    __global const T *from_a[COPIES(A_MODE, TILE_M)], *from_b[COPIES(B_MODE, TILE_N)];
    begin_copies(from_a, a, p.a_row, p.a_column, m, A_MODE, TILE_M);
    begin_copies(from_b, b, p.b_column, p.b_row, n, B_MODE, TILE_N);
    T next_a[COPIES(A_MODE, TILE_M) * WIDTH(A_MODE)], next_b[COPIES(B_MODE, TILE_N) * WIDTH(B_MODE)];
    Pack of_a[2][PACKS_M], of_b[2][PACKS_N];
#define LOAD_STEP()                                             \
    load_step(next_a, from_a, p.a_column, A_MODE, TILE_M);      \
    load_step(next_b, from_b, p.b_row, B_MODE, TILE_N)
#define STORE_STEP(stage)                                              \
    store_step(stage_a[stage], next_a, A_MODE, TILE_M, PITCH_M);       \
    store_step(stage_b[stage], next_b, B_MODE, TILE_N, PITCH_N)
#define LOAD_PACKS(half, stage, l)                                                          \
    load_packs(of_a[half], stage_a[stage] + (l) * PITCH_M + i, PACKS_M, LANES_M * PACK);    \
    load_packs(of_b[half], stage_b[stage] + (l) * PITCH_N + j, PACKS_N, LANES_N * PACK)

    const u32 whole = (u32)(part.k / DEPTH), rest = (u32)(part.k % DEPTH);
    if (whole > 0) {
        LOAD_STEP();
        STORE_STEP(0);
        barrier(CLK_LOCAL_MEM_FENCE);
        LOAD_PACKS(0, 0, 0);
        for (u32 step = 1; step < whole; ++step) {
            const u32 reads = (step - 1) % 2, writes = step % 2;
            LOAD_STEP();
#pragma unroll
            for (u32 l = 0; l < DEPTH - 1; ++l) {
                LOAD_PACKS((l + 1) % 2, reads, l + 1);
                multiply(t, of_a[l % 2], of_b[l % 2]);
            }
            // The stage is free: its packs were in registers before the last barrier.
            STORE_STEP(writes);
            barrier(CLK_LOCAL_MEM_FENCE);
            LOAD_PACKS(DEPTH % 2, writes, 0);
            multiply(t, of_a[(DEPTH - 1) % 2], of_b[(DEPTH - 1) % 2]);
        }
#pragma unroll 1
        for (u32 l = 0; l < DEPTH; ++l) {
            LOAD_PACKS(0, (whole - 1) % 2, l);
            multiply(t, of_a[0], of_b[0]);
        }
    }
    if (rest > 0) {
        copy_rest(stage_a[whole % 2], from_a, rest, A_MODE, TILE_M, PITCH_M);
        copy_rest(stage_b[whole % 2], from_b, rest, B_MODE, TILE_N, PITCH_N);
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll 1
        for (u32 l = 0; l < rest; ++l) {
            LOAD_PACKS(0, whole % 2, l);
            multiply(t, of_a[0], of_b[0]);
        }
    }

#pragma unroll
    for (u32 e = 0; e < ROWS; ++e) {
        const u32 down = i + e / PACK * (LANES_M * PACK) + e % PACK;
#pragma unroll
        for (u32 f = 0; f < COLUMNS; ++f) {
            const u32 across = j + f / PACK * (LANES_N * PACK) + f % PACK;
            if (down < m && across < n) finish(&p, t[e][f], c + down * p.c_pitch + across);
        }
    }
}
