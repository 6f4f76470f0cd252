// Transpose, part of `vectorized` for unaligned rows of out, OpenCL C. Parallel source: transpose_shifted.cu.
//
// Algorithm  Memory with error correction reads and rewrites a sector of 32 bytes that is written in two pieces. So
//            a group stores whole sectors of each row of out: TILE elements from the last sector boundary before
//            its tile, up to SECTOR - 1 elements early. For them it loads SECTOR more rows of in, which its
//            neighbour loads too. The stage holds the transpose of the tile. Its rows are padded, so work-items
//            that store a column access all banks.
// Passes     one launch
// Traffic    1 + SECTOR / TILE reads per element, mostly one of them from memory; one write per element
// Tunables   TILE, GROUP work-items, band of place_of_group
// Source     Concord; the tile after G. Ruetsch, P. Micikevicius, Optimizing Matrix Transpose in CUDA, 2009.
//
// B: unsigned integer of the elements' size, SIZE bytes.

#include "tile_order.cl"
#include "transpose_tile.cl"

#define SECTOR (32 / SIZE)
#define LOADED (TILE + SECTOR)
#define STAGE_PITCH (LOADED + (SIZE < 4 ? 4 / SIZE : 1))
#define LINES (GROUP / TILE)  // rows that the group loads or stores at once

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void transpose_shifted(__global const B* in, ulong in_at, __global B* out, ulong out_at, u64 rows, u64 columns,
                       u64 in_pitch, u64 out_pitch, u32 tile_rows, u32 tile_columns, u32 band) {
    __local B stage[TILE * STAGE_PITCH];
    const u32 x = get_local_id(0) % TILE, y = get_local_id(0) / TILE;
    const Place place = place_of_group(tile_rows, tile_columns, band);
    // First row and column. The row may be negative.
    const i64 r = (i64)place.row * TILE - SECTOR;
    const u64 c = (u64)place.column * TILE;
    __global const B* from = in + in_at + c + x;
    const bool whole = r >= 0 && (u64)r + LOADED <= rows && c + TILE <= columns;
    if (whole) {
#pragma unroll 8
        for (u32 i = y; i < LOADED; i += LINES) stage[x * STAGE_PITCH + i] = from[(r + i) * in_pitch];
    } else {
        for (u32 i = y; i < LOADED; i += LINES) {
            if (r + i >= 0 && r + i < (i64)rows && c + x < columns) stage[x * STAGE_PITCH + i] = from[(r + i) * in_pitch];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll 8
    for (u32 k = y; k < TILE; k += LINES) {
        const u64 row = out_at + (c + k) * out_pitch;
        const u32 i = x + SECTOR - (u32)(row % SECTOR);
        if (whole || (r + i >= 0 && r + i < (i64)rows && c + k < columns)) out[row + r + i] = stage[k * STAGE_PITCH + i];
    }
}
