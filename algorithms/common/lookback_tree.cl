// Decoupled look-back in a fixed order, OpenCL C: how a tile obtains its carry, the combination of all earlier tiles,
// within one launch. Parallel source: lookback.cu, which describes the tree of totals.
//
// Algorithm  That of lookback.cu: warp k of the group combines the totals of the siblings on the left of the tile's
//            ancestor of level k, one per lane. Here all work-items execute all steps, because an exchange between
//            lanes may contain barriers.
// Progress   A ticket numbers the tiles, so all tiles that a tile waits for have started. It relies on forward
//            progress of started groups while others spin (DeviceTraits::forward_progress).
// Memory     The workspace of lookback.cu. A word holds a total, or half of one, and the tag of the launch, so it needs
//            no fence: a reader sees both or neither. A volatile access of 64 bits must be a single access, and
//            coherent between groups. It requires cl_khr_int64_base_atomics.
// Traffic    8 or 16 bytes written per tile and node; at most 15 totals read per tile and level, from L2.
// Tunables   TILES: tiles per group, a power of two up to 16.
// Source     D. Merrill, M. Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, 2016. The tree of
//            totals, and with it the fixed order, is Concord's.
//
// GROUP: at least LEVELS * LANES work-items; TOTAL: type of a total; JOIN(op, x, y): combines two totals, x is the
// earlier one.

#include "lanes.cl"

#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable

#define FAN 16
#define HEAD 16
#define LEVELS 8  // 16^8 tiles, the range of a ticket
#define WORDS (sizeof(TOTAL) <= 4 ? 1 : 2)

// A group's number in the order in which groups start, and the tag of the launch.
typedef struct {
    u32 ticket, tag;
} Turn;

// Local memory of the functions below.
typedef struct {
    TOTAL meet[LANE_ROOM];
    TOTAL before[LEVELS], before_tile[TILES];
    u32 ticket, epoch;
} Lookback;

SHUFFLE_FROM(shuffle_total, TOTAL)

// Sklansky's network over 16 neighbouring lanes, one value each: an inclusive scan. It selects instead of branching,
// because PoCL's compile time grows fast with the number of branches between barriers.
INLINED TOTAL scan_sixteen_lanes(TOTAL value, __local TOTAL* meet, const Op op) {
    const u32 lane = lane_id();
#pragma unroll
    for (u32 half_ = 1; half_ < 16; half_ *= 2) {
        const TOTAL left = shuffle_total(value, (lane & ~(half_ - 1)) - 1, meet);
        const TOTAL joined = JOIN(op, left, value);
        value = lane & half_ ? joined : value;
    }
    return value;
}

