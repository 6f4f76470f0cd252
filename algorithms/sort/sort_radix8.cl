// Radix sort with digits of 8 bits in three launches per pass, `radix8`, OpenCL C. Parallel source: sort_radix8.cu.
// The kernels for CPUs are in sort_wide.cl.
//
// Algorithm  One pass per digit, lowest digit first. Upsweep: each group counts the digits of its tile. Spine: an
//            exclusive scan of the counts, by digit and then by tile, gives the place of a tile's first element of
//            each digit. Downsweep: each group sorts its tile by the digit in local memory in two stable splits by
//            4 bits, so equal digits are neighbours, and stores it. Values follow by the original places of their
//            keys.
// split      The split is in sort_split.cl. An input that fits one tile takes one launch: sort_split_tile.cl.
// Passes     per digit one launch to count, those of a scan, one launch to store
// Traffic    per pass two reads per key, one per value, one write per element
// Tunables   GROUP work-items per group; ITEMS keys per work-item, odd to avoid bank conflicts
// Source     N. Satish, M. Harris, M. Garland, Designing Efficient Sorting Algorithms for Manycore GPUs, 2009; D.
//            Merrill, A. Grimshaw, High Performance and Scalable Radix Sorting, 2011.
//
// COUNT: type of counts of elements, u32 or, from 2^32 elements on, u64.

#include "sort_keys"
#include "sort_split.cl"

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
