// Radix sort with digits of eight bits in three launches a pass, `radix8`, OpenCL C. Parallel source: sort_radix8.cu.
//
// Algorithm  A pass for each digit, from the lowest on. Upsweep: each group counts the digits of its tile. Spine: an
//            exclusive scan of the counts, digit by digit and within a digit by tiles, says where a tile's first element
//            of each digit goes. Downsweep: each group sorts its tile by the digit in local memory, stably, in two splits
//            by four bits, so that equal digits lie side by side, and stores it to where they belong. Values follow from
//            the places that the keys had in the tile.
// split      A work-item counts the digits of its ITEMS neighbouring keys in a column of its own; one scan of all columns
//            ranks the tile. It relies on no work-items that run in lock-step.
// tile       all passes of an input that fits one tile, in one launch.
// Passes     a launch to count, those of a scan, one to store; traffic a pass: the keys twice, the values once, once
//            stored.
// Tunables   GROUP work-items a group; ITEMS keys a work-item, odd against bank conflicts.
// Source     N. Satish, M. Harris, M. Garland, Designing Efficient Sorting Algorithms for Manycore GPUs, 2009; D.
//            Merrill, A. Grimshaw, High Performance and Scalable Radix Sorting, 2011.
//
// COUNT: u32 or, from 2^32 elements on, u64: what counts elements.

#define TILE (GROUP * ITEMS)
#define DIGITS 256
#define SPLIT_DIGITS 16
#define SPLIT_BITS 4

SCAN_GROUP(scan_group, u32)

// A tile in local memory.
typedef struct {
    K key[TILE];
    u16 origin[TILE];  // the place that each key had at first
    u16 counter[SPLIT_DIGITS * GROUP];
    u32 sums[2 * GROUP];
} Tile;

// Loads `count` keys of a tile. All work-items of the group call it.
INLINED void load_tile(__global const K* in, u32 count, __local Tile* tile) {
    for (u32 i = get_local_id(0); i < TILE; i += GROUP) {
        if (i < count) tile->key[i] = in[i];
        tile->origin[i] = (u16)i;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

// Every counter becomes the sum of those before it.
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

// Sorts the tile by the bits (key >> shift) & mask, SPLIT_BITS at most. What lies past its first `count` keys stays
// there: it has the last digit, and comes last among those. All work-items of the group call it.
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

#if !defined(ONE_TILE)

// Upsweep.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void sort_count(__global const K* in, ulong in_at, __global COUNT* counts, ulong counts_at, u64 n, u64 tiles, u32 shift,
                u32 mask, u64 flip, u64 fold) {
    __local u32 table[DIGITS];
    const Code code = make_code(flip, fold);
    const u64 begin = get_group_id(0) * (u64)TILE;
    const u32 local_id = get_local_id(0), count = (u32)min(n - begin, (u64)TILE);
    for (u32 d = local_id; d < DIGITS; d += GROUP) table[d] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (u32 i = local_id; i < count; i += GROUP) atomic_inc(table + digit_of(in[in_at + begin + i], shift, mask, code));
    barrier(CLK_LOCAL_MEM_FENCE);
    for (u32 d = local_id; d < DIGITS; d += GROUP) counts[counts_at + d * tiles + get_group_id(0)] = table[d];
}

// Downsweep. offsets: the exclusive scan of the counts.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void sort_scatter(__global const K* in, ulong in_at, __global const V* in_values, ulong in_values_at,
                  __global const COUNT* offsets, ulong offsets_at, __global K* out, ulong out_at,
                  __global V* out_values, ulong out_values_at, u64 n, u64 tiles, u32 shift, u32 mask, u64 flip,
                  u64 fold) {
    __local Tile tile;
    __local COUNT base[DIGITS];  // of each digit: where it goes, less its place in the tile
    const Code code = make_code(flip, fold);
    const u64 begin = get_group_id(0) * (u64)TILE;
    const u32 local_id = get_local_id(0), count = (u32)min(n - begin, (u64)TILE);
    load_tile(in + in_at + begin, count, &tile);
    for (u32 bits = 0; mask >> bits != 0; bits += SPLIT_BITS)
        split_tile(&tile, count, shift + bits, mask >> bits & (SPLIT_DIGITS - 1), code);
    for (u32 i = local_id; i < count; i += GROUP) {
        const u32 d = digit_of(tile.key[i], shift, mask, code);
        if (i == 0 || digit_of(tile.key[i - 1], shift, mask, code) != d)
            base[d] = offsets[offsets_at + d * tiles + get_group_id(0)] - i;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (u32 i = local_id; i < count; i += GROUP) {
        const K key = tile.key[i];
        const COUNT to = base[digit_of(key, shift, mask, code)] + i;
        out[out_at + to] = key;
#if VALUE_SIZE
        out_values[out_values_at + to] = in_values[in_values_at + begin + tile.origin[i]];
#endif
    }
}

#else

// Sorts by the bits [first, last). One group, which has read all values before it stores any: out may be in.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void sort_one_tile(__global const K* in, ulong in_at, __global const V* in_values, ulong in_values_at, __global K* out,
                   ulong out_at, __global V* out_values, ulong out_values_at, u32 count, u32 first, u32 last, u64 flip,
                   u64 fold) {
    __local Tile tile;
    const Code code = make_code(flip, fold);
    const u32 local_id = get_local_id(0);
    load_tile(in + in_at, count, &tile);
    for (u32 shift = first; shift < last; shift += SPLIT_BITS)
        split_tile(&tile, count, shift, last - shift < SPLIT_BITS ? (1u << (last - shift)) - 1 : SPLIT_DIGITS - 1,
                   code);
#if VALUE_SIZE
    V value[ITEMS];
    for (u32 j = 0; j < ITEMS; ++j) {
        if (j * GROUP + local_id < count) value[j] = in_values[in_values_at + tile.origin[j * GROUP + local_id]];
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
#endif
    for (u32 j = 0; j < ITEMS; ++j) {
        const u32 i = j * GROUP + local_id;
        if (i < count) {
            out[out_at + i] = tile.key[i];
#if VALUE_SIZE
            out_values[out_values_at + i] = value[j];
#endif
        }
    }
}

#endif