// Draws a ticket, in the order in which groups start. All work-items of each group call it.
INLINED Turn take_turn(volatile __global ulong* workspace, __local Lookback* lookback) {
    if (get_local_id(0) == 0) {
        const ulong drawn = atom_add(workspace, 1UL);
        const u32 ticket = (u32)drawn, epoch = (u32)(drawn >> 32);
        // The last ticket of this launch starts the next epoch for the next launch.
        if (ticket == get_num_groups(0) - 1) atom_xchg(workspace, (ulong)((epoch + 1) & 0x3fffffffu) << 32);
        lookback->ticket = ticket;
        lookback->epoch = epoch;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const Turn turn = {lookback->ticket, lookback->epoch + 1};
    return turn;
}

// A total as bits. Upper bits of a narrow type are zero.
typedef union {
    TOTAL total;
    u32 word;
    ulong bits;
} TotalBits;

INLINED void publish_total(volatile __global ulong* totals, u64 index, TOTAL total, u32 tag) {
    const ulong high = (ulong)tag << 32;
    TotalBits t;
    t.bits = 0;
    t.total = total;
    if (WORDS == 1) {
        totals[index] = high | t.word;
    } else {
        *(volatile __global ulong2*)(totals + 2 * index) = (ulong2)(high | (t.bits & 0xffffffffu), high | t.bits >> 32);
    }
}

// Waits until the total is published, and returns it.
INLINED TOTAL await_total(const volatile __global ulong* totals, u64 index, u32 tag) {
    TotalBits t;
    if (WORDS == 1) {
        do t.bits = totals[index];
        while ((u32)(t.bits >> 32) != tag);
    } else {
        ulong2 words;
        do words = *(const volatile __global ulong2*)(totals + 2 * index);
        while ((u32)(words.x >> 32) != tag || (u32)(words.y >> 32) != tag);
        t.bits = (words.x & 0xffffffffu) | words.y << 32;
    }
    return t.total;
}

// Publishes the total of each full node that this tile completes, on all levels. p: in the first 16 work-items, the
// scan of the totals of the tile and its 15 siblings. All work-items of the group call it.
INLINED void publish_nodes(volatile __global ulong* totals, u32 tile, u32 tiles, u32 tag, TOTAL p,
                           __local Lookback* lookback, const Op op) {
    const u32 local_id = get_local_id(0), last = FAN - 1;
    while (tile % FAN == last && tile + 1 < tiles) {
        TOTAL value = shuffle_total(p, last, lookback->meet);
        totals += WORDS * (u64)tiles;
        tiles = (tiles + last) / FAN;
        tile /= FAN;
        if (local_id == 0) publish_total(totals, tile, value, tag);
        if (tile % FAN == last && tile + 1 < tiles) {
            // All work-items wait. PoCL's work-group methods take the first one's branch for all where a condition on
            // the work-item is in a loop with barriers.
            const TOTAL sibling = await_total(totals, tile - last + min(local_id, last - 1), tag);
            value = local_id < last ? sibling : value;
            p = scan_sixteen_lanes(value, lookback->meet, op);
        }
    }
}

// Publishes the totals of TILES tiles. tile: the first tile, a multiple of TILES.
INLINED void publish_tiles(volatile __global ulong* workspace, u32 tile, u32 tiles, u32 tag, const TOTAL* total) {
    if (get_local_id(0) != 0) return;
#pragma unroll
    for (u32 j = 0; j < TILES; ++j) {
        if (tile + j + 1 < tiles) publish_total(workspace + HEAD, tile + j, total[j], tag);
    }
}

// Sets the carry of each of those tiles in all work-items, starting from the identity. All work-items of the group call
// it after publish_tiles.
INLINED void carry_tiles(volatile __global ulong* workspace, u32 tile, u32 tiles, u32 tag, const TOTAL* total,
                         TOTAL* carry, TOTAL identity, __local Lookback* lookback, const Op op) {
    const u32 level = (u32)get_local_id(0) / LANES, lane = lane_id();
    volatile __global ulong* const first_level = workspace + HEAD;

    // Warp k combines the siblings on the left of the tiles' ancestor of level k. Above the root there are none.
    volatile __global ulong* totals = first_level;
    u32 at = tile;
    for (u32 k = 0, count = tiles; k < level; ++k, at /= FAN) {
        totals += WORDS * (u64)count;
        count = (count + FAN - 1) / FAN;
    }
    const u32 digit = at % FAN;
    TOTAL value = identity;
#pragma unroll
    for (u32 j = 0; j < TILES; ++j) {
        if (level == 0 && lane == digit + j) value = total[j];
    }
    if (lane < digit) value = await_total(totals, at - digit + lane, tag);
    const TOTAL p = scan_sixteen_lanes(value, lookback->meet, op);
    if (level == 0 && lane + 1 >= digit && lane + 1 < digit + TILES) lookback->before_tile[lane + 1 - digit] = p;
    if (level != 0 && level < LEVELS && lane + 1 == digit) lookback->before[level] = p;
    publish_nodes(first_level, tile + TILES - 1, tiles, tag, p, lookback, op);
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
