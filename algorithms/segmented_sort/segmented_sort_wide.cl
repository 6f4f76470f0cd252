// Segmented sort, OpenCL C, the shape for CPUs. Parallel sources: segmented_sort_tiles.kernel, which describes the
// algorithm, and segmented_sort_merge.kernel. The first launch: segmented_sort_borders.kernel.
//
// Algorithm  A work-item sorts the part of each segment in a tile: blocks of BLOCK elements by insertion, then merges
//            of pairs of runs. Places move with their keys, values follow. Passes merge the parts as on GPUs.
// Stable     Of equal elements those of the earlier run come first.
// Passes     two launches, then one per doubling of the tile. Those that no segment needs return at once.
// Traffic    one read and one write per element, and once more for each pass of its segment
// Tunables   BLOCK elements per insertion sort, TILE_LENGTH
// Source     as segmented_sort_tiles.kernel
//
// K, SIZE, O, TILE_LENGTH: see segmented_sort_common.kernel; V: unsigned integer of a value's size, VALUE_SIZE bytes, 0
// for keys alone.

#include "segmented_sort_common.kernel"

// Sorts n elements; the places are those before. keys: codes, with room for n more, as places has. Returns where the
// result is: at 0 or at n.
INLINED u32 sort_part(__global K* keys, __global u32* places, u32 n) {
    u32 now = 0, next = n;  // where the runs are, and where their merges go
    for (u32 i = 0; i < n; ++i) {
        const K key = keys[i];
        u32 j = i;
        for (; j > i / BLOCK * BLOCK && key < keys[j - 1]; --j) {
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
    for (u32 length = BLOCK; length < n; length *= 2) {
        for (u32 a = 0; a < n; a += 2 * length) {
            const u32 b = min(a + length, n), end = min(b + length, n);
            for (u32 i = a, j = b, k = a; k < end; ++k) {
                const bool second = j < end && (i == b || keys[now + j] < keys[now + i]);
                const u32 at = second ? j++ : i++;
                keys[next + k] = keys[now + at];
#if VALUE_SIZE
                places[next + k] = places[now + at];
#endif
            }
        }
        const u32 other = now;
        now = next;
        next = other;
    }
    return now;
}

MERGE_PATH(path_of, GLOBAL, u64)

// keys and places: 2 * TILE_LENGTH elements per group. values: TILE_LENGTH.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void segment_tiles(IN(K, in), IN(V, in_values), IN(O, offsets), IN(u64, borders), IN(u32, facts), OUT(K, out),
                   OUT(V, out_values), OUT(K, spare), OUT(V, spare_values), OUT(K, keys), OUT(V, values),
                   OUT(u32, places), u64 n, u64 segments, u64 tiles, u64 flip, u64 fold) {
    AT_OFFSET(in);
    AT_OFFSET(in_values);
    AT_OFFSET(offsets);
    AT_OFFSET(borders);
    AT_OFFSET(facts);
    AT_OFFSET(out);
    AT_OFFSET(out_values);
    AT_OFFSET(spare);
    AT_OFFSET(spare_values);
    AT_OFFSET(keys);
    AT_OFFSET(values);
    AT_OFFSET(places);
    if (facts[FACT_WRONG] != 0) return;
    const Code code = make_code(flip, fold);
    keys += get_group_id(0) * 2 * TILE_LENGTH;
    values += VALUE_SIZE ? get_group_id(0) * TILE_LENGTH : 0;
    places += VALUE_SIZE ? get_group_id(0) * 2 * TILE_LENGTH : 0;
    for (u64 t = get_group_id(0); t < tiles; t += get_num_groups(0)) {
        const u64 begin = t * TILE_LENGTH, end = min(begin + TILE_LENGTH, n);
        const u64 low = offsets_before(borders, t), high = offsets_before(borders, t + 1);
        const Crossing left = crossing_at(borders, t), right = crossing_at(borders, t + 1);
        // Elements before the first segment and behind the last one stay.
        u64 first = low > 0 ? begin : (u64)offsets[0], above = offset_above(offsets, low, high, first);
        while (above <= segments && first < end) {
            const u64 next = min((u64)offsets[above], end);
            // The segments that reach over the borders have passes yet.
            const u64 span = first < left.end ? span_of(left) : next == end ? span_of(right) : 0;
            const bool to_spare = is_spare(span, 0);
            const u32 length = (u32)(next - first);
            for (u32 i = 0; i < length; ++i) keys[i] = code_of(in[first + i], code);
            const u32 sorted = sort_part(keys, places, length);
            __global K* const to = (to_spare ? spare : out) + first;
            for (u32 i = 0; i < length; ++i) to[i] = span == 0 ? key_of(keys[sorted + i], code) : keys[sorted + i];
#if VALUE_SIZE
            // Values may be sorted in place.
            __global V* const to_values = (to_spare ? spare_values : out_values) + first;
            for (u32 i = 0; i < length; ++i) values[i] = in_values[first + i];
            for (u32 i = 0; i < length; ++i) to_values[i] = values[places[sorted + i]];
#endif
            first = next;
            above = offset_above(offsets, above, high, first);
        }
    }
}

// Merges the elements of one tile of the result, by the tile's paths through both runs.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void segment_merge(OUT(K, out), OUT(V, out_values), OUT(K, spare), OUT(V, spare_values), IN(u64, borders),
                   IN(u32, facts), u64 tiles, u32 pass, u64 flip, u64 fold) {
    AT_OFFSET(out);
    AT_OFFSET(out_values);
    AT_OFFSET(spare);
    AT_OFFSET(spare_values);
    AT_OFFSET(borders);
    AT_OFFSET(facts);
    if (facts[FACT_WRONG] != 0 || facts[FACT_SPANS] >> pass == 0) return;
    const Code code = make_code(flip, fold);
    for (u64 t = get_group_id(0); t < tiles; t += get_num_groups(0)) {
        for (u32 border = 0; border < 2; ++border) {
            const Crossing s = crossing_at(borders, t + border);
            const u64 span = span_of(s);
            // The segment over the second border counts if it begins here.
            if (span >> pass == 0 || (border != 0 && s.begin < t * TILE_LENGTH)) continue;
            const Merge m = merge_of(s, t, pass);
            const bool in_spare = is_spare(span, pass), is_last = span >> (pass + 1) == 0;
            __global const K* const from = in_spare ? spare : out;
            __global K* const to = in_spare ? out : spare;
            u64 i = m.first + path_of(from + m.first, m.middle - m.first, from + m.middle, m.end - m.middle,
                                      m.low - m.first);
            u64 j = m.middle + (m.low - i);
            for (u64 k = m.low; k < m.high; ++k) {
                const bool second = j < m.end && (i == m.middle || from[j] < from[i]);
                const u64 at = second ? j++ : i++;
                to[k] = is_last ? key_of(from[at], code) : from[at];
#if VALUE_SIZE
                if (in_spare) {
                    out_values[k] = spare_values[at];
                } else {
                    spare_values[k] = out_values[at];
                }
#endif
            }
        }
    }
}
