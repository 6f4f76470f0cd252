// Sort over one axis of an array, OpenCL C, the shape for CPUs. Parallel source: sort_lines.kernel.
//
// Algorithm  A work-item sorts lines one after another in scratch memory: blocks of BLOCK elements by insertion, then
//            merges of pairs of runs. Places move with their keys, values follow.
// Stable     Of equal elements those of the earlier run come first.
// Passes     one launch
// Traffic    one read and one write per element; lines that exceed the cache: one more per doubling of a run
// Tunables   BLOCK elements per insertion sort
// Source     D. Knuth, The Art of Computer Programming, vol. 3, section 5.2.4.
//
// K: unsigned integer of a key's size; T: its type; AS_T(x): an x of K as a T; apply(op, x, y): nonzero if x comes
// before y; V: unsigned integer of a value's size, VALUE_SIZE bytes, 0 for keys alone; flags, OPERANDS: see
// sort_lines.kernel.

#include "common.cl"
#include "nd_lines.kernel"

#define INDEXED 1u
#define KEYS 2u

INLINED bool comes_before(const Op op, K x, K y) { return apply(op, AS_T(x), AS_T(y)) != 0; }

// keys: 2 n elements per group. values: n values, then 2 n places as u64, per group.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void sort_lines(__global const K* in, ulong in_at, __global const V* in_values, ulong in_values_at, __global K* out,
                ulong out_at, __global V* out_values, ulong out_values_at, __global K* keys, ulong keys_at,
                __global V* values, ulong values_at, __global u64* places, ulong places_at, const Lines s,
                u32 flags, const Op op) {
    const u64 n = s.n;
    keys += keys_at + get_group_id(0) * 2 * n;
#if VALUE_SIZE
    values += values_at + get_group_id(0) * n;
    places += places_at + get_group_id(0) * 2 * n;
#endif
    for (u64 line = get_group_id(0); line < s.lines; line += get_num_groups(0)) {
        __global const K* const from = in + in_at + line_at(&s, 0, line);
        u64 now = 0, next = n;  // where the runs are, and where their merges go
        for (u64 i = 0; i < n; ++i) {
            const K key = from[(i64)i * s.step[0]];
            u64 j = i;
            for (; j > i / BLOCK * BLOCK && comes_before(op, key, keys[j - 1]); --j) {
                keys[j] = keys[j - 1];
#if VALUE_SIZE
                places[j] = places[j - 1];
#endif
            }
            keys[j] = key;
#if VALUE_SIZE
            places[j] = i;
#endif
        }
        for (u64 length = BLOCK; length < n; length *= 2) {
            for (u64 a = 0; a < n; a += 2 * length) {
                const u64 b = min(a + length, n), end = min(b + length, n);
                for (u64 i = a, j = b, k = a; k < end; ++k) {
                    const bool second =
                        j < end && (i == b || comes_before(op, keys[now + j], keys[now + i]));
                    const u64 at = second ? j++ : i++;
                    keys[next + k] = keys[now + at];
#if VALUE_SIZE
                    places[next + k] = places[now + at];
#endif
                }
            }
            const u64 other = now;
            now = next;
            next = other;
        }
        __global K* const to = out + out_at + line_at(&s, 2, line);
        for (u64 i = 0; flags & KEYS && i < n; ++i) to[(i64)i * s.step[2]] = keys[now + i];
#if VALUE_SIZE
        __global V* const to_values = out_values + out_values_at + line_at(&s, 3, line);
        // Values may be sorted in place.
        __global const V* const from_values = in_values + in_values_at + line_at(&s, 1, line);
        for (u64 i = 0; !(flags & INDEXED) && i < n; ++i) values[i] = from_values[(i64)i * s.step[1]];
        for (u64 i = 0; i < n; ++i) {
            const u64 place = places[now + i];
            to_values[(i64)i * s.step[3]] = flags & INDEXED ? (V)place : values[place];
        }
#endif
    }
}
