// Radix sort of an input that fits one tile, OpenCL C: all passes in one launch of one group. The tile is in
// sort_tile.cl. Parallel source: sort_one_tile.cu.
//
// Passes     one launch
// Traffic    one read and one write per element
// Tunables   GROUP work-items per group, ITEMS elements per work-item
// Source     A. Adinets, D. Merrill, Onesweep: A Faster Least Significant Digit Radix Sort for GPUs, 2022.
//
// COUNT: type of counts.

#include "sort_digits.cl"
#include "sort_keys.cl"
#include "sort_tile.cl"

// Sorts by the bits [first, last). One group. out may be in: it reads all elements before it stores any.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void sort_one_tile(__global const K* in, ulong in_at, __global const V* in_values, ulong in_values_at, __global K* out,
                   ulong out_at, __global V* out_values, ulong out_values_at, u32 count, u32 first, u32 last, u64 flip,
                   u64 fold) {
    __local Shared shared;
    K key[ITEMS];
    V value[VALUE_SIZE ? ITEMS : 1];
    u32 place[ITEMS];
    load_keys(in + in_at, count, key);
#if VALUE_SIZE
    load_values(in_values + in_values_at, count, value);
#endif
    for (u32 shift = first; shift < last; shift += DIGIT_BITS) {
        const Digit digit = digit_at(shift, last, make_code(flip, fold));
        rank_items(key, count, digit, place, &shared.tile.ranks);
        scan_counts(total_count(&shared.tile.ranks), &shared.tile.ranks);
        stage_keys(key, place, &shared);
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (u32 i = 0; i < ITEMS; ++i) key[i] = shared.tile.keys[place_of(i)];
#if VALUE_SIZE
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (u32 i = 0; i < ITEMS; ++i) shared.tile.values[place[i]] = value[i];
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (u32 i = 0; i < ITEMS; ++i) value[i] = shared.tile.values[place_of(i)];
#endif
        barrier(CLK_LOCAL_MEM_FENCE);
    }
#pragma unroll
    for (u32 i = 0; i < ITEMS; ++i) {
        if (place_of(i) < count) {
            out[out_at + place_of(i)] = key[i];
#if VALUE_SIZE
            out_values[out_values_at + place_of(i)] = value[i];
#endif
        }
    }
}
