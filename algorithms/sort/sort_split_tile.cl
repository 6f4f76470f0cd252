// `radix8` of an input that fits one tile, OpenCL C: all passes in one launch of one group. The tile is in
// sort_split.cl.
//
// Passes     one launch
// Traffic    one read per element, one write
// Tunables   GROUP work-items per group; ITEMS keys per work-item
// Source     N. Satish, M. Harris, M. Garland, Designing Efficient Sorting Algorithms for Manycore GPUs, 2009.

#include "sort_keys"
#include "sort_split.cl"

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
