// Merge of sorted tiles by ranks, `rank_merge`, OpenCL C: the place of an element is the sum of its ranks in all tiles.
// The tiles are sorted by sort_one_tile.cl. The parallel source sort_ranks.cu describes it.

#include "sort_keys.cl"

// The number of elements of a tile of `length` elements that precede one of code x. first: of equal keys, the tile's
// elements come first.
INLINED u32 rank_in(const __local K* tile, u32 length, K x, bool first) {
    u32 rank = 0;
#pragma unroll
    for (u32 step = TILE; step > 0; step /= 2) {
        if (rank + step <= length) {
            const K last = tile[rank + step - 1];
            if (first ? last <= x : last < x) rank += step;
        }
    }
    return rank;
}

// Merges the tiles of keys. Compares the bits [first, last). out is not keys. codes: local memory for the tiles' codes,
// each tile followed by an unused element.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void sort_ranks(__global const K* keys, ulong keys_at, __global const V* values, ulong values_at, __global K* out,
                ulong out_at, __global V* out_values, ulong out_values_at, u32 count, u32 share, u32 first, u32 last,
                u64 flip, u64 fold, __local K* codes) {
    __local u32 ranks[SHARE];
    const Code code = make_code(flip, fold);
    const u32 local_id = get_local_id(0), unused = 8 * SIZE - (last - first), begin = (u32)get_group_id(0) * share,
              left = min(share, count - begin);
    keys += keys_at;
    for (u32 i = local_id; i < left; i += GROUP) ranks[i] = 0;
#pragma unroll 4
    for (u32 i = local_id; i < count; i += GROUP)
        codes[i + i / TILE] = (K)((K)(code_of(keys[i], code) >> first) << unused);
    barrier(CLK_LOCAL_MEM_FENCE);
    const u32 tiles = (count + TILE - 1) / TILE;
    for (u32 k = local_id; k < left * tiles; k += GROUP) {
        const u32 i = k / tiles, tile = k % tiles, own = (begin + i) / TILE;
        u32 rank = (begin + i) % TILE;
        if (tile != own) {
            const K x = codes[begin + i + own];
            rank = rank_in(codes + tile * (TILE + 1), min(count - tile * TILE, (u32)TILE), x, tile < own);
        }
        atomic_add(ranks + i, rank);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (u32 i = local_id; i < left; i += GROUP) {
        out[out_at + ranks[i]] = keys[begin + i];
#if VALUE_SIZE
        out_values[out_values_at + ranks[i]] = values[values_at + begin + i];
#endif
    }
}
