// Transpose, `naive`, `tiled` and `tiled_padded`, CUDA C++. Parallel sources: transpose_steps.cl,
// transpose_host.hpp.
//
// Algorithm  naive: one element per thread. Neighbours read neighbours, but write elements a row apart, each to a
//            cache line of its own. tiled: a tile passes through shared memory, so reads and writes both go along
//            rows. Without padding a column of the tile lies in few banks. PAD elements after each row
//            (tiled_padded) spread it over all banks.
// exchange   In place: a group exchanges a tile with its mirror image.
// Passes     one launch
// Traffic    one read and one write per element
// Tunables   TILE elements per side of a tile, GROUP threads, band of place_of_group
// Source     G. Ruetsch, P. Micikevicius, Optimizing Matrix Transpose in CUDA, 2009.
//
// B: unsigned integer of the elements' size.

#include "tile_order.cu"
#include "transpose_tile.cu"

constexpr u32 lines = GROUP / TILE;  // rows of a tile that a group moves at once

// A group transposes 8 rows of 32 elements.
extern "C" __global__ void __launch_bounds__(GROUP)
    transpose_naive(const B* in, B* out, u64 rows, u64 columns, u64 in_pitch, u64 out_pitch, u32 tile_rows,
                    u32 tile_columns, u32 band) {
    const Place place = place_of_group(tile_rows, tile_columns, band);
    const u64 r = u64(place.row) * (GROUP / 32) + threadIdx.x / 32, c = u64(place.column) * 32 + threadIdx.x % 32;
    if (r < rows && c < columns) out[c * out_pitch + r] = in[r * in_pitch + c];
}

// rows, columns: elements from the tile's first one to the edges of the matrix.
__device__ __forceinline__ void load_tile(B (*tile)[TILE + PAD], const B* in, u64 pitch, u64 rows, u64 columns) {
    const u32 x = threadIdx.x % TILE, y = threadIdx.x / TILE;
#pragma unroll
    for (u32 j = 0; j < TILE; j += lines) {
        if (j + y < rows && x < columns) tile[j + y][x] = in[(j + y) * pitch + x];
    }
}

__device__ __forceinline__ void store_turned(B (*tile)[TILE + PAD], B* out, u64 pitch, u64 rows, u64 columns) {
    const u32 x = threadIdx.x % TILE, y = threadIdx.x / TILE;
#pragma unroll
    for (u32 j = 0; j < TILE; j += lines) {
        if (j + y < rows && x < columns) out[(j + y) * pitch + x] = tile[x][j + y];
    }
}

extern "C" __global__ void __launch_bounds__(GROUP)
    transpose_tiled(const B* in, B* out, u64 rows, u64 columns, u64 in_pitch, u64 out_pitch, u32 tile_rows,
                    u32 tile_columns, u32 band) {
    __shared__ B tile[TILE][TILE + PAD];
    const Place place = place_of_group(tile_rows, tile_columns, band);
    const u64 r = u64(place.row) * TILE, c = u64(place.column) * TILE;
    load_tile(tile, in + r * in_pitch + c, in_pitch, rows - r, columns - c);
    __syncthreads();
    store_turned(tile, out + c * out_pitch + r, out_pitch, columns - c, rows - r);
}

extern "C" __global__ void __launch_bounds__(GROUP) transpose_exchange(B* both, u64 side, u64 pitch, u32 tiles) {
    __shared__ B tile[TILE][TILE + PAD], mirrored[TILE][TILE + PAD];
    const Place place = place_of_pair(tiles);
    const u64 r = u64(place.row) * TILE, c = u64(place.column) * TILE;
    B* const here = both + r * pitch + c;
    B* const there = both + c * pitch + r;
    load_tile(tile, here, pitch, side - r, side - c);
    if (r != c) load_tile(mirrored, there, pitch, side - c, side - r);
    __syncthreads();
    store_turned(tile, there, pitch, side - c, side - r);
    if (r != c) store_turned(mirrored, here, pitch, side - r, side - c);
}
