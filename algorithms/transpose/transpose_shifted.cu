// Transpose, `vectorized`, where out's rows are not aligned, CUDA C++. Parallel text: transpose_shifted.cl.
//
// Algorithm  A sector of 32 bytes that is written in two pieces is read and written again by the memory's error correction.
//            So of each row of out a group stores whole sectors: TILE elements that begin at the last sector's begin before
//            its tile, up to SECTOR - 1 elements early. It loads SECTOR more rows of in for that, which its neighbour loads
//            too. The stage holds the tile turned, its rows padded so that lanes that store a column meet all banks.
// Passes     one; traffic: every element is read 1 + SECTOR / TILE times, mostly from caches but once, and written once.
// Tunables   TILE, GROUP lanes, band of place_of_group.
// Source     Concord; the tile after G. Ruetsch, P. Micikevicius, Optimizing Matrix Transpose in CUDA, 2009.
//
// B: unsigned integer of the elements' size, SIZE bytes.

constexpr u32 sector = 32 / SIZE, loaded = TILE + sector;
constexpr u32 stage_pitch = loaded + (SIZE < 4 ? 4 / SIZE : 1);
constexpr u32 lines = GROUP / TILE;  // that the group loads or stores at once

// What a group moves: rows `row` ... row + loaded - 1 of in, which may begin before the first, columns from `column` on.
struct Shifted {
    i64 row;
    u64 column, rows, columns;

    __device__ __forceinline__ bool has_row(u32 i) const { return row + i >= 0 && row + i < static_cast<i64>(rows); }
};

// WHOLE: nothing of the tile is missing.
template <bool WHOLE>
__device__ __forceinline__ void move(const Shifted& tile, const B* in, B* out, u64 in_pitch, u64 out_pitch, B* stage) {
    const u32 x = threadIdx.x % TILE, y = threadIdx.x / TILE;
    const B* const from = in + tile.row * static_cast<i64>(in_pitch) + tile.column + x;
#pragma unroll 8
    for (u32 i = y; i < loaded; i += lines) {
        if (WHOLE || (tile.has_row(i) && tile.column + x < tile.columns)) stage[x * stage_pitch + i] = from[i * in_pitch];
    }
    __syncthreads();
#pragma unroll 8
    for (u32 k = y; k < TILE; k += lines) {
        B* const row = out + (tile.column + k) * out_pitch;
        const u32 i = x + sector - static_cast<u32>(reinterpret_cast<u64>(row) / SIZE % sector);
        if (WHOLE || (tile.has_row(i) && tile.column + k < tile.columns)) row[tile.row + i] = stage[k * stage_pitch + i];
    }
}

extern "C" __global__ void __launch_bounds__(GROUP)
    transpose_shifted(const B* in, B* out, u64 rows, u64 columns, u64 in_pitch, u64 out_pitch, u32 tile_rows,
                      u32 tile_columns, u32 band) {
    __shared__ B stage[TILE * stage_pitch];
    const Place place = place_of_group(tile_rows, tile_columns, band);
    const Shifted tile = {static_cast<i64>(place.row) * TILE - sector, u64(place.column) * TILE, rows, columns};
    if (tile.row >= 0 && tile.row + loaded <= rows && tile.column + TILE <= columns)
        move<true>(tile, in, out, in_pitch, out_pitch, stage);
    else
        move<false>(tile, in, out, in_pitch, out_pitch, stage);
}
