// Reduce over axes, OpenCL C, the shape for CPUs. Parallel source: reduce_lines_host.hpp, which describes both kernels.
//
// Algorithm  One work-item per group reduces a run of units, chunks of lines. reduce_rows: one chunk after the other.
//            reduce_columns: chunks of neighbouring lines side by side.
// Passes     one launch per level. Traffic: reads every element once.
// Tunables   run: units per group; width: lines side by side; launch arguments.
// Source     as reduce_lines_host.hpp.
//
// T: element type; apply(op, x, y): the operator; ROOM: elements of local memory of reduce_columns; KEPT, AXES: see
// reduce_lines.kernel.

#include "common.cl"
#include "reduce_lines.kernel"

#define ORDER_COLUMNS 128

// An element of a line, from the line's first one on.
#define LOAD(LINE, I) (LINE)[element_offset(&s, I)]

INLINED u64 used_columns(u64 length) {
    u64 columns = 1;
    while (columns < length && columns < ORDER_COLUMNS) columns *= 2;
    return columns;
}

// Defines functions on elements in a memory space.
#define ON_ROWS(COMBINE, NONE, SPACE)                                                                    \
    INLINED void COMBINE(SPACE T* to, SPACE const T* with, u64 count, const Op op) {                     \
        _Pragma("clang loop vectorize(enable) unroll(disable)") for (u64 l = 0; l < count; ++l) to[l] =  \
            apply(op, to[l], with[l]);                                                                   \
    }                                                                                                    \
    INLINED void NONE(SPACE T* sum, u64 count, u64 columns, T none, const Op op) {                       \
        for (u64 distance = ORDER_COLUMNS / 2; distance >= columns; distance /= 2) {                     \
            _Pragma("clang loop vectorize(enable) unroll(disable)") for (u64 l = 0; l < count; ++l)      \
                sum[l] = apply(op, sum[l], none);                                                        \
            none = apply(op, none, none);                                                                \
        }                                                                                                \
    }
ON_ROWS(combine_private, none_private, __private)
ON_ROWS(combine_local, none_local, __local)

// Combines neighbouring elements of a row of the input.
INLINED void combine_input(__local T* to, __global const T* with, u64 count, const Op op) {
#pragma clang loop vectorize(enable) unroll(disable)
    for (u64 l = 0; l < count; ++l) to[l] = apply(op, to[l], with[l]);
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void reduce_rows(__global const T* in, ulong in_at, __global T* out, ulong out_at, const Lines s, u64 run, T identity,
                 const Op op) {
    in += in_at;
    out += out_at;
    const u64 units = s.lines * s.chunks, first = get_group_id(0) * run, end = min(units, first + run);
    for (u64 unit = first; unit < end; ++unit) {
        const u64 line = quotient(unit, s.chunks), c = unit - line * s.chunks, begin = c * s.chunk;
        const u64 length = min(s.chunk, s.n - begin), columns = used_columns(length);
        __global const T* const from = in + (i64)s.in_at + line_offset(&s, line);
        T sum[ORDER_COLUMNS];
#pragma clang loop unroll(disable)
        for (u64 l = 0; l < columns; ++l) sum[l] = identity;
        u64 i = 0;
#if AXES == 1
        if (s.in[KEPT] == 1) {
            __global const T* row = from + begin;
            for (; i + ORDER_COLUMNS <= length; i += ORDER_COLUMNS, row += ORDER_COLUMNS) {
#pragma clang loop vectorize(enable) unroll(disable)
                for (int l = 0; l < ORDER_COLUMNS; ++l) sum[l] = apply(op, sum[l], row[l]);
            }
        }
#endif
#pragma clang loop unroll(disable)
        for (; i < length; ++i) sum[i % ORDER_COLUMNS] = apply(op, sum[i % ORDER_COLUMNS], LOAD(from, begin + i));
        none_private(sum, columns, columns, identity, op);
        for (u64 distance = columns / 2; distance > 0; distance /= 2)
            combine_private(sum, sum + distance, distance, op);
        // Without elements the result is the identity itself.
        out[(i64)(s.out_at + c) + result_offset(&s, line)] = canonical(length == 0 ? identity : sum[0]);
    }
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void reduce_columns(__global const T* in, ulong in_at, __global T* out, ulong out_at, const Lines s, u64 width, u64 run,
                    u32 by_columns, T identity, const Op op) {
    __local T room[ROOM];
    in += in_at;
    out += out_at;
    const u64 inner = s.extent[KEPT - 1], blocks = (inner + width - 1) / width;
    const u64 units = s.lines / inner * s.chunks * blocks, first = get_group_id(0) * run, end = min(units, first + run);
    for (u64 unit = first; unit < end; ++unit) {
        const u64 block = unit % blocks, c = unit / blocks % s.chunks, outer = unit / blocks / s.chunks;
        const u64 line = outer * inner + block * width, begin = c * s.chunk, length = min(s.chunk, s.n - begin);
        const u64 count = min(width, inner - block * width), columns = used_columns(length);
        __global const T* const from = in + (i64)s.in_at + line_offset(&s, line);
        if (!by_columns) {
            const u64 elements = columns * count;
            for (u64 l = 0; l < elements; ++l) room[l] = identity;
            for (u64 i = 0; i < length; ++i)
                combine_input(room + i % columns * count, &LOAD(from, begin + i), count, op);
            none_local(room, elements, columns, identity, op);
            for (u64 distance = elements / 2; distance >= count; distance /= 2)
                combine_local(room, room + distance, distance, op);
        } else {
            u64 level = 0, used = 0;
            for (u64 size = columns; size > 1; size /= 2) ++level;
            for (u64 turn = 0; turn < columns; ++turn) {
                u64 column = 0;  // the bits of `turn` in reverse order
                for (u64 bit = 0; bit < level; ++bit) column |= (turn >> bit & 1) << (level - 1 - bit);
                __local T* const sum = room + used * count;
                for (u64 l = 0; l < count; ++l) sum[l] = identity;
                for (u64 i = column; i < length; i += ORDER_COLUMNS)
                    combine_input(sum, &LOAD(from, begin + i), count, op);
                none_local(sum, count, columns, identity, op);
                ++used;
                for (u64 done = turn + 1; done % 2 == 0; done /= 2, --used)
                    combine_local(room + (used - 2) * count, room + (used - 1) * count, count, op);
            }
        }
        __global T* const to = out + (i64)(s.out_at + c) + result_offset(&s, line);
        for (u64 l = 0; l < count; ++l) to[(i64)l * s.out[KEPT - 1]] = canonical(room[l]);
    }
}
