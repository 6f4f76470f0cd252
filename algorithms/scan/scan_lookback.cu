// Scan in the canonical order in one launch, `lookback`, CUDA C++. scan_tile.cu describes the order. Parallel source:
// scan_lookback.cl.
//
// Algorithm  A group scans TILES tiles. The carry of a tile comes from the totals of other tiles, see lookback.cu.
// Passes     one launch. Traffic: reads and writes every element once.
// Progress   Groups take tiles by ticket and wait for earlier tiles.
// Tunables   TILES: tiles per group; RESIDENT: groups per multiprocessor.
// Source     D. Merrill, M. Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, 2016.

#include "lookback.cu"
#include "scan_tile.cu"

// workspace: see lookback.cu; tiles: number of tiles of the input. A group scans
// TILES tiles.
extern "C" __global__ void __launch_bounds__(GROUP, RESIDENT)
    scan_lookback(INPUT(in), T* out, u64* workspace, u64 n, u32 tiles, u32 exclusive, T identity, const Op op) {
    __shared__ Shared shared;
    AT_INPUT(in);
#ifndef CONCORD_EXPRESSION
    // Tickets come in about the order of the groups' numbers: another group may take the tiles of this number, soon.
    const u64 likely = u64(blockIdx.x) * TILES * TILE;
    prefetch_tile<GROUP>(in + likely, min(n - likely, u64(TILES) * TILE));
#endif
    const Turn turn = take_turn(workspace);
    const u32 tile = turn.ticket * TILES;
    const u64 begin = u64(tile) * TILE;
    Work w[TILES];
    T total[TILES], carry[TILES];
    upsweep(w, total, in, begin, n, identity, &shared, op);
    publish_tiles(workspace, tile, tiles, turn.tag, total);
    carry_tiles(workspace, tile, tiles, turn.tag, total, carry, identity, op);
    downsweep(w, carry, out, begin, n, exclusive, &shared, op);
}
