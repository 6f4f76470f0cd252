// Several columns of a bitonic sort per launch, in registers, `bitonic_fused`, OpenCL C. Parallel source:
// sort_bitonic_fused.cu.
//
// Algorithm  sort_bitonic.cl describes the columns. A work-item takes INPUTS elements through log2(INPUTS) columns.
// Passes     one launch per log2(INPUTS) columns
// Traffic    one read and one write per element and launch
// Tunables   GROUP work-items per group, INPUTS
// Source     K. Batcher, Sorting networks and their applications, 1968.

#include "sort_keys.cl"

// The comparator between elements t and u of a work-item, t < u. The first `count` elements are valid.
#define COMPARE(t, u)                                                         \
    if ((u) < count && code_of(key[u], code) < code_of(key[t], code)) {   \
        exchange_keys(key + (t), key + (u));                                  \
        if (VALUE_SIZE) exchange_values(value + (t), value + (u));            \
    }

// A work-item's elements are `stride` apart, from first + residue on. In a mirrored merge those of the upper half
// begin at first + stride-1-residue, where the mirror images of the lower half's are.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void sort_columns(__global K* keys, ulong keys_at, __global V* values, ulong values_at, u64 n, u64 stride, u32 mirrored,
                  u64 flip, u64 fold) {
    const Code code = make_code(flip, fold);
    const u64 c = get_global_id(0), residue = c & (stride - 1), first = (c - residue) * INPUTS;
    const u64 lower = first + residue, upper = mirrored ? first + stride - 1 - residue : lower;
    K key[INPUTS];
    V value[INPUTS];
    u32 count = 0;
#pragma unroll
    for (u32 t = 0; t < INPUTS; ++t) {
        const u64 i = (t < INPUTS / 2 ? lower : upper) + t * stride;
        if (i < n) {
            key[t] = keys[keys_at + i];
            if (VALUE_SIZE) value[t] = values[values_at + i];
            count = t + 1;
        }
    }
    if (mirrored) {
#pragma unroll
        for (u32 t = 0; t < INPUTS / 2; ++t) COMPARE(t, INPUTS - 1 - t)
    } else {
#pragma unroll
        for (u32 t = 0; t < INPUTS / 2; ++t) COMPARE(t, t + INPUTS / 2)
    }
#pragma unroll
    for (u32 distance = INPUTS / 4; distance > 0; distance /= 2) {
#pragma unroll
        for (u32 t = 0; t < INPUTS; ++t) {
            if ((t & distance) == 0) COMPARE(t, t + distance)
        }
    }
#pragma unroll
    for (u32 t = 0; t < INPUTS; ++t) {
        const u64 i = (t < INPUTS / 2 ? lower : upper) + t * stride;
        if (t < count) {
            keys[keys_at + i] = key[t];
            if (VALUE_SIZE) values[values_at + i] = value[t];
        }
    }
}
