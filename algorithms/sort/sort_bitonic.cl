// Bitonic sort of any length, `bitonic`, `bitonic_fused`, `bitonic_local`, and `odd_even`, OpenCL C. Parallel
// source: sort_bitonic.cu.
//
// Algorithm  Blocks of 2, 4, 8, ... elements are sorted, each by merging its two sorted halves in columns of
//            comparators. The first column of a merge is mirrored, i against length-1-i, the others compare i with i
//            + distance: so all comparators leave the smaller key at the lower index, and those that reach past the
//            end of the array can be left out, as if the largest of keys lay there. No element is ever made up.
// column     a comparator a work-item, a launch a column; the columns of odd_even are those of distance 1 as well.
// fused      INPUTS elements a work-item, which takes them through log2(INPUTS) columns in registers.
// tile       TILE elements a group in local memory: all columns up to blocks of TILE, or the last columns of a longer
//            merge.
// Passes     log2(n) (log2(n) + 1) / 2 columns; traffic: every element once either way for each launch.
// Tunables   GROUP work-items a group, INPUTS, TILE.
// Source     K. Batcher, Sorting networks and their applications, 1968; D. Knuth, The Art of Computer Programming 3,
//            5.3.4 (any length); N. Habermann, Parallel Neighbor Sort, 1972 (odd-even transposition).

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

// A comparator between the t-th and the u-th of a work-item's elements, t < u; the first `count` of them are there.
#define COMPARE(t, u)                                                         \
    if ((u) < count && code_of(key[u], code) < code_of(key[t], code)) {   \
        exchange_keys(key + (t), key + (u));                                  \
        if (VALUE_SIZE) exchange_values(value + (t), value + (u));            \
    }

// A work-item's elements lie `stride` apart, from first + residue on; in a mirrored merge those of the upper half from
// first + stride-1-residue on, where the mirror images of the lower half's are.
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

// whole: sorts each tile; else merges with columns from distance TILE/2 on.
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
