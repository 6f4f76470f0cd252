// Bitonic sort of any length, `bitonic`, `bitonic_fused`, `bitonic_local`, and `odd_even`, OpenCL C. Parallel
// source: sort_bitonic.cu.
//
// Algorithm  Sorts blocks of 2, 4, 8, ... elements, each by merging its two sorted halves in columns of
//            comparators. The first column of a merge is mirrored and compares i with length-1-i; the others
//            compare i with i + distance. So every comparator leaves the smaller key at the lower index.
//            Comparators that reach past the end of the array are left out, as if the largest keys lay there. The
//            array is not padded.
// column     one comparator per work-item, one launch per column; odd_even uses columns of distance 1
// fused      INPUTS elements per work-item, which takes them through log2(INPUTS) columns in registers
// tile       TILE elements per group in local memory: all columns of blocks up to TILE, or the last columns of a
//            longer merge
// Passes     log2(n) (log2(n) + 1) / 2 columns
// Traffic    one read and one write per element and launch
// Tunables   GROUP work-items per group, INPUTS, TILE
// Source     K. Batcher, Sorting networks and their applications, 1968; D. Knuth, The Art of Computer Programming
//            3, 5.3.4 (any length); N. Habermann, Parallel Neighbor Sort, 1972 (odd-even transposition).

INLINED void exchange_keys(K* a, K* b) {
    const K x = *a;
    *a = *b;
    *b = x;
}
INLINED void exchange_values(V* a, V* b) {
    const V x = *a;
    *a = *b;
    *b = x;
}

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

#ifdef INPUTS

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

#endif

#ifdef TILE

// whole: sorts each tile; else performs the columns of a merge from distance TILE/2 downwards.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void sort_tile_columns(__global K* keys, ulong keys_at, __global V* values, ulong values_at, u64 n, u32 whole, u64 flip,
                       u64 fold) {
    __local K key[TILE];
#if VALUE_SIZE
    __local V value[TILE];
#endif
    const Code code = make_code(flip, fold);
    const u32 local_id = get_local_id(0);
    const u64 begin = get_group_id(0) * (u64)TILE;
    const u32 count = (u32)min(n - begin, (u64)TILE);
    keys += keys_at + begin;
    values += values_at + begin;
    for (u32 i = local_id; i < count; i += GROUP) {
        key[i] = code_of(keys[i], code);
#if VALUE_SIZE
        value[i] = values[i];
#endif
    }
    for (u32 length = whole ? 2 : TILE; length <= TILE; length *= 2) {
        for (u32 distance = length / 2; distance > 0; distance /= 2) {
            const bool mirrored = whole && distance == length / 2;
            barrier(CLK_LOCAL_MEM_FENCE);
            for (u32 c = local_id; c < TILE / 2; c += GROUP) {
                const u32 within = c & (distance - 1), first = 2 * (c - within);
                const u32 low = first + within, high = mirrored ? first + 2 * distance - 1 - within : low + distance;
                if (high < count && key[high] < key[low]) {
                    const K k = key[low];
                    key[low] = key[high];
                    key[high] = k;
#if VALUE_SIZE
                    const V v = value[low];
                    value[low] = value[high];
                    value[high] = v;
#endif
                }
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (u32 i = local_id; i < count; i += GROUP) {
        keys[i] = key_of(key[i], code);
#if VALUE_SIZE
        values[i] = value[i];
#endif
    }
}

#endif
