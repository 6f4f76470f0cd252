// Radix sort of each tile of an input, CUDA C++: all passes in one launch, one group per tile. The tile is in
// sort_tile.cu. Parallel source: sort_one_tile.cl.
//
// Passes     one launch
// Traffic    one read and one write per element
// Tunables   GROUP threads per group, ITEMS elements per thread
// Source     A. Adinets, D. Merrill, Onesweep: A Faster Least Significant Digit Radix Sort for GPUs, 2022.
//
// COUNT: type of counts.

#include "sort_digits.cu"
#include "sort_keys.cu"
#include "sort_tile.cu"

// Sorts each tile of `all` elements by the bits [first, last). out may be in: a group reads all elements of its tile
// before it stores any.
extern "C" __global__ void __launch_bounds__(GROUP)
    sort_one_tile(const K* in, const V* in_values, K* out, V* out_values, u32 all, u32 first, u32 last, u64 flip,
                  u64 fold) {
    __shared__ Shared shared;
    K* const keys = reinterpret_cast<K*>(staged);
    V* const values = reinterpret_cast<V*>(staged);
    K key[ITEMS];
    V value[has_values ? ITEMS : 1];
    u32 place[ITEMS];
    const u32 begin = blockIdx.x * tile_length, count = min(all - begin, tile_length);
    const Code code = make_code(flip, fold);
    load_keys(in + begin, count, code, key);
    if constexpr (has_values) load_items(in_values + begin, count, value);
    for (u32 shift = first; shift < last; shift += digit_bits) {
        const Digit digit = digit_at(shift, last, code);
        rank_items(key, count, digit, place, shared);
        scan_counts(shared, [](u32) {});
        stage_keys(key, place, shared);
        __syncthreads();
#pragma unroll
        for (u32 i = 0; i < ITEMS; ++i) key[i] = keys[place_of(i)];
        if constexpr (has_values) {
            __syncthreads();
#pragma unroll
            for (u32 i = 0; i < ITEMS; ++i) values[place[i]] = value[i];
            __syncthreads();
#pragma unroll
            for (u32 i = 0; i < ITEMS; ++i) value[i] = values[place_of(i)];
        }
        __syncthreads();
    }
#pragma unroll
    for (u32 i = 0; i < ITEMS; ++i) {
        if (place_of(i) < count) {
            out[begin + place_of(i)] = key[i];
            if constexpr (has_values) out_values[begin + place_of(i)] = value[i];
        }
    }
}
