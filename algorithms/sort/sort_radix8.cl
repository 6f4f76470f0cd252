// Radix sort with digits of 8 bits in three launches per pass, `radix8`, OpenCL C. Parallel source: sort_radix8.cu.
// The kernels for CPUs are in sort_wide.cl.
//
// Algorithm  One pass per digit, lowest digit first. Upsweep: each group counts the digits of its tile. Spine: an
//            exclusive scan of the counts, by digit and then by tile, gives the place of a tile's first element of
//            each digit. Downsweep: each group sorts its tile by the digit in local memory in two stable splits by
//            4 bits, so equal digits are neighbours, and stores it. Values follow by the original places of their
//            keys.
// split      A work-item counts the digits of its ITEMS neighbouring keys in its own column. One scan of all
//            columns ranks the tile. The split does not rely on work-items that run in lock-step.
// tile       all passes of an input that fits one tile, in one launch
// Passes     per digit one launch to count, those of a scan, one launch to store
// Traffic    per pass two reads per key, one per value, one write per element
// Tunables   GROUP work-items per group; ITEMS keys per work-item, odd to avoid bank conflicts
// Source     N. Satish, M. Harris, M. Garland, Designing Efficient Sorting Algorithms for Manycore GPUs, 2009; D.
//            Merrill, A. Grimshaw, High Performance and Scalable Radix Sorting, 2011.
//
// COUNT: type of counts of elements, u32 or, from 2^32 elements on, u64.

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
    __local COUNT base[DIGITS];  // place of each digit in out, minus its place in the tile
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

// Sorts by the bits [first, last). One group. out may be in: it reads all values before it stores any.
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
