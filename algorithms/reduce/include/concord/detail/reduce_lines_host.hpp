#pragma once
// Reduce over axes, host dialect. Parallel sources: reduce_rows.kernel, reduce_columns.kernel, reduce_short.kernel and
// reduce_lines_wide.cl.
//
// Algorithm  Each line is reduced in the order of reduce.hpp. Lines of adjacent elements: one chunk after the other
//            (reduce_rows). Neighbouring lines whose elements with one index are adjacent: side by side, in two ways
//            (reduce_columns). Short rows: 128 columns per line. Long rows: the columns are reduced one after the
//            other, in the order in which their tree combines them, so that at most 8 of its nodes exist at a time.
// Passes     one launch per level: 1 up to 1024 elements per line, at most 3. Traffic: reads every element once.
// Tunables   run: units per group; width: lines side by side; launch arguments.
// Source     M. Harris, Optimizing Parallel Reduction in CUDA, 2007 (the tree); the rest is Concord's.
//
// T: element type; Op: the operator.

#include <concord/detail/reduce_host.hpp>
#include <concord/tensor.hpp>

namespace concord::detail {

// The lines of a tensor. A line is what one result combines: all indices of the reduced axes at one index of the
// others, the kept ones. Lines and the elements of a line are numbered with the last axis fastest. Kernels in other
// languages have the same struct (reduce_lines.kernel).
struct ReduceLines {
    static constexpr u32 max_axes = max_rank + 1;

