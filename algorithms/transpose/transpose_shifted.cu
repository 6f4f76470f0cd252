// Transpose, part of `vectorized` for unaligned rows of out, CUDA C++. Parallel source: transpose_shifted.cl.
//
// Algorithm  Memory with error correction reads and rewrites a sector of 32 bytes that is written in two pieces. So
//            a group stores whole sectors of each row of out: TILE elements from the last sector boundary before
//            its tile, up to SECTOR - 1 elements early. For them it loads SECTOR more rows of in, which its
//            neighbour loads too. The stage holds the transpose of the tile. Its rows are padded, so threads that
//            store a column access all banks.
// Passes     one launch
// Traffic    1 + SECTOR / TILE reads per element, mostly one of them from memory; one write per element
// Tunables   TILE, GROUP threads, band of place_of_group
// Source     Concord; the tile after G. Ruetsch, P. Micikevicius, Optimizing Matrix Transpose in CUDA, 2009.
//
// B: unsigned integer of the elements' size, SIZE bytes.

#include "tile_order.cu"
#include "transpose_tile.cu"

constexpr u32 sector = 32 / SIZE, loaded = TILE + sector;
constexpr u32 stage_pitch = loaded + (SIZE < 4 ? 4 / SIZE : 1);
constexpr u32 lines = GROUP / TILE;  // rows that the group loads or stores at once

extern "C" __global__ void __launch_bounds__(GROUP)
    transpose_shifted(const B* in, B* out, u64 rows, u64 columns, u64 in_pitch, u64 out_pitch, u32 tile_rows,
                      u32 tile_columns, u32 band) {
    __shared__ B stage[TILE * stage_pitch];
    const u32 x = threadIdx.x % TILE, y = threadIdx.x / TILE;
    const Place place = place_of_group(tile_rows, tile_columns, band);
    // First row and column. The row may be negative.
    const i64 r = i64(place.row) * TILE - sector;
    const u64 c = u64(place.column) * TILE;
    const B* const from = in + c + x;
    const bool whole = r >= 0 && u64(r) + loaded <= rows && c + TILE <= columns;
    if (whole) {
#pragma unroll 6
        for (u32 q = 0; q < (loaded + lines - 1) / lines; ++q) {
            const u32 i = y + q * lines;
            if (loaded % lines == 0 || i < loaded) stage[x * stage_pitch + i] = from[(r + i) * in_pitch];
        }
    } else {
        for (u32 i = y; i < loaded; i += lines) {
            if (r + i >= 0 && r + i < i64(rows) && c + x < columns) stage[x * stage_pitch + i] = from[(r + i) * in_pitch];
        }
    }
    __syncthreads();
    const u64 out_at = reinterpret_cast<u64>(out) / SIZE;  // in elements, like the offsets below
#pragma unroll 8
    for (u32 k = y; k < TILE; k += lines) {
        const u64 row = out_at + (c + k) * out_pitch;
        const u32 i = x + sector - static_cast<u32>(row % sector);
        if (whole || (r + i >= 0 && r + i < i64(rows) && c + k < columns)) out[row - out_at + r + i] = stage[k * stage_pitch + i];
    }
}
