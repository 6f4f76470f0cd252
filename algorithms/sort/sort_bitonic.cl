// Bitonic sort of any length, `bitonic` and `odd_even`, OpenCL C. Parallel
// source: sort_bitonic.cu.
//
// Algorithm  Sorts blocks of 2, 4, 8, ... elements, each by merging its two sorted halves in columns of
//            comparators. The first column of a merge is mirrored and compares i with length-1-i; the others
//            compare i with i + distance. So every comparator leaves the smaller key at the lower index.
//            Comparators that reach past the end of the array are left out, as if the largest keys lay there. The
//            array is not padded.
// column     one comparator per work-item, one launch per column; odd_even uses columns of distance 1
// fused      several columns per launch, in registers: sort_bitonic_fused.cl
// tile       several columns per launch, in local memory: sort_bitonic_tile.cl
// Passes     log2(n) (log2(n) + 1) / 2 columns
// Traffic    one read and one write per element and launch
// Tunables   GROUP work-items per group
// Source     K. Batcher, Sorting networks and their applications, 1968; D. Knuth, The Art of Computer Programming
//            3, 5.3.4 (any length); N. Habermann, Parallel Neighbor Sort, 1972 (odd-even transposition).

#include "sort_keys.cl"

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void sort_column(__global K* keys, ulong keys_at, __global V* values, ulong values_at, u64 n, u64 distance,
                 u32 mirrored, u64 flip, u64 fold) {
    const Code code = make_code(flip, fold);
    const u64 c = get_global_id(0), within = c & (distance - 1), first = 2 * (c - within);
    const u64 low = first + within, high = mirrored ? first + 2 * distance - 1 - within : low + distance;
    if (high < n) {
        const K a = keys[keys_at + low], b = keys[keys_at + high];
        if (code_of(b, code) < code_of(a, code)) {
            keys[keys_at + low] = b;
            keys[keys_at + high] = a;
#if VALUE_SIZE
            const V value = values[values_at + low];
            values[values_at + low] = values[values_at + high];
            values[values_at + high] = value;
#endif
        }
    }
}