    u64 lines = 0, n = 0;       // number of lines, and of elements of a line
    u64 chunk = 0, chunks = 0;  // elements of a chunk, and chunks of a line
    u64 in_at = 0, out_at = 0;  // positions of the first element and of the first result
    u64 extent[max_axes] = {};  // kept axes, then reduced ones, at least one of each
    i64 in[max_axes] = {};      // strides of the input, in elements
    i64 out[max_axes] = {};     // strides of the result, of kept axes only
    u64 kept = 0, axes = 0;     // their numbers; constants of kernels in other languages
};

namespace host {

// How far an index of `count` axes from axis `first` on lies from index 0.
[[gnu::always_inline]] inline i64 offset_in_lines(const u64* extent, const i64* stride, u64 first, u64 count,
                                                  u64 index) {
    i64 offset = 0;
    for (u64 axis = first + count - 1; axis > first; --axis) {
        offset += static_cast<i64>(index % extent[axis]) * stride[axis];
        index /= extent[axis];
    }
    return offset + static_cast<i64>(index) * stride[first];
}
[[gnu::always_inline]] inline i64 line_offset(const ReduceLines& s, u64 line) {
    return offset_in_lines(s.extent, s.in, 0, s.kept, line);
}
[[gnu::always_inline]] inline i64 result_offset(const ReduceLines& s, u64 line) {
    return offset_in_lines(s.extent, s.out, 0, s.kept, line);
}
[[gnu::always_inline]] inline i64 element_offset(const ReduceLines& s, u64 i) {
    return offset_in_lines(s.extent, s.in, s.kept, s.axes, i);
}

// Combines neighbouring elements of two rows.
template <class T, class Op>
[[gnu::always_inline]] inline void combine_rows(T* __restrict to, const T* __restrict with, u64 count,
                                                const Op op) {
    for (u64 l = 0; l < count; ++l)
        to[l] = op(to[l], with[l]);
}

// What columns do that have elements when columns without elements meet them: the steps of the tree from 64 columns
// apart to `columns`. none: what a column without elements holds.
template <class T, class Op>
[[gnu::always_inline]] inline void combine_with_none(T* sum, u64 count, u64 columns, T none, const Op op) {
    for (u64 distance = order_width / 2; distance >= columns; distance /= 2) {
        for (u64 l = 0; l < count; ++l)
            sum[l] = op(sum[l], none);
        none = op(none, none);
    }
}

// How many columns the tree combines with each other: a power of two. Columns behind them have no elements.
constexpr u64 used_columns(u64 length) {
    u64 columns = 1;
    while (columns < length && columns < order_width)
        columns *= 2;
    return columns;
}

// Reduces a chunk of at most `columns` adjacent elements. columns < 128: a power of two.
template <u64 columns, class T, class Op>
[[gnu::always_inline]] inline T reduce_few(const T* chunk, u64 length, T identity, const Op op) {
    alignas(64) T sum[columns];
    if (length == columns) {
        for (u64 l = 0; l < columns; ++l)
            sum[l] = op(identity, chunk[l]);
    } else {
        for (u64 l = 0; l < columns; ++l)
            sum[l] = identity;
        for (u64 l = 0; l < length; ++l)
            sum[l] = op(identity, chunk[l]);
    }
    combine_with_none(sum, columns, columns, identity, op);
    for (u64 distance = columns / 2; distance > 0; distance /= 2) {
        for (u64 l = 0; l < distance; ++l)
            sum[l] = op(sum[l], sum[l + distance]);
    }
    return canonical(sum[0]);
}

// Reduces `width` neighbouring lines side by side, in all columns at once. sum: room for 128 * width elements.
template <class T, class Op>
[[gnu::always_inline]] inline void reduce_side_by_side(const ReduceLines& s, const T* from, u64 begin,
                                                       u64 length, u64 width, T* sum, T identity,
                                                       const Op op) {
    const u64 columns = used_columns(length), row = columns * width;
    const bool dense = s.axes == 1 && s.in[s.kept] == static_cast<i64>(width);
    for (u64 l = 0; l < row; ++l)
        sum[l] = identity;
    for (u64 i = 0; i < length; i += columns) {
        const u64 count = min_of(columns, length - i);
        if (dense) {
            combine_rows(sum, from + (begin + i) * width, count * width, op);
        } else {
            for (u64 l = 0; l < count; ++l)
                combine_rows(sum + l * width, from + element_offset(s, begin + i + l), width, op);
        }
    }
    combine_with_none(sum, row, columns, identity, op);
    for (u64 distance = row / 2; distance >= width; distance /= 2)
        combine_rows(sum, sum + distance, distance, op);
}

// The same, one column after the other, for lines side by side that fill many cache lines. Column l is followed by the
// one that it is combined with. nodes: room for 8 * width elements. Node 0 is the result.
template <class T, class Op>
[[gnu::always_inline]] inline void reduce_by_columns(const ReduceLines& s, const T* from, u64 begin,
                                                     u64 length, u64 width, T* nodes, T identity,
                                                     const Op op) {
    const u64 columns = used_columns(length);
    u64 level = 0;
    for (u64 size = columns; size > 1; size /= 2)
        ++level;
    u64 used = 0;  // nodes
    for (u64 turn = 0; turn < columns; ++turn) {
        u64 column = 0;  // the bits of `turn` in reverse order
        for (u64 bit = 0; bit < level; ++bit)
            column |= (turn >> bit & 1) << (level - 1 - bit);
        T* const __restrict sum = nodes + used * width;
        u64 i = column;
        if (i + 7 * order_width < length) {
            // A chunk of 1024 elements has 8 of them per column.
            const T* __restrict r[8];
            for (u64 k = 0; k < 8; ++k)
                r[k] = from + element_offset(s, begin + i + k * order_width);
            const T *r0 = r[0], *r1 = r[1], *r2 = r[2], *r3 = r[3], *r4 = r[4], *r5 = r[5], *r6 = r[6],
                    *r7 = r[7];
            for (u64 l = 0; l < width; ++l) {
                T x = op(op(op(op(identity, r0[l]), r1[l]), r2[l]), r3[l]);
                sum[l] = op(op(op(op(x, r4[l]), r5[l]), r6[l]), r7[l]);
            }
            i += 8 * order_width;
        } else {
            for (u64 l = 0; l < width; ++l)
                sum[l] = identity;
        }
        for (; i < length; i += order_width)
            combine_rows(sum, from + element_offset(s, begin + i), width, op);
        combine_with_none(sum, width, columns, identity, op);
        ++used;
        for (u64 done = turn + 1; done % 2 == 0; done /= 2, --used)
            combine_rows(nodes + (used - 2) * width, nodes + (used - 1) * width, width, op);
    }
}

// A group reduces `run` consecutive units, chunks of lines, whose elements may have any strides. Elements that are not
// adjacent are copied to a row first.
template <class T, class Op>
[[gnu::always_inline]] inline void reduce_rows(const Group& group, const T* in, T* out, const ReduceLines s,
                                               u64 run, T identity, const Op op) {
    constexpr u64 few = 16;
    const bool dense = s.axes == 1 && (s.in[s.kept] == 1 || s.n == 1);
    const u64 units = s.lines * s.chunks, first = group.x * run;
    for (u64 unit = first; unit < min_of(units, first + run); ++unit) {
        const u64 line = s.chunks == 1 ? unit : unit / s.chunks, c = unit - line * s.chunks,
                  begin = c * s.chunk, length = min_of(s.chunk, s.n - begin);
        const T* const from = in + static_cast<i64>(s.in_at) + line_offset(s, line);
        T result;
        if (length == 0) {
            result = canonical(identity);
        } else if (length <= few) {
            alignas(64) T row[few];
            if (!dense) {
                for (u64 i = 0; i < length; ++i)
                    row[i] = from[element_offset(s, begin + i)];
            }
            result = reduce_few<few>(dense ? from + begin : row, length, identity, op);
        } else if (dense) {
            result = reduce_chunk(from + begin, length, identity, op);
        } else {
            alignas(64) T sum[order_width];
            alignas(64) T row[order_width];
            for (u64 l = 0; l < order_width; ++l)
                sum[l] = identity;
            for (u64 i = 0; i < length; i += order_width) {
                const u64 count = min_of(order_width, length - i);
                for (u64 l = 0; l < count; ++l)
                    row[l] = from[element_offset(s, begin + i + l)];
                combine_rows(sum, row, count, op);
            }
            for (u64 distance = order_width / 2; distance > 0; distance /= 2)
                combine_rows(sum, sum + distance, distance, op);
            result = canonical(sum[0]);
        }
        out[static_cast<i64>(s.out_at + c) + result_offset(s, line)] = result;
    }
}

// A group reduces `run` consecutive units: chunks of `width` neighbouring lines along the last kept axis, whose
// elements with one index are adjacent.
template <class T, class Op>
[[gnu::always_inline]] inline void reduce_columns(const Group& group, const T* in, T* out,
                                                  const ReduceLines s, u64 width, u64 run, u32 by_columns,
                                                  T identity, const Op op) {
    T* const room = reinterpret_cast<T*>(group.local);
    const u64 inner = s.extent[s.kept - 1], blocks = (inner + width - 1) / width,
              units = s.lines / inner * s.chunks * blocks, first = group.x * run;
    for (u64 unit = first; unit < min_of(units, first + run); ++unit) {
        const u64 block = unit % blocks, c = unit / blocks % s.chunks, outer = unit / blocks / s.chunks;
        const u64 line = outer * inner + block * width, begin = c * s.chunk,
                  length = min_of(s.chunk, s.n - begin), count = min_of(width, inner - block * width);
        const T* const from = in + static_cast<i64>(s.in_at) + line_offset(s, line);
        if (by_columns != 0) {
            reduce_by_columns(s, from, begin, length, count, room, identity, op);
        } else {
            reduce_side_by_side(s, from, begin, length, count, room, identity, op);
        }
        T* const to = out + static_cast<i64>(s.out_at + c) + result_offset(s, line);
        const i64 stride = s.out[s.kept - 1];
        for (u64 l = 0; l < count; ++l)
            to[static_cast<i64>(l) * stride] = canonical(room[l]);
    }
}

}  // namespace host
}  // namespace concord::detail
