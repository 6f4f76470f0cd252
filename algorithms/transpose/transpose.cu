// Transpose, `vectorized`, CUDA C++. Parallel source: transpose.cl. Thin matrices: transpose_thin.cu.
//
// Algorithm  A group moves a tile of TILE x TILE elements through shared memory in accesses of 16 bytes, PACK
//            elements each. A thread loads a block of PACK packs, one per row, transposes it in registers and
//            stores it to the stage, which holds the transpose of the tile. Then the group stores the rows of the
//            stage. An XOR swizzle permutes the packs of a stage's row. So eight consecutive threads access all
//            banks when they stage blocks, stage neighbouring columns, or read a row. Where in is not aligned to 16
//            bytes, or the tile crosses the edge of the matrix, a thread loads PACK elements of a column one by
//            one, and its neighbours load the next columns. At the edge of out, elements of the stage's rows are
//            stored one by one. If the rows of out are not aligned, transpose_shifted.cu is used instead.
// exchange   In place: a group exchanges a tile with its mirror image, in two stages.
// Passes     one launch
// Traffic    one read and one write per element
// Tunables   WIDTH packs per row of a tile (TILE = WIDTH * PACK), GROUP = WIDTH * WIDTH threads, band of
//            place_of_group
// Source     G. Ruetsch, P. Micikevicius, Optimizing Matrix Transpose in CUDA, 2009.
//
// B: unsigned integer of the elements' size.

#include "common.cu"
#include "tile_order.cu"
#include "transpose_tile.cu"

using PackB = Pack<B, PACK>;

// Position of a pack of the stage. For the PACK rows of a block, and for eight consecutive rows, the positions of
// one pack differ modulo 8.
__device__ __forceinline__ u32 staged(u32 row, u32 pack) {
    constexpr u32 spread = PACK < 8 ? 8 / PACK : 1;
    return row * WIDTH + (pack ^ row / PACK ^ row % PACK * spread % 8);
}

// Stages the transpose of a tile. rows, columns: elements from the tile's first one to the edges of the matrix.
__device__ __forceinline__ void load_turned(PackB* stage, const B* in, u64 pitch, u64 rows, u64 columns, bool aligned) {
    if (aligned && rows >= TILE && columns >= TILE) {
        const u32 x = threadIdx.x % WIDTH, y = threadIdx.x / WIDTH;
        const B* const from = in + y * PACK * pitch + x * PACK;
        PackB block[PACK];
#pragma unroll
        for (u32 i = 0; i < PACK; ++i) block[i] = *reinterpret_cast<const PackB*>(from + i * pitch);
#pragma unroll
        for (u32 j = 0; j < PACK; ++j) {
            PackB turned;
#pragma unroll
            for (u32 i = 0; i < PACK; ++i) turned.item[i] = block[i].item[j];
            stage[staged(x * PACK + j, y)] = turned;
        }
        return;
    }
    for (u32 k = threadIdx.x; k < TILE * WIDTH; k += GROUP) {
        const u32 c = k % TILE, pack = k / TILE;
        PackB column;
#pragma unroll
        for (u32 i = 0; i < PACK; ++i) {
            const u64 r = pack * PACK + i;
            column.item[i] = r < rows && c < columns ? in[r * pitch + c] : B(0);
        }
        stage[staged(c, pack)] = column;
    }
}

// Stores the rows of the stage. rows, columns: elements to store.
__device__ __forceinline__ void store_rows(const PackB* stage, B* out, u64 pitch, u64 rows, u64 columns, bool aligned) {
    if (aligned && rows >= TILE && columns >= TILE) {
        const u32 pack = threadIdx.x % WIDTH;
#pragma unroll
        for (u32 i = 0; i < PACK; ++i) {
            const u32 row = i * WIDTH + threadIdx.x / WIDTH;
            *reinterpret_cast<PackB*>(out + row * pitch + pack * PACK) = stage[staged(row, pack)];
        }
        return;
    }
#pragma unroll 4
    for (u32 k = threadIdx.x; k < TILE * TILE; k += GROUP) {
        const u32 row = k / TILE, c = k % TILE;
        if (row < rows && c < columns) out[row * pitch + c] = stage[staged(row, c / PACK)].item[c % PACK];
    }
}

extern "C" __global__ void __launch_bounds__(GROUP)
    transpose_vectorized(const B* in, B* out, u64 rows, u64 columns, u64 in_pitch, u64 out_pitch, u32 tile_rows,
                         u32 tile_columns, u32 band, u32 in_aligned) {
    __shared__ PackB stage[TILE * WIDTH];
    const Place place = place_of_group(tile_rows, tile_columns, band);
    const u64 r = u64(place.row) * TILE, c = u64(place.column) * TILE;
    load_turned(stage, in + r * in_pitch + c, in_pitch, rows - r, columns - c, in_aligned != 0);
    __syncthreads();
    store_rows(stage, out + c * out_pitch + r, out_pitch, columns - c, rows - r, true);
}

extern "C" __global__ void __launch_bounds__(GROUP)
    transpose_vectorized_exchange(B* both, u64 side, u64 pitch, u32 tiles, u32 aligned) {
    __shared__ PackB stage[TILE * WIDTH], mirrored[TILE * WIDTH];
    const Place place = place_of_pair(tiles);
    const u64 r = u64(place.row) * TILE, c = u64(place.column) * TILE;
    B* const here = both + r * pitch + c;
    B* const there = both + c * pitch + r;
    load_turned(stage, here, pitch, side - r, side - c, aligned != 0);
    if (r != c) load_turned(mirrored, there, pitch, side - c, side - r, aligned != 0);
    __syncthreads();
    store_rows(stage, there, pitch, side - c, side - r, aligned != 0);
    if (r != c) store_rows(mirrored, here, pitch, side - r, side - c, aligned != 0);
}
