// Bitonic sort of any length, `bitonic` and `odd_even`, CUDA C++. Parallel
// source: sort_bitonic.cl.
//
// Algorithm  Sorts blocks of 2, 4, 8, ... elements, each by merging its two sorted halves in columns of
//            comparators. The first column of a merge is mirrored and compares i with length-1-i; the others
//            compare i with i + distance. So every comparator leaves the smaller key at the lower index.
//            Comparators that reach past the end of the array are left out, as if the largest keys lay there. The
//            array is not padded.
// column     one comparator per thread, one launch per column; odd_even uses columns of distance 1
// fused      several columns per launch, in registers: sort_bitonic_fused.cu
// tile       several columns per launch, in shared memory: sort_bitonic_tile.cu
// Passes     log2(n) (log2(n) + 1) / 2 columns
// Traffic    one read and one write per element and launch
// Tunables   GROUP threads per group
// Source     K. Batcher, Sorting networks and their applications, 1968; D. Knuth, The Art of Computer Programming
//            3, 5.3.4 (any length); N. Habermann, Parallel Neighbor Sort, 1972 (odd-even transposition).

#include "sort_keys.cu"

extern "C" __global__ void __launch_bounds__(GROUP)
    sort_column(K* keys, V* values, u64 n, u64 distance, u32 mirrored, u64 flip, u64 fold) {
    const Code code = make_code(flip, fold);
    const u64 c = u64(blockIdx.x) * GROUP + threadIdx.x, within = c & (distance - 1), first = 2 * (c - within);
    const u64 low = first + within, high = mirrored ? first + 2 * distance - 1 - within : low + distance;
    if (high >= n) return;
    const K a = keys[low], b = keys[high];
    if (code_of(b, code) < code_of(a, code)) {
        keys[low] = b;
        keys[high] = a;
        if constexpr (has_values) exchange(values[low], values[high]);
    }
}
