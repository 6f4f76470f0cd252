// Several columns of a bitonic sort per launch, in local memory, `bitonic_local`, OpenCL C. Parallel source:
// sort_bitonic_tile.cu.
//
// Algorithm  sort_bitonic.cl describes the columns. A group takes TILE elements through all columns of blocks up to
//            TILE, or through the last columns of a longer merge.
// Passes     one launch for the blocks up to TILE, one per longer merge
// Traffic    one read and one write per element and launch
// Tunables   GROUP work-items per group, TILE
// Source     K. Batcher, Sorting networks and their applications, 1968.

#include "sort_keys.cl"

// whole: sorts each tile; else performs the columns of a merge from distance TILE/2 downwards.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void sort_tile_columns(__global K* keys, ulong keys_at, __global V* values, ulong values_at, u64 n, u32 whole, u64 flip,
                       u64 fold) {
    __local K key[TILE];
#if VALUE_SIZE
    __local V value[TILE];
#endif
    const Code code = make_code(flip, fold);
    const u32 local_id = get_local_id(0);
    const u64 begin = get_group_id(0) * (u64)TILE;
    const u32 count = (u32)min(n - begin, (u64)TILE);
    keys += keys_at + begin;
    values += values_at + begin;
    for (u32 i = local_id; i < count; i += GROUP) {
        key[i] = code_of(keys[i], code);
#if VALUE_SIZE
        value[i] = values[i];
#endif
    }
    for (u32 length = whole ? 2 : TILE; length <= TILE; length *= 2) {
        for (u32 distance = length / 2; distance > 0; distance /= 2) {
            const bool mirrored = whole && distance == length / 2;
            barrier(CLK_LOCAL_MEM_FENCE);
            for (u32 c = local_id; c < TILE / 2; c += GROUP) {
                const u32 within = c & (distance - 1), first = 2 * (c - within);
                const u32 low = first + within, high = mirrored ? first + 2 * distance - 1 - within : low + distance;
                if (high < count && key[high] < key[low]) {
                    const K k = key[low];
                    key[low] = key[high];
                    key[high] = k;
#if VALUE_SIZE
                    const V v = value[low];
                    value[low] = value[high];
                    value[high] = v;
#endif
                }
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (u32 i = local_id; i < count; i += GROUP) {
        keys[i] = key_of(key[i], code);
#if VALUE_SIZE
        values[i] = value[i];
#endif
    }
}
