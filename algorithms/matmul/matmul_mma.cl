// Matmul, `register_tiled`, OpenCL C with inline PTX for f64 on tensor cores. Parallel source: matmul_mma.cu.
//
// Algorithm  That of matmul_mma.cu, with one barrier of the group per step. NVIDIA's OpenCL limits a group to 48 KiB of
//            local memory, so lines have no padding. Instead, packs of 4 elements change places within 128 bytes
//            (SWAPS): the lanes of half a warp that load 4 consecutive elements of each of 4 lines access different
//            banks.
// Modes      A_MODE and B_MODE: how the operands lie in memory. MODE_K: consecutive elements have consecutive l.
//            MODE_SIDE: they are consecutive rows of op(A) or columns of op(B). A_WIDTH and B_WIDTH: elements per
//            copy, 2 if all rows in memory are aligned to 16 bytes and have an even length, else 1.
// Passes     one; 2 m n k operations; k (1 / TILE_M + 1 / TILE_N) elements loaded per element of C.
// Tunables   matmul.tile selects WARPS_M x WARPS_N warps of 32 lanes, BLOCKS_M, BLOCKS_N, SLICE, DEPTH and STAGES; band
//            of place_of_tile.
// Source     NVIDIA, PTX ISA, cp.async and mma (layout of the blocks); M. Fasi, N. Higham, M. Mikaitis, S. Pranesh,
//            Numerical Behavior of NVIDIA Tensor Cores, 2021 (f64 rounds like IEEE 754).
//
// T: f64. CONCORD_CAPABILITY: compute capability, 90 for 9.0. Every element is one chain of fma, l ascending from 0.

#include "matmul_tile"
#include "tile_order"

#define MODE_K 0
#define MODE_SIDE 1

#define BLOCK_M 16
#define BLOCK_N 8
#define QUAD 4  // terms of a product that a lane's neighbours hold
#define TALL (CONCORD_CAPABILITY >= 90)  // one instruction computes a block of 16 rows, else of 8
#define WARP_M (BLOCKS_M * BLOCK_M)
#define WARP_N (BLOCKS_N * BLOCK_N)
#define TILE_M (WARPS_M * WARP_M)
#define TILE_N (WARPS_N * WARP_N)
#define SLICES (DEPTH / SLICE)
#if GROUP != WARPS_M * WARPS_N * 32 || DEPTH % SLICE != 0 || DEPTH > 16 || BLOCKS_N % 2 != 0
#error "a group consists of whole warps, a step of whole slices, a warp's columns of pairs of blocks"
#endif

// --- Copies ---------------------------------------------------------------------------------------------------------

// Lines of an operand in a stage, and where element (s, l) lies: in the line's pack of 4 elements that has the number
// of its own pack XOR SWAPS.
#define LENGTH(mode, side) ((mode) == MODE_K ? DEPTH : (side))
#define COUNT(mode, side) ((mode) == MODE_K ? (side) : DEPTH)
#define STAGE_OF(side) ((side) * DEPTH)
#define SWAPS(mode, s, l) ((mode) == MODE_K ? (s) * DEPTH / 16 % (DEPTH / 4) : (l) % 4)
#define AT(mode, side, s, l)                                                         \
    ((mode) == MODE_K ? (s) * DEPTH + ((l) ^ SWAPS(mode, s, l) * 4) : (l) * (side) + ((s) ^ SWAPS(mode, s, l) * 4))
#define STAGE (STAGE_OF(TILE_M) + STAGE_OF(TILE_N))

// Work-items that copy one line, lines that the group copies at once, and copies of a work-item per step.
#define LINE(mode, side, width) (LENGTH(mode, side) / (width))
#define LINES(mode, side, width) (GROUP / LINE(mode, side, width))
#define COPIES(mode, side, width) (COUNT(mode, side) / LINES(mode, side, width))

// Copies of one work-item per operand and step.
typedef struct {
    __global const T* from;
    u64 step;          // elements to the next copy
    u32 across, down;  // place of the first copy in its line, and number of this line
    i32 side_left, k_left;
} Copier;

