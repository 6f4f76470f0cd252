// Segmented reduce, OpenCL C, the shape for CPUs. Parallel source: segmented_reduce_host.hpp.
//
// Algorithm  One work-item per group reduces a run of segments, the chunks of long ones by a second launch, and their
//            sums by a third. reduce.kernel describes the order.
// Passes     three launches. Traffic: reads the elements of all segments and the offsets once.
// Tunables   each, run: segments and chunks per group, launch arguments.
// Source     as reduce_wide.cl.
//
// T: element type; O: type of the offsets; apply(op, x, y): the operator; LIVE: see segmented_lists.kernel.

#include "reduce_chunk_wide.cl"
#include "segmented_lists.kernel"

// Reduces a segment of less than 128 elements: columns without elements hold the identity.
INLINED T reduce_few(const Input in, u32 length, T identity, const Op op) {
    T sum[ORDER_COLUMNS], none = identity;
    u32 columns = 1;
    while (columns < length) columns *= 2;
    for (u32 l = 0; l < columns; ++l) sum[l] = l < length ? apply(op, identity, load_item(in, l)) : identity;
    for (u32 distance = ORDER_COLUMNS / 2; distance >= columns; distance /= 2) {
        for (u32 l = 0; l < columns; ++l) sum[l] = apply(op, sum[l], none);
        none = apply(op, none, none);
    }
    for (u32 distance = columns / 2; distance > 0; distance /= 2) {
        for (u32 l = 0; l < distance; ++l) sum[l] = apply(op, sum[l], sum[l + distance]);
    }
    return canonical(sum[0]);
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void segmented_short(INPUT(in), IN(O, offsets), OUT(T, out), OUT(u64, parts), OUT(u64, wholes), OUT(u32, counts),
                     OUT(u32, word), u64 n, u64 segments, u64 each, const Room room, T identity, const Op op) {
    AT_INPUT(in);
    AT_OFFSET(offsets);
    AT_OFFSET(out);
    AT_OFFSET(parts);
    AT_OFFSET(wholes);
    AT_OFFSET(counts);
    AT_OFFSET(word);
    const u64 all = segments_in(counts, segments), own = segments_each(all, each), first = get_group_id(0) * own,
              stop = min(all, first + own);
    if (first >= stop) return;
    u64 next = (u64)offsets[first];
    if (next > n) report_index(word, first);
    for (u64 s = first; s < stop; ++s) {
        const u64 begin = min(next, n);
        next = (u64)offsets[s + 1];
        if (next > n || next < begin) report_index(word, s + 1);
        const u64 end = min(next, n), length = end > begin ? end - begin : 0;
        if (length < ORDER_COLUMNS) {
            // Without elements the result is the identity itself.
            out[s] = length == 0 ? canonical(identity) : reduce_few(input_from(in, begin), (u32)length, identity, op);
        } else if (length <= ONE_CHUNK) {
            out[s] = reduce_chunk(input_from(in, begin), length, identity, op);
        } else {
            const u64 chunk = canonical_chunk(length);
            Whole w;
            w.segment = s;
            w.chunks = (length + chunk - 1) / chunk;
            w.first = atomic_add(counts, (u32)places_of(w.chunks));
            const u32 place = atomic_inc(counts + 1);
            if (w.first + places_of(w.chunks) > room.parts || place >= room.wholes) continue;
            put_whole(wholes, place, w);
            for (u64 c = 0; c < places_of(w.chunks); ++c) {
                Part p;
                p.begin = c < w.chunks ? begin + c * chunk : 0;
                p.length = c < w.chunks ? min(chunk, length - c * chunk) : 0;
                put_part(parts, w.first + c, p);
            }
        }
    }
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void segmented_parts(INPUT(in), IN(u64, parts), OUT(T, sums), IN(u32, counts), u64 n, const Room room, T identity,
                     const Op op) {
    AT_INPUT(in);
    AT_OFFSET(parts);
    AT_OFFSET(sums);
    AT_OFFSET(counts);
    const u32 count = min(counts[0], room.parts);
    const u64 most = canonical_chunk(n);  // wrong offsets leave places of the list without a value
    for (u64 p = get_group_id(0); p < count; p += get_num_groups(0)) {
        const Part part = part_at(parts, p);
        const u64 begin = min(part.begin, n);
        sums[p] = reduce_chunk(input_from(in, begin), min(part.length, min(most, n - begin)), identity, op);
    }
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void segmented_upper(OUT(T, sums), IN(u64, wholes), IN(u32, counts), OUT(T, out), u64 segments, const Room room,
                     T identity, const Op op) {
    AT_OFFSET(sums);
    AT_OFFSET(wholes);
    AT_OFFSET(counts);
    AT_OFFSET(out);
    const u32 count = min(counts[1], room.wholes);
    for (u64 i = get_group_id(0); i < count; i += get_num_groups(0)) {
        const Whole w = whole_at(wholes, i, count, room, segments);
        if (w.chunks == 0) continue;
        if (w.chunks <= ONE_CHUNK) {
            out[w.segment] = reduce_chunk(input_of(sums + w.first), w.chunks, identity, op);
        } else {
            reduce_sums(sums + w.first, w.chunks, canonical_chunk(w.chunks), out + w.segment, identity, op);
        }
    }
}
