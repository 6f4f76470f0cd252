// A tile of a radix sort, OpenCL C: one group loads it, ranks it by a digit of 8 bits and stores it. The parallel
// source sort_tile.cu describes it.
//
// A warp is a team of LANES work-items, see lanes.cl.

#include "group_rank.cl"
#include "lanes.cl"
#include "sort_digits.cl"

#define WARPS (GROUP / LANES)
#define TILE (GROUP * ITEMS)  // at most 65536
#define TABLES (UNORDERED ? 1 : WARPS)  // of counters

// What ranks a tile.
typedef struct {
    u32 counts[TABLES][DIGITS];
    u32 lanes[TABLES][DIGITS];
    Scan scan;
} Ranks;

// The group's local memory. The staged elements take the place of the ranks, because some drivers offer only 48 KiB.
typedef struct {
    union {
        Ranks ranks;
        K keys[TILE];
        V values[VALUE_SIZE ? TILE : 1];
    } tile;
    COUNT base[DIGITS];  // place of each digit in the output, minus its place in the tile
} Shared;

// The place in the tile of the work-item's i-th item.
INLINED u32 place_of(u32 i) {
    const u32 local_id = get_local_id(0);
    return local_id / LANES * (LANES * ITEMS) + i * LANES + lane_id();
}

// Defines a function that loads the work-item's items of type E.
#define LOAD_ITEMS(NAME, E)                                                \
    INLINED void NAME(__global const E* from, u32 count, E* item) {        \
        if (count == TILE) {                                               \
            _Pragma("unroll") for (u32 i = 0; i < ITEMS; ++i)              \
                item[i] = from[place_of(i)];                               \
        } else {                                                           \
            _Pragma("unroll") for (u32 i = 0; i < ITEMS; ++i) {            \
                if (place_of(i) < count) item[i] = from[place_of(i)];      \
            }                                                              \
        }                                                                  \
    }

LOAD_ITEMS(load_keys, K)
LOAD_ITEMS(load_values, V)

// Loads keys. Those past the tile's first `count` become the last key in the order of codes.
INLINED void load_tile(__global const K* from, u32 count, Code code, K* key) {
    load_keys(from, count, key);
    if (count == TILE) return;
#pragma unroll
    for (u32 i = 0; i < ITEMS; ++i) {
        if (place_of(i) >= count) key[i] = key_of((K)~(K)0, code);
    }
}

// The table of the work-item's warp.
INLINED u32 own_table(void) { return UNORDERED ? 0 : get_local_id(0) / LANES; }

#define NOWHERE 0xffffffffu  // the rank of an item that is not ranked

#if UNORDERED

// Gives each item its rank among those of its digit in the tile, with the digit from bit 16 on, and counts the
// digits. Items past the tile's first `count` are not counted and get the rank NOWHERE. All work-items of the group
// must call it.
INLINED void rank_items(const K* key, u32 count, Digit digit, u32* rank, __local Ranks* ranks) {
    if (get_local_id(0) < DIGITS) ranks->counts[0][get_local_id(0)] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (u32 i = 0; i < ITEMS; ++i) {
        const u32 d = digit_in(key[i], digit);
        rank[i] = NOWHERE;
        if (place_of(i) < count) rank[i] = atomic_inc(&ranks->counts[0][d]) | d << 16;
    }
}

#else

// Gives each item its rank among those of its digit in this warp, with the digit from bit 16 on, and counts the
// digits. Items past the tile's end, which have the last key, come last in their digit. All work-items of the group
// must call it.
INLINED void rank_items(const K* key, u32 count, Digit digit, u32* rank, __local Ranks* ranks) {
    __local u32* const counts = ranks->counts[own_table()];
    __local u32* const lanes = ranks->lanes[own_table()];
#pragma unroll
    for (u32 d = lane_id(); d < DIGITS; d += LANES) counts[d] = lanes[d] = 0;
    lanes_barrier();
#pragma unroll
    for (u32 i = 0; i < ITEMS; ++i) {
        const u32 d = digit_in(key[i], digit);
        rank[i] = rank_digit(d, match_by_words(d, lanes), counts) | d << 16;
    }
}

#endif

// Returns the tile's count of the work-item's digit. All work-items of the group must call it; those from DIGITS on
// have no digit.
INLINED u32 total_count(__local const Ranks* ranks) {
    u32 total = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) < DIGITS) {
#pragma unroll 4
        for (u32 w = 0; w < TABLES; ++w) total += ranks->counts[w][get_local_id(0)];
    }
    return total;
}

// Turns the warps' counts into the places in the tile of each warp's first item of each digit. total: total_count().
// Returns the place of the digit's first item. All work-items of the group must call it.
INLINED u32 scan_counts(u32 total, __local Ranks* ranks) {
    const u32 start = (u32)scan_digits(total, &ranks->scan);
    if (get_local_id(0) < DIGITS) {
        u32 before = start;
#pragma unroll 4
        for (u32 w = 0; w < TABLES; ++w) {
            const u32 count = ranks->counts[w][get_local_id(0)];
            ranks->counts[w][get_local_id(0)] = before;
            before += count;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return start;
}

// Turns ranks into places in the tile and stages the keys there. All work-items of the group must call it. The caller
// must add a barrier.
INLINED void stage_keys(const K* key, u32* rank, __local Shared* shared) {
#pragma unroll
    for (u32 i = 0; i < ITEMS; ++i) {
        if (UNORDERED && rank[i] == NOWHERE) continue;
        rank[i] = (rank[i] & 0xffff) + shared->tile.ranks.counts[own_table()][rank[i] >> 16];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (u32 i = 0; i < ITEMS; ++i) {
        if (UNORDERED && rank[i] == NOWHERE) continue;
        shared->tile.keys[rank[i]] = key[i];
    }
}

// Stores the staged keys, and then the values, at the places that shared->base gives. place: each item's place in
// the tile. All work-items of the group must call it, after a barrier.
INLINED void store_items(__global K* to, __global V* to_values, const V* value, u32 count, Digit digit, u32* place,
                         __local Shared* shared) {
    const u32 local_id = get_local_id(0);
#pragma unroll
    for (u32 i = 0; i < ITEMS; ++i) {
        const u32 j = i * GROUP + local_id;
        if (j < count) {
            const K key = shared->tile.keys[j];
            const u32 d = digit_in(key, digit);
            to[(COUNT)(shared->base[d] + j)] = key;
            if (VALUE_SIZE) place[i] |= d << 16;  // the digit of the value that will be staged there
        }
    }
#if VALUE_SIZE
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (u32 i = 0; i < ITEMS; ++i) shared->tile.values[place[i] & 0xffff] = value[i];
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (u32 i = 0; i < ITEMS; ++i) {
        const u32 j = i * GROUP + local_id;
        if (j < count) to_values[(COUNT)(shared->base[place[i] >> 16] + j)] = shared->tile.values[j];
    }
#endif
}
