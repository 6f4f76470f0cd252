// Reduce over axes, OpenCL C, the shape for CPUs. Parallel source: reduce_lines_host.hpp.
//
// Algorithm  One work-item per group reduces a run of units, chunks of neighbouring lines, in one of the forms of
//            reduce_lines_host.hpp.
// Passes     one launch per level. Traffic: reads every element once.
// Tunables   width: lines of a unit; run: units per group; launch arguments.
// Source     as reduce_lines_host.hpp.
//
// T: element type; apply(op, x, y): the operator; FORM: a ReduceForm; ROOM: elements of local memory; KEPT, AXES: see
// reduce_lines.kernel.

#include "common.cl"
#include "input"
#include "reduce_lines.kernel"

#define ORDER_COLUMNS 128
#define SIDE_BY_SIDE 0
#define BY_COLUMNS 1
#define SHORT_ROWS 2

INLINED u64 used_columns(u64 length) {
    u64 columns = 1;
    while (columns < length && columns < ORDER_COLUMNS) columns *= 2;
    return columns;
}

// Combines neighbouring elements of two rows.
INLINED void combine_rows(__local T* to, __local const T* with, u64 count, const Op op) {
#pragma clang loop vectorize(enable) unroll(disable)
    for (u64 l = 0; l < count; ++l) to[l] = apply(op, to[l], with[l]);
}
INLINED void combine_input(__local T* to, const Input with, u64 count, const Op op) {
#pragma clang loop vectorize(enable) unroll(disable)
    for (u64 l = 0; l < count; ++l) to[l] = apply(op, to[l], load_item(with, l));
}

// The steps of the tree in which columns without elements meet the others. none: what they hold.
INLINED void combine_with_none(__local T* sum, u64 count, u64 columns, T none, const Op op) {
    for (u64 distance = ORDER_COLUMNS / 2; distance >= columns; distance /= 2) {
#pragma clang loop vectorize(enable) unroll(disable)
        for (u64 l = 0; l < count; ++l) sum[l] = apply(op, sum[l], none);
        none = apply(op, none, none);
    }
}

// Reduces `width` adjacent lines, or one with any strides, in all columns at once.
INLINED void reduce_side_by_side(const Lines* s, const Input from, u64 begin, u64 length, u64 width,
                                 __local T* sum, T identity, const Op op) {
    const u64 columns = used_columns(length), elements = columns * width;
    for (u64 l = 0; l < elements; ++l) sum[l] = identity;
    if (AXES == 1 && s->in[KEPT] == (i64)width) {
        for (u64 i = 0; i < length * width; i += elements)
            combine_input(sum, input_from(from, begin * width + i), min(elements, length * width - i), op);
    } else {
        for (u64 i = 0; i < length; ++i)
            combine_input(sum + i % columns * width, input_from(from, element_offset(s, begin + i)), width, op);
    }
    combine_with_none(sum, elements, columns, identity, op);
    for (u64 distance = elements / 2; distance >= width; distance /= 2)
        combine_rows(sum, sum + distance, distance, op);
}

// The same for adjacent lines, one column after the other.
INLINED void reduce_by_columns(const Lines* s, const Input from, u64 begin, u64 length, u64 width,
                               __local T* nodes, T identity, const Op op) {
    const u64 columns = used_columns(length);
    u64 levels = 0, used = 0;
    for (u64 size = columns; size > 1; size /= 2) ++levels;
    for (u64 turn = 0; turn < columns; ++turn) {
        u64 column = 0;  // the bits of `turn` in reverse order
        for (u64 bit = 0; bit < levels; ++bit) column |= (turn >> bit & 1) << (levels - 1 - bit);
        __local T* const sum = nodes + used * width;
        for (u64 l = 0; l < width; ++l) sum[l] = identity;
        for (u64 i = column; i < length; i += ORDER_COLUMNS)
            combine_input(sum, input_from(from, element_offset(s, begin + i)), width, op);
        combine_with_none(sum, width, columns, identity, op);
        ++used;
        for (u64 done = turn + 1; done % 2 == 0; done /= 2, --used)
            combine_rows(nodes + (used - 2) * width, nodes + (used - 1) * width, width, op);
    }
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void reduce_lines(INPUT(in), __global T* out, ulong out_at, const Lines s, u64 width, u64 run, u32 form, u64 items,
                  T identity, const Op op) {
    __local T room[ROOM];
    AT_INPUT(in);
    out += out_at;
    const u64 inner = FORM == SHORT_ROWS ? s.lines : s.extent[KEPT - 1], blocks = (inner + width - 1) / width;
    const u64 units = s.lines / inner * s.chunks * blocks, first = get_group_id(0) * run;
    for (u64 unit = first; unit < min(units, first + run); ++unit) {
        const u64 block = unit % blocks, c = unit / blocks % s.chunks, outer = unit / blocks / s.chunks;
        const u64 line = outer * inner + block * width, begin = c * s.chunk, length = min(s.chunk, s.n - begin);
        const u64 count = min(width, inner - block * width);
        __global T* const to = out + (i64)(s.out_at + c);
#if FORM == SHORT_ROWS
        for (u64 l = 0; l < count; ++l) {
            const Input from = input_from(in, (i64)s.in_at + line_offset(&s, line + l));
            reduce_side_by_side(&s, from, 0, length, 1, room, identity, op);
            to[result_offset(&s, line + l)] = canonical(room[0]);
        }
#else
        const Input from = input_from(in, (i64)s.in_at + line_offset(&s, line));
        if (length == 0) {
            // Without elements the result is the identity itself.
            for (u64 l = 0; l < count; ++l) room[l] = identity;
        } else {
#if FORM == BY_COLUMNS
            reduce_by_columns(&s, from, begin, length, count, room, identity, op);
#else
            reduce_side_by_side(&s, from, begin, length, count, room, identity, op);
#endif
        }
        for (u64 l = 0; l < count; ++l)
            to[result_offset(&s, line) + (i64)l * s.out[KEPT - 1]] = canonical(room[l]);
#endif
    }
}
