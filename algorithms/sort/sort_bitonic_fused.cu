// Several columns of a bitonic sort per launch, in registers, `bitonic_fused`, CUDA C++. Parallel source:
// sort_bitonic_fused.cl.
//
// Algorithm  sort_bitonic.cu describes the columns. A thread takes INPUTS elements through log2(INPUTS) columns.
// Passes     one launch per log2(INPUTS) columns
// Traffic    one read and one write per element and launch
// Tunables   GROUP threads per group, INPUTS
// Source     K. Batcher, Sorting networks and their applications, 1968.

#include "sort_keys.cu"

// A thread's elements. The first `count` of them are valid.
struct Inputs {
    K key[INPUTS];
    V value[has_values ? INPUTS : 1];
    u32 count;

    // The comparator between elements t and u, t < u.
    __device__ __forceinline__ void compare(u32 t, u32 u, Code code) {
        if (u < count && code_of(key[u], code) < code_of(key[t], code)) {
            exchange(key[t], key[u]);
            if constexpr (has_values) exchange(value[t], value[u]);
        }
    }
};

// A thread's elements are `stride` apart, from first + residue on. In a mirrored merge those of the upper half
// begin at first + stride-1-residue, where the mirror images of the lower half's are.
extern "C" __global__ void __launch_bounds__(GROUP)
    sort_columns(K* keys, V* values, u64 n, u64 stride, u32 mirrored, u64 flip, u64 fold) {
    const Code code = make_code(flip, fold);
    const u64 c = u64(blockIdx.x) * GROUP + threadIdx.x, residue = c & (stride - 1), first = (c - residue) * INPUTS;
    const u64 lower = first + residue, upper = mirrored ? first + stride - 1 - residue : lower;
    Inputs mine;
    mine.count = 0;
#pragma unroll
    for (u32 t = 0; t < INPUTS; ++t) {
        const u64 i = (t < INPUTS / 2 ? lower : upper) + t * stride;
        if (i < n) {
            mine.key[t] = keys[i];
            if constexpr (has_values) mine.value[t] = values[i];
            mine.count = t + 1;
        }
    }
    if (mirrored) {
#pragma unroll
        for (u32 t = 0; t < INPUTS / 2; ++t) mine.compare(t, INPUTS - 1 - t, code);
    } else {
#pragma unroll
        for (u32 t = 0; t < INPUTS / 2; ++t) mine.compare(t, t + INPUTS / 2, code);
    }
#pragma unroll
    for (u32 distance = INPUTS / 4; distance > 0; distance /= 2) {
#pragma unroll
        for (u32 t = 0; t < INPUTS; ++t) {
            if ((t & distance) == 0) mine.compare(t, t + distance, code);
        }
    }
#pragma unroll
    for (u32 t = 0; t < INPUTS; ++t) {
        const u64 i = (t < INPUTS / 2 ? lower : upper) + t * stride;
        if (t < mine.count) {
            keys[i] = mine.key[t];
            if constexpr (has_values) values[i] = mine.value[t];
        }
    }
}
