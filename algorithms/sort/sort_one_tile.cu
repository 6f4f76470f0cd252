// Radix sort of an input that fits one tile, CUDA C++: all passes in one launch of one group. The tile is in
// sort_tile.cu. Parallel source: sort_one_tile.cl.
//
// Passes     one launch
// Traffic    one read and one write per element
// Tunables   GROUP threads per group, ITEMS elements per thread, MATCH
// Source     A. Adinets, D. Merrill, Onesweep: A Faster Least Significant Digit Radix Sort for GPUs, 2022.
//
// COUNT: type of counts.

#include "sort_digits.cu"
#include "sort_keys.cu"
#include "sort_tile.cu"

// Sorts by the bits [first, last). One group. out may be in: it reads all elements before it stores any.
extern "C" __global__ void __launch_bounds__(GROUP)
    sort_one_tile(const K* in, const V* in_values, K* out, V* out_values, u32 count, u32 first, u32 last, u64 flip,
                  u64 fold) {
    __shared__ Shared shared;
    K* const keys = reinterpret_cast<K*>(staged);
    V* const values = reinterpret_cast<V*>(staged);
    K key[ITEMS];
    V value[has_values ? ITEMS : 1];
    u32 place[ITEMS];
    load_items(in, count, key);
    if constexpr (has_values) load_items(in_values, count, value);
    for (u32 shift = first; shift < last; shift += digit_bits) {
        const Digit digit = digit_at(shift, last, make_code(flip, fold));
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
            out[place_of(i)] = key[i];
            if constexpr (has_values) out_values[place_of(i)] = value[i];
        }
    }
}
