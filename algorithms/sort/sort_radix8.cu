// Radix sort with digits of 8 bits in three launches per pass, `radix8`, CUDA C++. The tile is in sort_tile.kernel.
// Parallel source: sort_radix8.cl, which splits tiles by 4 bits at a time because it cannot rely on warps.
//
// Algorithm  One pass per digit, lowest digit first. Upsweep: each group counts the digits of its tile. Spine: an
//            exclusive scan of the counts, by digit and then by tile, gives the place of a tile's first element of
//            each digit. Downsweep: each group ranks its tile, gathers equal digits in shared memory and stores
//            them.
// Passes     per digit one launch to count, those of a scan, one launch to store
// Traffic    per pass two reads per key, one per value, one write per element
// Tunables   GROUP threads per group, ITEMS elements per thread
// Source     D. Merrill, A. Grimshaw, High Performance and Scalable Radix Sorting, 2011.

#include "sort_tile"

// Upsweep.
extern "C" __global__ void __launch_bounds__(GROUP)
    sort_count(const K* in, COUNT* counts, u64 n, u64 tiles, u32 shift, u32 mask, u64 flip, u64 fold) {
    __shared__ u32 table[DIGITS];
    const Digit digit{shift, mask, make_code(flip, fold)};
    const u64 begin = u64(blockIdx.x) * TILE;
    const u32 count = u32(min(n - begin, u64(TILE)));
    if (threadIdx.x < DIGITS) table[threadIdx.x] = 0;
    __syncthreads();
    K key[ITEMS];
    load_keys(in + begin, count, key);
#pragma unroll
    for (u32 i = 0; i < ITEMS; ++i) {
        if (place_of(i) < count) atomicAdd(table + digit_in(key[i], digit), 1u);
    }
    __syncthreads();
    if (threadIdx.x < DIGITS) counts[threadIdx.x * tiles + blockIdx.x] = table[threadIdx.x];
}

// Downsweep. offsets: the exclusive scan of the counts.
extern "C" __global__ void __launch_bounds__(GROUP)
    sort_scatter(const K* in, const V* in_values, const COUNT* offsets, K* out, V* out_values, u64 n, u64 tiles,
                 u32 shift, u32 mask, u64 flip, u64 fold) {
    __shared__ Shared shared;
    const Digit digit{shift, mask, make_code(flip, fold)};
    const u64 begin = u64(blockIdx.x) * TILE;
    const u32 count = u32(min(n - begin, u64(TILE)));
    K key[ITEMS];
    V value[VALUE_SIZE ? ITEMS : 1];
    u32 place[ITEMS];
    load_tile(in + begin, count, digit.code, key);
    rank_items(key, count, digit, place, &shared);
    const u32 start = scan_counts(total_count(&shared), &shared);
    stage_keys(key, place, &shared);
    if (VALUE_SIZE) load_values(in_values + begin, count, value);
    if (threadIdx.x < DIGITS) shared.base[threadIdx.x] = offsets[threadIdx.x * tiles + blockIdx.x] - start;
    __syncthreads();
    store_items(out, out_values, value, count, digit, place, &shared);
}
