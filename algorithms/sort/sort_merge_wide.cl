// Merge sort for CPUs, `merge`, OpenCL C: one work-item per group. The kernels for GPUs are in sort_merge.kernel.
//
// Algorithm  Each work-item sorts its chunk, which fits its cache: blocks of BLOCK elements by insertion, then
//            merges of pairs of runs. Then passes merge pairs of runs of chunks. A work-item makes one piece of the
//            result and finds its inputs in both runs by binary searches (merge path).
// Stable     Of equal elements those of the earlier run come first.
// Passes     one launch, then one per doubling of the chunk
// Traffic    one read and one write per element and launch
// Tunables   BLOCK elements per insertion sort
// Source     S. Odeh, O. Green, Z. Mwassi, O. Shmueli, Y. Birk, Merge Path - Parallel Merging Made Simple, 2012.
//
// K: unsigned integer of a key's size; T: its type; AS_T(x): an x of K as a T; apply(op, x, y): nonzero if x comes
// before y; V: unsigned integer of a value's size, VALUE_SIZE bytes, 0 for keys alone.

#include "common.cl"

INLINED bool comes_before(const Op op, K x, K y) { return apply(op, AS_T(x), AS_T(y)) != 0; }

// Keys and their values.
typedef struct {
    __global K* keys;
    __global V* values;
} Elements;

// Stores `length` results of the merge of [a, b) and [b, end), or the rest, from `first` on, a multiple of length
// counted from a. Halves the merge until this part is left, each time by a binary search along a merge path. So two
// parts agree on the boundaries that they have in common, and each element is in exactly one part, for any comparator.
INLINED void merge_runs(const Elements* in, const Elements* out, u64 a, u64 b, u64 end, u64 first, u64 length,
                        const Op op) {
    u64 from = 0, to = end - a;                             // results that are left
    u64 a_from = 0, a_to = b - a, b_from = 0, b_to = end - b;  // elements of both runs that they consist of
    while (to - from > length) {
        const u64 middle = from + (to - from + length - 1) / length / 2 * length;
        u64 low = max(a_from, max(middle, b_to) - b_to), high = min(a_to, middle - b_from);
        while (low < high) {
            const u64 i = (low + high) / 2;
            if (comes_before(op, in->keys[b + middle - 1 - i], in->keys[a + i])) {
                high = i;
            } else {
                low = i + 1;
            }
        }
        if (first < middle) {
            to = middle;
            a_to = low;
            b_to = middle - low;
        } else {
            from = middle;
            a_from = low;
            b_from = middle - low;
        }
    }
    u64 i = a + a_from, j = b + b_from, k = a + from;
    const u64 i_end = a + a_to, j_end = b + b_to, last = a + to;
    while (i < i_end && j < j_end) {
        const K x = in->keys[i], y = in->keys[j];
        const bool second = comes_before(op, y, x);
        out->keys[k] = second ? y : x;
#if VALUE_SIZE
        out->values[k] = in->values[second ? j : i];
#endif
        i += !second;
        j += second;
        ++k;
    }
    const u64 left = i < i_end ? i : j;  // the rest of the run that has not ended
    for (u64 l = 0; k + l < last; ++l) {
        out->keys[k + l] = in->keys[left + l];
#if VALUE_SIZE
        out->values[k + l] = in->values[left + l];
#endif
    }
}

// Sorts each chunk of BLOCK << rounds elements into out, which may be in. other: memory for as many elements.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void sort_chunks(__global const K* in, ulong in_at, __global const V* in_values, ulong in_values_at, __global K* out,
                 ulong out_at, __global V* out_values, ulong out_values_at, __global K* other, ulong other_at,
                 __global V* other_values, ulong other_values_at, u64 n, u32 rounds, const Op op) {
    const u64 begin = get_group_id(0) * ((u64)BLOCK << rounds), end = min(begin + ((u64)BLOCK << rounds), n);
    Elements sides[2];
    sides[0].keys = out + out_at;
    sides[0].values = out_values + out_values_at;
    sides[1].keys = other + other_at;
    sides[1].values = other_values + other_values_at;
    u32 side = rounds % 2;  // the last round ends in out
    for (u64 first = begin; first < end; first += BLOCK) {
        const u32 count = (u32)min(end - first, (u64)BLOCK);
        K key[BLOCK];
#if VALUE_SIZE
        V value[BLOCK];
#endif
        for (u32 i = 0; i < count; ++i) {
            const K x = in[in_at + first + i];
            u32 k = i;
            for (; k > 0 && comes_before(op, x, key[k - 1]); --k) key[k] = key[k - 1];
            key[k] = x;
#if VALUE_SIZE
            for (u32 l = i; l > k; --l) value[l] = value[l - 1];
            value[k] = in_values[in_values_at + first + i];
#endif
        }
        for (u32 i = 0; i < count; ++i) {
            sides[side].keys[first + i] = key[i];
#if VALUE_SIZE
            sides[side].values[first + i] = value[i];
#endif
        }
    }
    for (u32 r = 0; r < rounds; ++r, side ^= 1) {
        const u64 width = (u64)BLOCK << r;
        for (u64 a = begin; a < end; a += 2 * width) {
            const u64 b = min(a + width, end), last = min(b + width, end);
            merge_runs(sides + side, sides + (side ^ 1), a, b, last, 0, 2 * width, op);
        }
    }
}

// Merges pairs of runs of `width` elements. A work-item makes `piece` results; a run is a multiple of pieces.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void sort_merge_runs(__global K* in, ulong in_at, __global V* in_values, ulong in_values_at, __global K* out,
                     ulong out_at, __global V* out_values, ulong out_values_at, u64 n, u64 width, u64 piece,
                     const Op op) {
    Elements from, to;
    from.keys = in + in_at;
    from.values = in_values + in_values_at;
    to.keys = out + out_at;
    to.values = out_values + out_values_at;
    const u64 begin = get_group_id(0) * piece;
    const u64 a = begin / (2 * width) * (2 * width), b = min(a + width, n), end = min(b + width, n);
    merge_runs(&from, &to, a, b, end, begin - a, piece, op);
}
