// Matmul, `register_tiled`, OpenCL C. Parallel text: matmul.cu.
//
// Algorithm  A group takes a tile of C, and goes through k in steps of DEPTH: what it needs of A and B at the next step is
//            loaded to registers before it multiplies this one's, and stored after that to the other of two stages in
//            local memory, turned so that a column of op(A) and a row of op(B) lie together. A lane has PACKS_M x
//            PACKS_N packs of elements of C in registers, a pack being 16 bytes down by 16 bytes across, lanes of a warp
//            8 down and 4 across. Neighbouring lanes (1 apart where A is loaded, 2 where B is) load the same pack.
//            Past the edge of A and B zeros are taken: what is computed of them is not stored. Of the last step only what
//            there is of k is multiplied, so that every element's chain is exactly k long.
// Modes      how an operand lies: MODE_K: elements that follow one another have consecutive l; MODE_SIDE: consecutive
//            rows of op(A) or columns of op(B).
// Passes     one; 2 m n k operations; k (1 / TILE_M + 1 / TILE_N) elements loaded an element of C.
// Tunables   WARPS_M x WARPS_N warps of 32 lanes, PACKS_M, PACKS_N, DEPTH, band of place_of_tile.
// Source     V. Volkov, J. Demmel, Benchmarking GPUs to Tune Dense Linear Algebra, 2008; the lanes' order after S. Gray,
//            maxas, SGEMM, 2014.
//
// T: element type, of SIZE bytes; P: a pack of them. One chain of fma an element, l from 0 up.

#define MODE_K 0

#define PACK (16 / SIZE)
#define LANES_M 8
#define LANES_N 4
#define ROWS (PACKS_M * PACK)  // of a lane
#define COLUMNS (PACKS_N * PACK)
#define WARP_M (LANES_M * ROWS)
#define WARP_N (LANES_N * COLUMNS)
#define TILE_M (WARPS_M * WARP_M)
#define TILE_N (WARPS_N * WARP_N)
// A pack after each row: lanes that store a column of 8 elements then meet all banks.
#define PITCH_M (TILE_M + PACK)
#define PITCH_N (TILE_N + PACK)

#define COPIES_A (DEPTH * TILE_M / GROUP)
#define COPIES_B (DEPTH * TILE_N / GROUP)

typedef union {
    P all;
    T item[PACK];
} Pack;

// Which element of a step a lane copies: SIDE x DEPTH of them.
INLINED u32 side_of(u32 mode, u32 side, u32 copy) {
    const u32 at = get_local_id(0) + copy * GROUP;
    return mode == MODE_K ? at / DEPTH : at % side;
}
INLINED u32 l_of(u32 mode, u32 side, u32 copy) {
    const u32 at = get_local_id(0) + copy * GROUP;
    return mode == MODE_K ? at % DEPTH : at / side;
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
    a += a_at + batch * p.a_stride + row * p.a_row;
    b += b_at + batch * p.b_stride + column * p.b_column;
    c += c_at + batch * p.c_stride + row * p.c_pitch + column;
    const u32 lane = get_local_id(0) % 32, warp = get_local_id(0) / 32;
    // Lanes: bit 0 and bit 4 go across, bits 1 to 3 down.
    const u32 i = warp % WARPS_M * WARP_M + (lane >> 1 & 7) * PACK,
              j = warp / WARPS_M * WARP_N + ((lane & 1) | (lane >> 3 & 2)) * PACK;

    T t[ROWS][COLUMNS];
#pragma unroll
    for (u32 e = 0; e < ROWS; ++e) {
#pragma unroll
        for (u32 f = 0; f < COLUMNS; ++f) t[e][f] = 0;
    }
    T next_a[COPIES_A], next_b[COPIES_B];
    const u64 steps = (p.k + DEPTH - 1) / DEPTH;
    for (u64 step = 0; step <= steps; ++step) {
        // The first turn only loads, the last one only multiplies.
        const u64 begin = step * DEPTH;
        if (step < steps) {
#pragma unroll
            for (u32 q = 0; q < COPIES_A; ++q) {
                const u32 s = side_of(A_MODE, TILE_M, q);
                const u64 l = begin + l_of(A_MODE, TILE_M, q);
                next_a[q] = s < m && l < p.k ? a[s * p.a_row + l * p.a_column] : 0;
            }
#pragma unroll
            for (u32 q = 0; q < COPIES_B; ++q) {
                const u32 s = side_of(B_MODE, TILE_N, q);
                const u64 l = begin + l_of(B_MODE, TILE_N, q);
                next_b[q] = s < n && l < p.k ? b[l * p.b_row + s * p.b_column] : 0;
            }
        }
        if (step > 0) {
            __local const T* from_a = stage_a[(step - 1) % 2] + i;
            __local const T* from_b = stage_b[(step - 1) % 2] + j;
            const u32 depth = (u32)min((u64)DEPTH, p.k - (begin - DEPTH));
#pragma unroll DEPTH
            for (u32 l = 0; l < depth; ++l, from_a += PITCH_M, from_b += PITCH_N) {
                Pack of_a[PACKS_M], of_b[PACKS_N];
#pragma unroll
                for (u32 q = 0; q < PACKS_M; ++q) of_a[q].all = *(__local const P*)(from_a + q * (LANES_M * PACK));
#pragma unroll
                for (u32 q = 0; q < PACKS_N; ++q) of_b[q].all = *(__local const P*)(from_b + q * (LANES_N * PACK));
#pragma unroll
                for (u32 e = 0; e < ROWS; ++e) {
#pragma unroll
                    for (u32 f = 0; f < COLUMNS; ++f)
                        t[e][f] = fma(of_a[e / PACK].item[e % PACK], of_b[f / PACK].item[f % PACK], t[e][f]);
                }
            }
        }
        // Nobody reads this stage: what was in it was multiplied before the last barrier.
        if (step < steps) {
#pragma unroll
            for (u32 q = 0; q < COPIES_A; ++q)
                stage_a[step % 2][l_of(A_MODE, TILE_M, q) * PITCH_M + side_of(A_MODE, TILE_M, q)] = next_a[q];
#pragma unroll
            for (u32 q = 0; q < COPIES_B; ++q)
                stage_b[step % 2][l_of(B_MODE, TILE_N, q) * PITCH_N + side_of(B_MODE, TILE_N, q)] = next_b[q];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
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
