// Decoupled look-back in a fixed order, OpenCL C: how a tile obtains its carry, the combination of all earlier tiles,
// within one launch. Parallel source: lookback.cu, which describes the tree of totals.
//
// Algorithm  On the tree of lookback.cu, one level at a time: the last tile of each node publishes its total, and warp
//            k of the group combines the totals of the siblings on the left of the tile's ancestor of level k, one per
//            lane. All work-items execute all steps, because an exchange between lanes may contain barriers.
// Totals     A file that includes this one defines how groups exchange them: the struct Tree, publish_total() and
//            sibling_total(). lookback_words.cl waits for them, scan_fallback.cl does not.
// Traffic    at most 15 totals read per tile and level, from L2.
// Tunables   TILES: tiles per group, a power of two up to 16.
// Source     D. Merrill, M. Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, 2016. The tree of
//            totals, and with it the fixed order, is Concord's.
//
// GROUP: at least LEVELS * LANES work-items; TOTAL: type of a total; JOIN(op, x, y): combines two totals, x is the
// earlier one.

#include "sklansky"

#define FAN 16
#define LEVELS 8  // 16^8 tiles, the range of a ticket

// Local memory of the functions below.
typedef struct {
    TOTAL meet[LANE_ROOM];
    TOTAL before[LEVELS], before_tile[TILES];
} Lookback;

// The totals of one launch. Level 0: of the tiles.
struct Tree;

// Makes the total of a node available to the other groups.
INLINED void publish_total(const struct Tree* tree, u32 level, u32 index, TOTAL total);

// Returns the total of a node on the left of one of this tile's ancestors.
INLINED TOTAL sibling_total(const struct Tree* tree, u32 level, u32 index);

// Index of the first total of a level, where levels follow one another.
INLINED u64 level_begin(u32 tiles, u32 level) {
    u64 begin = 0;
    for (u32 k = 0; k < level; ++k) {
        begin += tiles;
        tiles = (tiles + FAN - 1) / FAN;
    }
    return begin;
}

// Publishes the total of each full node that this tile completes, on all levels. p: in the first 16 work-items, the
// scan of the totals of the tile and its 15 siblings. All work-items of the group call it.
INLINED void publish_nodes(const struct Tree* tree, u32 tile, u32 tiles, TOTAL p, __local Lookback* lookback,
                           const Op op) {
    const u32 local_id = get_local_id(0), last = FAN - 1;
    for (u32 level = 1; tile % FAN == last && tile + 1 < tiles; ++level) {
        TOTAL value = shuffle_total(p, last, lookback->meet);
        tiles = (tiles + last) / FAN;
        tile /= FAN;
        if (local_id == 0) publish_total(tree, level, tile, value);
        if (tile % FAN == last && tile + 1 < tiles) {
            // All work-items wait. PoCL's work-group methods take the first one's branch for all where a condition on
            // the work-item is in a loop with barriers.
            const TOTAL sibling = sibling_total(tree, level, tile - last + min(local_id, last - 1));
            value = local_id < last ? sibling : value;
            p = scan_sixteen(value, lookback->meet, op);
        }
    }
}

// Publishes the totals of TILES tiles. tile: the first tile, a multiple of TILES.
INLINED void publish_tiles(const struct Tree* tree, u32 tile, u32 tiles, const TOTAL* total) {
    if (get_local_id(0) != 0) return;
#pragma unroll
    for (u32 j = 0; j < TILES; ++j) {
        if (tile + j + 1 < tiles) publish_total(tree, 0, tile + j, total[j]);
    }
}

// Sets the carry of each of those tiles in all work-items, starting from the identity. All work-items of the group call
// it after publish_tiles.
INLINED void carry_tiles(const struct Tree* tree, u32 tile, u32 tiles, const TOTAL* total, TOTAL* carry, TOTAL identity,
                         __local Lookback* lookback, const Op op) {
    // Warp k combines the siblings on the left of the tiles' ancestor of level k. Above the root there are none.
    const u32 level = (u32)get_local_id(0) / LANES, lane = lane_id();
    const u32 at = level < LEVELS ? tile >> (4 * level) : 0, digit = at % FAN;
    TOTAL value = identity;
#pragma unroll
    for (u32 j = 0; j < TILES; ++j) {
        if (level == 0 && lane == digit + j) value = total[j];
    }
    if (lane < digit) value = sibling_total(tree, level, at - digit + lane);
    const TOTAL p = scan_sixteen(value, lookback->meet, op);
    if (level == 0 && lane + 1 >= digit && lane + 1 < digit + TILES) lookback->before_tile[lane + 1 - digit] = p;
    if (level != 0 && level < LEVELS && lane + 1 == digit) lookback->before[level] = p;
    publish_nodes(tree, tile + TILES - 1, tiles, p, lookback, op);
    barrier(CLK_LOCAL_MEM_FENCE);

    TOTAL node = identity;
#pragma unroll
    for (u32 k = LEVELS - 1; k > 0; --k) {
        if ((tile >> (4 * k)) % FAN != 0) node = JOIN(op, node, lookback->before[k]);
    }
#pragma unroll
    for (u32 j = 0; j < TILES; ++j)
        carry[j] = (tile + j) % FAN != 0 ? JOIN(op, node, lookback->before_tile[j]) : node;
}
