// Transpose, `naive`, `tiled` and `tiled_padded`, OpenCL C. Parallel sources: transpose_steps.cu,
// transpose_host.hpp.
//
// Algorithm  naive: one element per work-item. Neighbours read neighbours, but write elements a row apart, each to
//            a cache line of its own. tiled: a tile passes through local memory, so reads and writes both go along
//            rows. Without padding a column of the tile lies in few banks. PAD elements after each row
//            (tiled_padded) spread it over all banks.
// exchange   In place: a group exchanges a tile with its mirror image.
// Passes     one launch
// Traffic    one read and one write per element
// Tunables   TILE elements per side of a tile, GROUP work-items, band of place_of_group
// Source     G. Ruetsch, P. Micikevicius, Optimizing Matrix Transpose in CUDA, 2009.
//
// B: unsigned integer of the elements' size.

#include "tile_order.cl"
#include "transpose_tile.cl"

#define LINES (GROUP / TILE)  // rows of a tile that a group moves at once

// A group transposes 8 rows of 32 elements.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void transpose_naive(__global const B* in, ulong in_at, __global B* out, ulong out_at, u64 rows, u64 columns,
                     u64 in_pitch, u64 out_pitch, u32 tile_rows, u32 tile_columns, u32 band) {
    const Place place = place_of_group(tile_rows, tile_columns, band);
    const u32 local_id = get_local_id(0);
    const u64 r = (u64)place.row * (GROUP / 32) + local_id / 32, c = (u64)place.column * 32 + local_id % 32;
    if (r < rows && c < columns) out[out_at + c * out_pitch + r] = in[in_at + r * in_pitch + c];
}

// rows, columns: elements from the tile's first one to the edges of the matrix.
INLINED void load_tile(__local B (*tile)[TILE + PAD], __global const B* in, u64 pitch, u64 rows, u64 columns) {
    const u32 x = get_local_id(0) % TILE, y = get_local_id(0) / TILE;
#pragma unroll
    for (u32 j = 0; j < TILE; j += LINES) {
        if (j + y < rows && x < columns) tile[j + y][x] = in[(j + y) * pitch + x];
    }
}

INLINED void store_turned(__local B (*tile)[TILE + PAD], __global B* out, u64 pitch, u64 rows, u64 columns) {
    const u32 x = get_local_id(0) % TILE, y = get_local_id(0) / TILE;
#pragma unroll
    for (u32 j = 0; j < TILE; j += LINES) {
        if (j + y < rows && x < columns) out[(j + y) * pitch + x] = tile[x][j + y];
    }
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void transpose_tiled(__global const B* in, ulong in_at, __global B* out, ulong out_at, u64 rows, u64 columns,
                     u64 in_pitch, u64 out_pitch, u32 tile_rows, u32 tile_columns, u32 band) {
    __local B tile[TILE][TILE + PAD];
    const Place place = place_of_group(tile_rows, tile_columns, band);
    const u64 r = (u64)place.row * TILE, c = (u64)place.column * TILE;
    load_tile(tile, in + in_at + r * in_pitch + c, in_pitch, rows - r, columns - c);
    barrier(CLK_LOCAL_MEM_FENCE);
    store_turned(tile, out + out_at + c * out_pitch + r, out_pitch, columns - c, rows - r);
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void transpose_exchange(__global B* both, ulong both_at, u64 side, u64 pitch, u32 tiles) {
    __local B tile[TILE][TILE + PAD], mirrored[TILE][TILE + PAD];
    const Place place = place_of_pair(tiles);
    const u64 r = (u64)place.row * TILE, c = (u64)place.column * TILE;
    __global B* here = both + both_at + r * pitch + c;
    __global B* there = both + both_at + c * pitch + r;
    load_tile(tile, here, pitch, side - r, side - c);
    if (r != c) load_tile(mirrored, there, pitch, side - c, side - r);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // all elements have been read before they are overwritten
    store_turned(tile, there, pitch, side - c, side - r);
    if (r != c) store_turned(mirrored, here, pitch, side - r, side - c);
}
