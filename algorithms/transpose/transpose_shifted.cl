// Transpose, `vectorized`, where out's rows are not aligned, OpenCL C. Parallel source: transpose_shifted.cu.
//
// Algorithm  A sector of 32 bytes that is written in two pieces is read and written again by the memory's error correction.
//            So of each row of out a group stores whole sectors: TILE elements that begin at the last sector's begin before
//            its tile, up to SECTOR - 1 elements early. It loads SECTOR more rows of in for that, which its neighbour loads
//            too. The stage holds the tile turned, its rows padded so that work-items that store a column meet all banks.
// Passes     one; traffic: every element is read 1 + SECTOR / TILE times, mostly from caches but once, and written once.
// Tunables   TILE, GROUP work-items, band of place_of_group.
// Source     Concord; the tile after G. Ruetsch, P. Micikevicius, Optimizing Matrix Transpose in CUDA, 2009.
//
// B: unsigned integer of the elements' size, SIZE bytes.

#define SECTOR (32 / SIZE)
#define LOADED (TILE + SECTOR)
#define STAGE_PITCH (LOADED + (SIZE < 4 ? 4 / SIZE : 1))
#define LINES (GROUP / TILE)  // that the group loads or stores at once

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void transpose_shifted(__global const B* in, ulong in_at, __global B* out, ulong out_at, u64 rows, u64 columns,
                       u64 in_pitch, u64 out_pitch, u32 tile_rows, u32 tile_columns, u32 band) {
    __local B stage[TILE * STAGE_PITCH];
    const u32 x = get_local_id(0) % TILE, y = get_local_id(0) / TILE;
    const Place place = place_of_group(tile_rows, tile_columns, band);
    // Rows from here on, which may begin before the first, and columns.
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
