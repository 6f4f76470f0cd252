// Textbook radix sort by one bit per pass, least significant bit first, `radix1`, OpenCL C. Parallel source:
// sort_radix1.cu.
//
// Algorithm  A stable pass per bit: flags of the zeros, their exclusive scan, a split that puts zeros before ones.
// Passes     per bit one launch for the flags, those of a scan, one launch to move
// Traffic    per pass two reads per key, one per value, one write per element, and 4 COUNTs per element
// Tunables   GROUP work-items per group
// Source     G. Blelloch, Prefix Sums and Their Applications, 1990 (split).
//
// COUNT: type of counts of elements, u32 or, from 2^32 elements on, u64.

#include "sort_keys.cl"

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void sort_flags(__global const K* in, ulong in_at, __global COUNT* flags, ulong flags_at, u64 n, u32 shift, u64 flip,
                u64 fold) {
    const u64 i = get_global_id(0);
    if (i < n) flags[flags_at + i] = 1 - digit_of(in[in_at + i], shift, 1, make_code(flip, fold));
}

// positions: the exclusive scan of the flags.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void sort_split(__global const K* in, ulong in_at, __global const V* in_values, ulong in_values_at,
                __global const COUNT* positions, ulong positions_at, __global K* out, ulong out_at,
                __global V* out_values, ulong out_values_at, u64 n, u32 shift, u64 flip, u64 fold) {
    const Code code = make_code(flip, fold);
    const u64 i = get_global_id(0), last = n - 1;
    if (i < n) {
        const K key = in[in_at + i];
        const u64 zeros = positions[positions_at + last] + (u64)(1 - digit_of(in[in_at + last], shift, 1, code));
        const u64 position = positions[positions_at + i];
        const u64 to = digit_of(key, shift, 1, code) ? zeros + (i - position) : position;
        out[out_at + to] = key;
#if VALUE_SIZE
        out_values[out_values_at + to] = in_values[in_values_at + i];
#endif
    }
}
