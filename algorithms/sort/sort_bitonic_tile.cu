// Several columns of a bitonic sort per launch, in shared memory, `bitonic_local`, CUDA C++. Parallel source:
// sort_bitonic_tile.cl.
//
// Algorithm  sort_bitonic.cu describes the columns. A group takes TILE elements through all columns of blocks up to
//            TILE, or through the last columns of a longer merge.
// Passes     one launch for the blocks up to TILE, one per longer merge
// Traffic    one read and one write per element and launch
// Tunables   GROUP threads per group, TILE
// Source     K. Batcher, Sorting networks and their applications, 1968.

#include "sort_keys.cu"

// whole: sorts each tile; else performs the columns of a merge from distance TILE/2 downwards.
extern "C" __global__ void __launch_bounds__(GROUP)
    sort_tile_columns(K* keys, V* values, u64 n, u32 whole, u64 flip, u64 fold) {
    __shared__ K key[TILE];
    __shared__ V value[has_values ? TILE : 1];
    const Code code = make_code(flip, fold);
    const u32 thread = threadIdx.x;
    const u64 begin = u64(blockIdx.x) * TILE;
    const u32 count = u32(min(n - begin, u64(TILE)));
    keys += begin;
    values += begin;
    for (u32 i = thread; i < count; i += GROUP) {
        key[i] = code_of(keys[i], code);
        if constexpr (has_values) value[i] = values[i];
    }
    for (u32 length = whole ? 2 : TILE; length <= TILE; length *= 2) {
        for (u32 distance = length / 2; distance > 0; distance /= 2) {
            const bool mirrored = whole && distance == length / 2;
            __syncthreads();
#pragma unroll
            for (u32 c = thread; c < TILE / 2; c += GROUP) {
                const u32 within = c & (distance - 1), first = 2 * (c - within);
                const u32 low = first + within, high = mirrored ? first + 2 * distance - 1 - within : low + distance;
                if (high < count && key[high] < key[low]) {
                    exchange(key[low], key[high]);
                    if constexpr (has_values) exchange(value[low], value[high]);
                }
            }
        }
    }
    __syncthreads();
    for (u32 i = thread; i < count; i += GROUP) {
        keys[i] = key_of(key[i], code);
        if constexpr (has_values) values[i] = value[i];
    }
}
