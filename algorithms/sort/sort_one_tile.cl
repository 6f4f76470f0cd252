// Radix sort of each tile of an input, OpenCL C: all passes in one launch, one group per tile. The tile is in
// sort_tile.cl. The parallel source sort_one_tile.cu describes it.

#include "sort_digits.cl"
#include "sort_keys.cl"
#include "sort_tile.cl"

// Sorts each tile of `all` elements by the bits [first, last). out may be in: a group reads all elements of its tile
// before it stores any.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void sort_one_tile(__global const K* in, ulong in_at, __global const V* in_values, ulong in_values_at, __global K* out,
                   ulong out_at, __global V* out_values, ulong out_values_at, u32 all, u32 first, u32 last, u64 flip,
                   u64 fold) {
    __local Shared shared;
    K key[ITEMS];
    V value[VALUE_SIZE ? ITEMS : 1];
    u32 place[ITEMS];
    const u32 begin = (u32)get_group_id(0) * TILE, count = min(all - begin, (u32)TILE);
    const Code code = make_code(flip, fold);
    load_tile(in + in_at + begin, count, code, key);
#if VALUE_SIZE
    load_values(in_values + in_values_at + begin, count, value);
#endif
    for (u32 shift = first; shift < last; shift += DIGIT_BITS) {
        const Digit digit = digit_at(shift, last, code);
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
            out[out_at + begin + place_of(i)] = key[i];
#if VALUE_SIZE
            out_values[out_values_at + begin + place_of(i)] = value[i];
#endif
        }
    }
}
