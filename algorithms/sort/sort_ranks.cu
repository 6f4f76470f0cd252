// Merge of sorted tiles by ranks, `rank_merge`, CUDA C++: the place of an element is the sum of its ranks in all tiles.
// The tiles are sorted by sort_one_tile.cu. Parallel source: sort_ranks.cl.
//
// Algorithm  The rank of an element in its own tile is its index there. Its rank in another tile is the number of that
//            tile's elements that precede it, found by binary search. Equal keys keep the order of their tiles. Each
//            group copies the codes of all keys to shared memory and places `share` elements. One thread searches one
//            tile for one element.
// Passes     one launch
// Traffic    one read of all keys per group, from L2; one read and one write per element
// Tunables   GROUP threads per group; TILE elements per tile, a power of two
// Source     N. Satish, M. Harris, M. Garland, Designing Efficient Sorting Algorithms for Manycore GPUs, 2009.
//
// SHARE: largest number of elements that a group places.

#include "sort_keys.cu"

extern __shared__ __align__(16) unsigned char staged[];  // the tiles' codes, each tile followed by an unused element

// The number of elements of a tile of `length` elements that precede one of code x. first: of equal keys, the tile's
// elements come first.
__device__ __forceinline__ u32 rank_in(const K* tile, u32 length, K x, bool first) {
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

// Merges the tiles of keys. Compares the bits [first, last). out is not keys.
extern "C" __global__ void __launch_bounds__(GROUP)
    sort_ranks(const K* keys, const V* values, K* out, V* out_values, u32 count, u32 share, u32 first, u32 last, u64 flip,
               u64 fold) {
    __shared__ u32 ranks[SHARE];
    K* const codes = reinterpret_cast<K*>(staged);
    const Code code = make_code(flip, fold);
    const u32 unused = 8 * SIZE - (last - first), begin = blockIdx.x * share, left = min(share, count - begin);
    for (u32 i = threadIdx.x; i < left; i += GROUP) ranks[i] = 0;
#pragma unroll 4
    for (u32 i = threadIdx.x; i < count; i += GROUP)
        codes[i + i / TILE] = K(K(code_of(keys[i], code) >> first) << unused);
    __syncthreads();
    const u32 tiles = (count + TILE - 1) / TILE;
    for (u32 k = threadIdx.x; k < left * tiles; k += GROUP) {
        const u32 i = k / tiles, tile = k % tiles, own = (begin + i) / TILE;
        u32 rank = (begin + i) % TILE;
        if (tile != own) {
            const K x = codes[begin + i + own];
            rank = rank_in(codes + tile * (TILE + 1), min(count - tile * TILE, u32(TILE)), x, tile < own);
        }
        atomicAdd(&ranks[i], rank);
    }
    __syncthreads();
    for (u32 i = threadIdx.x; i < left; i += GROUP) {
        out[ranks[i]] = keys[begin + i];
        if constexpr (has_values) out_values[ranks[i]] = values[begin + i];
    }
}
