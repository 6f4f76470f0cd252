// Scan in the canonical order in one launch, `lookback`, OpenCL C. scan_tile.cl describes the order. Parallel source:
// scan_lookback.cu.
//
// Algorithm  A group scans TILES tiles. The carry of a tile comes from the totals of other tiles, see lookback.cl.
// Passes     one launch. Traffic: reads and writes every element once.
// Progress   Groups take tiles by ticket and wait for earlier tiles, see lookback_words.cl.
// Tunables   TILES: tiles per group.
// Source     D. Merrill, M. Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, 2016.

#include "lookback_words.cl"
#include "scan_tile.cl"

// workspace: see lookback.cu; tiles: number of tiles of the input.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void scan_lookback(INPUT(in), __global T* out, ulong out_at, __global u64* workspace,
                   ulong workspace_at, u64 n, u32 tiles, u32 exclusive, T identity, const Op op) {
    __local Shared shared;
    __local Lookback lookback;
    __local Turn drawn;
    AT_INPUT(in);
    workspace += workspace_at;
#ifndef CONCORD_EXPRESSION
    // Tickets come in about the order of the groups' numbers: another group may take the tiles of this number, soon.
    const u64 likely = (u64)get_group_id(0) * TILES * TILE;
    prefetch_bytes(in + likely, (u32)min(n - likely, (u64)TILES * TILE) * sizeof(T));
#endif
    const Turn turn = take_turn(workspace, &drawn);
    const struct Tree tree = tree_of(workspace, tiles, turn);
    const u32 tile = turn.ticket * TILES;
    const u64 begin = (u64)tile * TILE;
    Work w[TILES];
    T total[TILES], carry[TILES];
    upsweep(w, total, in, begin, n, identity, &shared, op);
    publish_tiles(&tree, tile, tiles, total);
    carry_tiles(&tree, tile, tiles, total, carry, identity, &lookback, op);
    downsweep(w, carry, out + out_at, begin, n, exclusive, &shared, op);
}
