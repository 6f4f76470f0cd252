// Transpose, `vectorized`, OpenCL C. Parallel source: transpose.cu. Thin matrices: transpose_thin.cl.
//
// Algorithm  A group moves a tile of TILE x TILE elements through local memory in accesses of 16 bytes, PACK
//            elements each. A work-item loads a block of PACK packs, one per row, transposes it in registers and
//            stores it to the stage, which holds the transpose of the tile. Then the group stores the rows of the
//            stage. An XOR swizzle permutes the packs of a stage's row. So eight consecutive work-items access all
//            banks when they stage blocks, stage neighbouring columns, or read a row. Where in is not aligned to 16
//            bytes, or the tile crosses the edge of the matrix, a work-item loads PACK elements of a column one by
//            one, and its neighbours load the next columns. At the edge of out, elements of the stage's rows are
//            stored one by one. If the rows of out are not aligned, transpose_shifted.cl is used instead.
// exchange   In place: a group exchanges a tile with its mirror image, in two stages.
// Passes     one launch
// Traffic    one read and one write per element
// Tunables   WIDTH packs per row of a tile (TILE = WIDTH * PACK), GROUP = WIDTH * WIDTH work-items, band of
//            place_of_group
// Source     G. Ruetsch, P. Micikevicius, Optimizing Matrix Transpose in CUDA, 2009.
//
// B: unsigned integer of the elements' size.

#include "tile_order.cl"
#include "transpose_tile.cl"

typedef struct { B item[PACK]; } __attribute__((aligned(16))) PackB;

// Position of a pack of the stage. For the PACK rows of a block, and for eight consecutive rows, the positions of
// one pack differ modulo 8.
static inline u32 staged(u32 row, u32 pack) {
    const u32 spread = PACK < 8 ? 8 / PACK : 1;
    return row * WIDTH + (pack ^ row / PACK ^ row % PACK * spread % 8);
}

// Stages the transpose of a tile. rows, columns: elements from the tile's first one to the edges of the matrix.
INLINED void load_turned(__local PackB* stage, __global const B* in, u64 pitch, u64 rows, u64 columns, bool aligned) {
    const u32 local_id = get_local_id(0);
    if (aligned && rows >= TILE && columns >= TILE) {
        const u32 x = local_id % WIDTH, y = local_id / WIDTH;
        __global const B* from = in + y * PACK * pitch + x * PACK;
        PackB block[PACK];
#pragma unroll
        for (u32 i = 0; i < PACK; ++i) block[i] = *(__global const PackB*)(from + i * pitch);
#pragma unroll
        for (u32 j = 0; j < PACK; ++j) {
            PackB turned;
#pragma unroll
            for (u32 i = 0; i < PACK; ++i) turned.item[i] = block[i].item[j];
            stage[staged(x * PACK + j, y)] = turned;
        }
        return;
    }
    for (u32 k = local_id; k < TILE * WIDTH; k += GROUP) {
        const u32 c = k % TILE, pack = k / TILE;
        PackB column;
#pragma unroll
        for (u32 i = 0; i < PACK; ++i) {
            const u64 r = pack * PACK + i;
            column.item[i] = r < rows && c < columns ? in[r * pitch + c] : 0;
        }
        stage[staged(c, pack)] = column;
    }
}

// Stores the rows of the stage. rows, columns: elements to store.
INLINED void store_rows(__local const PackB* stage, __global B* out, u64 pitch, u64 rows, u64 columns, bool aligned) {
    const u32 local_id = get_local_id(0);
    if (aligned && rows >= TILE && columns >= TILE) {
        const u32 pack = local_id % WIDTH;
#pragma unroll
        for (u32 i = 0; i < PACK; ++i) {
            const u32 row = i * WIDTH + local_id / WIDTH;
            *(__global PackB*)(out + row * pitch + pack * PACK) = stage[staged(row, pack)];
        }
        return;
    }
#pragma unroll 4
    for (u32 k = local_id; k < TILE * TILE; k += GROUP) {
        const u32 row = k / TILE, c = k % TILE;
        if (row < rows && c < columns) out[row * pitch + c] = stage[staged(row, c / PACK)].item[c % PACK];
    }
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void transpose_vectorized(__global const B* in, ulong in_at, __global B* out, ulong out_at, u64 rows, u64 columns,
                          u64 in_pitch, u64 out_pitch, u32 tile_rows, u32 tile_columns, u32 band, u32 in_aligned) {
    __local PackB stage[TILE * WIDTH];
    const Place place = place_of_group(tile_rows, tile_columns, band);
    const u64 r = (u64)place.row * TILE, c = (u64)place.column * TILE;
    load_turned(stage, in + in_at + r * in_pitch + c, in_pitch, rows - r, columns - c, in_aligned != 0);
    barrier(CLK_LOCAL_MEM_FENCE);
    store_rows(stage, out + out_at + c * out_pitch + r, out_pitch, columns - c, rows - r, true);
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void transpose_vectorized_exchange(__global B* both, ulong both_at, u64 side, u64 pitch, u32 tiles, u32 aligned) {
    __local PackB stage[TILE * WIDTH], mirrored[TILE * WIDTH];
    const Place place = place_of_pair(tiles);
    const u64 r = (u64)place.row * TILE, c = (u64)place.column * TILE;
    __global B* here = both + both_at + r * pitch + c;
    __global B* there = both + both_at + c * pitch + r;
    load_turned(stage, here, pitch, side - r, side - c, aligned != 0);
    if (r != c) load_turned(mirrored, there, pitch, side - c, side - r, aligned != 0);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // all elements have been read before they are overwritten
    store_rows(stage, there, pitch, side - c, side - r, aligned != 0);
    if (r != c) store_rows(mirrored, here, pitch, side - r, side - c, aligned != 0);
}
