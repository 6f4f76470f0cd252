// A tile of `radix8`, OpenCL C: one group sorts it by a digit in local memory, in stable splits by 4 bits.
//
// Algorithm  A work-item counts the digits of its ITEMS neighbouring keys in its own column. One scan of all columns
//            ranks the tile. The split does not rely on work-items that run in lock-step.
// Passes     none of its own.
// Tunables   GROUP work-items per group; ITEMS keys per work-item, odd to avoid bank conflicts
// Source     N. Satish, M. Harris, M. Garland, Designing Efficient Sorting Algorithms for Manycore GPUs, 2009.

#include "group_scan.cl"
#include "sort_keys"

#define TILE (GROUP * ITEMS)
#define DIGITS 256
#define SPLIT_DIGITS 16
#define SPLIT_BITS 4

SCAN_GROUP(scan_group, u32)

// A tile in local memory.
typedef struct {
    K key[TILE];
    u16 origin[TILE];  // original place of each key
    u16 counter[SPLIT_DIGITS * GROUP];
    u32 sums[2 * GROUP];
} Tile;

// Loads `count` keys of a tile. All work-items of the group must call it.
INLINED void load_tile(__global const K* in, u32 count, __local Tile* tile) {
    for (u32 i = get_local_id(0); i < TILE; i += GROUP) {
        if (i < count) tile->key[i] = in[i];
        tile->origin[i] = (u16)i;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

// Replaces every counter by the sum of those before it.
INLINED void scan_counters(__local Tile* tile) {
    __local u16* mine = tile->counter + get_local_id(0) * SPLIT_DIGITS;
    u32 sum = 0, last;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (u32 k = 0; k < SPLIT_DIGITS; ++k) sum += mine[k];
    u32 before = scan_group(sum, tile->sums, &last) - sum;
    for (u32 k = 0; k < SPLIT_DIGITS; ++k) {
        const u32 counted = mine[k];
        mine[k] = (u16)before;
        before += counted;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

// Sorts the tile by the bits (key >> shift) & mask, at most SPLIT_BITS of them. Places past the first `count` keys
// keep their content: it has the last digit and comes last among equal digits. All work-items of the group must
// call it.
INLINED void split_tile(__local Tile* tile, u32 count, u32 shift, u32 mask, Code code) {
    const u32 local_id = get_local_id(0);
    K key[ITEMS];
    u16 origin[ITEMS];
    u32 digit[ITEMS], rank[ITEMS];
    __local u16* column = tile->counter + local_id;
    for (u32 d = 0; d < SPLIT_DIGITS; ++d) column[d * GROUP] = 0;
    for (u32 j = 0; j < ITEMS; ++j) {
        key[j] = tile->key[local_id * ITEMS + j];
        origin[j] = tile->origin[local_id * ITEMS + j];
        digit[j] = origin[j] < count ? digit_of(key[j], shift, mask, code) : SPLIT_DIGITS - 1;
        rank[j] = column[digit[j] * GROUP]++;
    }
    scan_counters(tile);
    for (u32 j = 0; j < ITEMS; ++j) {
        const u32 place = column[digit[j] * GROUP] + rank[j];
        tile->key[place] = key[j];
        tile->origin[place] = origin[j];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}
