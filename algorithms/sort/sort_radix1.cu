// Textbook radix sort by one bit per pass, least significant bit first, `radix1`, CUDA C++. Parallel source:
// sort_radix1.cl.
//
// Algorithm  A stable pass per bit: flags of the zeros, their exclusive scan, a split that puts zeros before ones.
// Passes     per bit one launch for the flags, those of a scan, one launch to move
// Traffic    per pass two reads per key, one per value, one write per element, and 4 COUNTs per element
// Tunables   GROUP threads per group
// Source     G. Blelloch, Prefix Sums and Their Applications, 1990 (split).
//
// COUNT: type of counts of elements, u32 or, from 2^32 elements on, u64.

#include "sort_keys.cu"

extern "C" __global__ void __launch_bounds__(GROUP)
    sort_flags(const K* in, COUNT* flags, u64 n, u32 shift, u64 flip, u64 fold) {
    const u64 i = u64(blockIdx.x) * GROUP + threadIdx.x;
    if (i < n) flags[i] = 1 - digit_of(in[i], shift, 1, make_code(flip, fold));
}

// positions: the exclusive scan of the flags.
extern "C" __global__ void __launch_bounds__(GROUP)
    sort_split(const K* in, const V* in_values, const COUNT* positions, K* out, V* out_values, u64 n, u32 shift,
               u64 flip, u64 fold) {
    const Code code = make_code(flip, fold);
    const u64 i = u64(blockIdx.x) * GROUP + threadIdx.x, last = n - 1;
    if (i >= n) return;
    const K key = in[i];
    const u64 zeros = positions[last] + u64(1 - digit_of(in[last], shift, 1, code));
    const u64 position = positions[i];
    const u64 to = digit_of(key, shift, 1, code) ? zeros + (i - position) : position;
    out[to] = key;
    if constexpr (has_values) out_values[to] = in_values[i];
}