// operand: first element of the tile; extent, k: number of elements from there on.
INLINED Copier copier_of(__global const T* operand, u64 pitch, u64 extent, u32 k, u32 mode, u32 side, u32 width) {
    const u32 across = get_local_id(0) % LINE(mode, side, width) * width;
    const u32 down = get_local_id(0) / LINE(mode, side, width);
    const Copier copier = {operand + down * pitch + across, LINES(mode, side, width) * pitch, across, down,
                           (i32)min(extent, (u64)side) - (i32)(mode == MODE_K ? down : across),
                           (i32)(k - (mode == MODE_K ? across : down))};
    return copier;
}

// Starts the copies of the next step to the stage at that address in local memory, and advances to the following step.
INLINED void copy_step(Copier* c, u32 stage, u32 mode, u32 side, u32 width) {
    __global const T* at = c->from;
#pragma unroll
    for (u32 i = 0; i < COPIES(mode, side, width); ++i) {
        const i32 first = (i32)(i * LINES(mode, side, width));
        const bool wanted =
            mode == MODE_K ? first < c->side_left && c->k_left > 0 : c->side_left > 0 && first < c->k_left;
        const u32 line = c->down + i * LINES(mode, side, width);
        const u32 at_line = mode == MODE_K ? AT(MODE_K, side, line, c->across) : AT(MODE_SIDE, side, c->across, line);
        const u32 to = stage + at_line * SIZE;
        if (width == 2) {
            const u32 bytes = wanted ? 16 : 0;
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(at), "r"(bytes) : "memory");
        } else {
            const u32 bytes = wanted ? 8 : 0;
            asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(to), "l"(at), "r"(bytes) : "memory");
        }
        at += c->step;
    }
    c->from = mode == MODE_K ? c->from + DEPTH : at;
    c->k_left -= DEPTH;
}

// Waits for the work-item's copies, except those of the last LATER_STEPS steps, then for the group.
#define TEXT_OF(number) #number
#define TEXT(macro) TEXT_OF(macro)
INLINED void await_step(void) {
    asm volatile("cp.async.wait_group " TEXT(LATER_STEPS) ";" ::: "memory");
    barrier(CLK_LOCAL_MEM_FENCE);
}

// --- Arithmetic -----------------------------------------------------------------------------------------------------

// SLICE: terms of a product, 4 or 8. Lane 4 y + x holds elements (y and y + 8, x + 4 e) of a block of A as items 2 e
// and 2 e + 1, (x + 4 e, y) of B as item e, and (y, 2 x), (y, 2 x + 1), (y + 8, 2 x), (y + 8, 2 x + 1) of C. They are
// vectors because the compiler may place arrays in memory.
#if SLICE == 8
typedef double4 SliceA;
typedef double2 SliceB;
#else
typedef double2 SliceA;
typedef double SliceB;
#endif

// Addresses of a lane's elements in a stage. Those of one pack differ from the first by a constant.
#define PACKS(mode) ((mode) == MODE_K ? DEPTH / QUAD : 2)
INLINED void lane_packs(u32* at, u32 mode, u32 side, u32 s, u32 l) {
#pragma unroll
    for (u32 e = 0; e < PACKS(mode); ++e)
        at[e] = mode == MODE_K ? AT(MODE_K, side, s, l + e * QUAD) : AT(MODE_SIDE, side, s + e * 8, l);
}
// The element 8 * s rows or columns and QUAD * l terms from the lane's first.
INLINED u32 lane_element(const u32* at, u32 mode, u32 side, u32 s, u32 l) {
    return mode == MODE_K ? at[l] + s * 8 * DEPTH : at[s % 2] + s / 2 * 16 + l * QUAD * side;
}

// Adds the product of 4 terms to a block of C.
INLINED void multiply_quad(T* t, T a0, T a1, T b) {
#if TALL
    asm volatile("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                 : "+d"(t[0]), "+d"(t[1]), "+d"(t[2]), "+d"(t[3])
                 : "d"(a0), "d"(a1), "d"(b));
#else
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+d"(t[0]), "+d"(t[1])
                 : "d"(a0), "d"(b));
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+d"(t[2]), "+d"(t[3])
                 : "d"(a1), "d"(b));
#endif
}

// Adds the product of a slice of a block of A and a block of B to a block of C.
INLINED void multiply_slice(T* t, SliceA a, SliceB b) {
#if SLICE == 4
    multiply_quad(t, a.s0, a.s1, b);
#elif TALL
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+d"(t[0]), "+d"(t[1]), "+d"(t[2]), "+d"(t[3])
        : "d"(a.s0), "d"(a.s1), "d"(a.s2), "d"(a.s3), "d"(b.s0), "d"(b.s1));
#else
    multiply_quad(t, a.s0, a.s1, b.s0);
    multiply_quad(t, a.s2, a.s3, b.s1);
#endif
}

// Stores two neighbours in a row of C; only `left` elements exist. packs: rows of C are aligned to 16 bytes.
INLINED void store_pair(const Product* p, const T* t, __global T* c, u64 left, bool packs) {
    if (packs && left >= 2) {
        double2 out = (double2)(t[0], t[1]);
        if (p->beta == 0)
            out = p->alpha * out;
        else
            out = fma((double2)(p->alpha), out, p->beta * *(__global const double2*)c);
        *(__global double2*)c = (double2)(canonical(out.x), canonical(out.y));
        return;
    }
    finish(p, t[0], c);
    if (left >= 2) finish(p, t[1], c + 1);
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void matmul_mma(__global const T* a, ulong a_at, __global const T* b, ulong b_at, __global T* c, ulong c_at,
                const Product p, u32 tile_rows, u32 tile_columns, u32 band, u32 c_packs) {
    __local T stages[STAGES * STAGE] __attribute__((aligned(16)));
    const u32 first_stage = (u32)(size_t)stages;
    const u32 tiles = tile_rows * tile_columns, group = get_group_id(0), batch = group / tiles;
    const Place place = place_of_tile(group % tiles, tile_rows, tile_columns, band);
    const u64 row = (u64)place.row * TILE_M, column = (u64)place.column * TILE_N;
    const u64 m = p.m - row, n = p.n - column;
    const Part part = part_of(&p, batch);
    const u32 k = (u32)part.k;
    a += a_at + part.a + row * p.a_row;
    b += b_at + part.b + column * p.b_column;
    c += c_at + batch * p.c_stride + row * p.c_pitch + column;
    Copier of_a = copier_of(a, A_MODE == MODE_K ? p.a_row : p.a_column, m, k, A_MODE, TILE_M, A_WIDTH);
    Copier of_b = copier_of(b, B_MODE == MODE_K ? p.b_column : p.b_row, n, k, B_MODE, TILE_N, B_WIDTH);
#define COPY(stage)                                                                                                \
    copy_step(&of_a, first_stage + (stage) * (STAGE * SIZE), A_MODE, TILE_M, A_WIDTH);                             \
    copy_step(&of_b, first_stage + (stage) * (STAGE * SIZE) + STAGE_OF(TILE_M) * SIZE, B_MODE, TILE_N, B_WIDTH);   \
    asm volatile("cp.async.commit_group;" ::: "memory")

    const u32 lane = get_local_id(0) % 32, warp = get_local_id(0) / 32, x = lane % 4, y = lane / 4;
    const u32 i = warp % WARPS_M * WARP_M, j = warp / WARPS_M * WARP_N;
    u32 lane_a[PACKS(A_MODE)], lane_b[PACKS(B_MODE)];
    lane_packs(lane_a, A_MODE, TILE_M, i + y, x);
    lane_packs(lane_b, B_MODE, TILE_N, j + y, x);
#define ELEMENT_A(stage, s, l) stages[(stage) * STAGE + lane_element(lane_a, A_MODE, TILE_M, s, l)]
#define ELEMENT_B(stage, s, l) stages[(stage) * STAGE + STAGE_OF(TILE_M) + lane_element(lane_b, B_MODE, TILE_N, s, l)]
    T t[BLOCKS_M][BLOCKS_N][4];
#pragma unroll
    for (u32 g = 0; g < BLOCKS_M; ++g) {
#pragma unroll
        for (u32 f = 0; f < BLOCKS_N; ++f) {
#pragma unroll
            for (u32 e = 0; e < 4; ++e) t[g][f][e] = 0;
        }
    }
    SliceA now_a, next_a;
    SliceB now_b[BLOCKS_N], next_b[BLOCKS_N];
#if SLICE == 8
#define LOAD_A(to, stage, g, slice)                                                                            \
    to = (SliceA)(ELEMENT_A(stage, (g) * 2, (slice) * 2), ELEMENT_A(stage, (g) * 2 + 1, (slice) * 2),           \
                  ELEMENT_A(stage, (g) * 2, (slice) * 2 + 1), ELEMENT_A(stage, (g) * 2 + 1, (slice) * 2 + 1))
#define LOAD_BLOCK_B(stage, f, slice) (SliceB)(ELEMENT_B(stage, f, (slice) * 2), ELEMENT_B(stage, f, (slice) * 2 + 1))
#else
#define LOAD_A(to, stage, g, slice) \
    to = (SliceA)(ELEMENT_A(stage, (g) * 2, slice), ELEMENT_A(stage, (g) * 2 + 1, slice))
#define LOAD_BLOCK_B(stage, f, slice) ELEMENT_B(stage, f, slice)
#endif
#define LOAD_B(to, stage, slice) \
    _Pragma("unroll") for (u32 f = 0; f < BLOCKS_N; ++f) to[f] = LOAD_BLOCK_B(stage, f, slice)

    // Prologue: start the copies of steps 0 ... STAGES - 2 and wait for the first.
    u32 reads = 0, writes = STAGES - 1;
#pragma unroll
    for (u32 s = 0; s < STAGES - 1; ++s) {
        COPY(s);
    }
    await_step();
    LOAD_A(now_a, 0, 0, 0);
    LOAD_B(now_b, 0, 0);
    const u32 whole = k / DEPTH, rest = k % DEPTH;
#pragma unroll 1
    for (u32 step = 0; step < whole; ++step) {
        COPY(writes);
        writes = writes + 1 == STAGES ? 0 : writes + 1;
#pragma unroll
        for (u32 turn = 0; turn < SLICES * BLOCKS_M; ++turn) {
            const u32 g = turn % BLOCKS_M, next_slice = (turn + 1) / BLOCKS_M % SLICES;
            if (turn == SLICES * BLOCKS_M - 1) {
                // Everything of this step is in registers, so its stage may be overwritten. Wait for the next step.
                await_step();
                reads = reads + 1 == STAGES ? 0 : reads + 1;
            }
            LOAD_A(next_a, reads, (g + 1) % BLOCKS_M, next_slice);
            if (g == BLOCKS_M - 1) {
                LOAD_B(next_b, reads, next_slice);
            }
#pragma unroll
            for (u32 f = 0; f < BLOCKS_N; ++f) multiply_slice(t[g][f], now_a, now_b[f]);
            now_a = next_a;
            if (g < BLOCKS_M - 1) continue;
#pragma unroll
            for (u32 f = 0; f < BLOCKS_N; ++f) now_b[f] = next_b[f];
        }
    }
#pragma unroll 1
    for (u32 l = 0; l < rest; l += QUAD) {
        const bool past = l + x >= rest;  // there B is +0
        T last_b[BLOCKS_N];
#pragma unroll
        for (u32 f = 0; f < BLOCKS_N; ++f)
            last_b[f] = stages[reads * STAGE + STAGE_OF(TILE_M) + AT(B_MODE, TILE_N, j + f * BLOCK_N + y, l + x)];
#pragma unroll
        for (u32 g = 0; g < BLOCKS_M; ++g) {
            const u32 s = i + g * BLOCK_M + y;
            const T high = past ? -0.0 : stages[reads * STAGE + AT(A_MODE, TILE_M, s, l + x)];
            const T low = past ? -0.0 : stages[reads * STAGE + AT(A_MODE, TILE_M, s + 8, l + x)];
#pragma unroll
            for (u32 f = 0; f < BLOCKS_N; ++f) multiply_quad(t[g][f], high, low, last_b[f]);
        }
    }

#pragma unroll
    for (u32 g = 0; g < BLOCKS_M; ++g) {
#pragma unroll
        for (u32 h = 0; h < 2; ++h) {
            const u32 down = i + g * BLOCK_M + h * 8 + y;
            if (down >= m) continue;
#pragma unroll
            for (u32 f = 0; f < BLOCKS_N; ++f) {
                const u32 across = j + f * BLOCK_N + 2 * x;
                if (across >= n) continue;
                store_pair(&p, &t[g][f][2 * h], c + down * p.c_pitch + across, n - across, c_packs != 0);
            }
        }
    }
}
