#pragma once
// Reduce over axes, host dialect. Parallel sources: reduce_rows.kernel, reduce_across.kernel, reduce_columns.kernel,
// reduce_short.kernel and reduce_lines_wide.cl.
//
// Algorithm  Each line is reduced in the order of reduce.hpp, in one of three forms (ReduceForm). by_columns reduces
//            columns in the order in which the tree combines them, so that at most 8 nodes of it exist at a time.
// Passes     one launch per level: 1 up to 1024 elements per line, at most 3. Traffic: reads every element once.
// Tunables   width: lines of a unit; run: units per group; launch arguments.
// Source     M. Harris, Optimizing Parallel Reduction in CUDA, 2007 (the tree); the rest is Concord's.
//
// T: element type; Op: the operator.

#include <concord/detail/reduce_host.hpp>
#include <concord/nd_span.hpp>

namespace concord::detail {

// The lines of an array view. A line is what one result combines: all indices of the reduced axes at one index of the
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
    u64 distance = order_width / 2;
    for (; distance >= 4 * columns; distance /= 8) {
        // Three steps.
        const T second = op(none, none), third = op(second, second);
        for (u64 l = 0; l < count; ++l)
            sum[l] = op(op(op(sum[l], none), second), third);
        none = op(third, third);
    }
    for (; distance >= columns; distance /= 2) {
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

// How a group reduces lines (CPU).
enum ReduceForm : u32 {
    side_by_side,  // adjacent lines, or one line: all columns at once
    by_columns,    // adjacent lines that fill many cache lines: one column after the other
    short_rows     // lines of at most 64 elements: their columns one behind the other
};

// The elements of an input from a position on. Those of an expression are computed when they are needed.
template <class T>
struct LineItems {
    const HostInput<T>& in;
    HostIsa isa;
    i64 begin;
    T* room;  // of an expression: for the elements of all slots

    [[gnu::always_inline]] LineItems from(i64 offset) const { return {in, isa, begin + offset, room}; }
    // `count` neighbouring elements from `offset` on: where they are, or in the room from `slot` on.
    [[gnu::always_inline]] const T* at(i64 offset, u64 count, u64 slot = 0) const {
        return in.is_range() ? in.range() + begin + offset : computed(offset, count, slot);
    }

  private:
    // Not inlined: it takes most of its time in the expression.
    [[gnu::noinline]] const T* computed(i64 offset, u64 count, u64 slot) const {
        T* const to = room + slot;
        for (u64 done = 0; done < count; done += block_length) {
            const u64 some = min_of(count - done, block_length);
            const T* const block = in.block(isa, static_cast<u64>(begin + offset) + done, some, to + done);
            if (count == some) return block;
            if (block != to + done) std::memcpy(to + done, block, some * sizeof(T));
        }
        return to;
    }
};

// Returns `count` elements of a line from element i on, where they are if they are adjacent, else copied to `row`.
template <class T>
[[gnu::always_inline]] inline const T* adjacent(const ReduceLines& s, const LineItems<T> from, u64 i,
                                                u64 count, T* __restrict row) {
    const u64 last = s.kept + s.axes - 1, extent = s.extent[last];
    const i64 step = s.in[last];
    for (u64 done = 0; done < count;) {
        const u64 first = s.axes == 1 ? i + done : (i + done) % extent,
                  end = min_of(count - done, extent - first);
        const i64 offset = element_offset(s, i + done);
        if (step == 1) {
            const T* const at = from.at(offset, end);
            if (end == count) return at;
            for (u64 l = 0; l < end; ++l)
                row[done + l] = at[l];
        } else {
            for (u64 l = 0; l < end; ++l)
                row[done + l] = *from.at(offset + static_cast<i64>(l) * step, 1);
        }
        done += end;
    }
    return row;
}

// Reduces a chunk of at least 128 adjacent elements of one line.
template <class T, class Op>
[[gnu::always_inline]] inline T reduce_adjacent(const T* chunk, u64 length, T identity, const Op op) {
    alignas(64) T sum[order_width];
    for (u64 l = 0; l < order_width; ++l)
        sum[l] = op(identity, chunk[l]);
    u64 i = order_width;
    for (; i + order_width <= length; i += order_width) {
        for (u64 l = 0; l < order_width; ++l)
            sum[l] = op(sum[l], chunk[i + l]);
    }
    combine_rows(sum, chunk + i, length - i, op);
    for (u64 distance = order_width / 2; distance > 0; distance /= 2) {
        for (u64 l = 0; l < distance; ++l)
            sum[l] = op(sum[l], sum[l + distance]);
    }
    return sum[0];
}

// Reduces `width` adjacent lines, or one, in all columns at once. sum: room for 128 * width elements.
template <class T, class Op>
[[gnu::always_inline]] inline void reduce_side_by_side(const ReduceLines& s, const LineItems<T> from,
                                                       u64 begin, u64 length, u64 width, T* sum, T identity,
                                                       const Op op) {
    const u64 columns = used_columns(length), elements = columns * width;
    const bool dense = s.axes == 1 && s.in[s.kept] == static_cast<i64>(width);
    if (dense && width == 1 && length >= order_width && from.in.is_range()) {
        *sum = reduce_adjacent(from.at(static_cast<i64>(begin), length), length, identity, op);
        return;
    }
    for (u64 l = 0; l < elements; ++l)
        sum[l] = identity;
    if (dense) {
        const LineItems<T> first = from.from(static_cast<i64>(begin * width));
        for (u64 i = 0; i < length * width; i += elements) {
            const u64 count = min_of(elements, length * width - i);
            combine_rows(sum, first.at(static_cast<i64>(i), count), count, op);
        }
    } else if (width == 1) {
        alignas(64) T row[order_width];
        for (u64 i = 0; i < length; i += columns) {
            const u64 count = min_of(columns, length - i);
            combine_rows(sum, adjacent(s, from, begin + i, count, row), count, op);
        }
    } else {
        for (u64 i = 0; i < length; ++i)
            combine_rows(sum + i % columns * width, from.at(element_offset(s, begin + i), width), width, op);
    }
    combine_with_none(sum, elements, columns, identity, op);
    for (u64 distance = elements / 2; distance >= width; distance /= 2)
        combine_rows(sum, sum + distance, distance, op);
}

// Combines the halves of `rows` rows. fixed: the length of a half, or 0.
template <u64 fixed, class T, class Op>
[[gnu::always_inline]] inline void combine_halves(const T* __restrict from, T* __restrict to, u64 rows,
                                                  u64 length, const Op op) {
    const u64 half = fixed != 0 ? fixed : length;
    for (u64 r = 0; r < rows; ++r) {
        for (u64 l = 0; l < half; ++l)
            to[r * half + l] = op(from[2 * r * half + l], from[(2 * r + 1) * half + l]);
    }
}

// Reduces `count` lines from `line` on. room: for 2 * count * columns elements. Returns where the results are.
template <class T, class Op>
[[gnu::always_inline]] inline T* reduce_short_rows(const ReduceLines& s, const LineItems<T> in, u64 line,
                                                   u64 count, T* room, T identity, const Op op) {
    const u64 columns = used_columns(s.n);
    T *from = room, *to = room + count * columns;
    for (u64 k = 0; k < count; ++k) {
        T* const __restrict sum = from + k * columns;
        const T* const __restrict row = adjacent(s, in.from(line_offset(s, line + k)), 0, s.n, to);
        for (u64 l = 0; l < s.n; ++l)
            sum[l] = op(identity, row[l]);
        for (u64 l = s.n; l < columns; ++l)
            sum[l] = identity;
    }
    combine_with_none(from, count * columns, columns, identity, op);
    for (u64 half = columns / 2; half > 0; half /= 2) {
        if (half == 1) {
            combine_halves<1>(from, to, count, half, op);
        } else if (half == 2) {
            combine_halves<2>(from, to, count, half, op);
        } else if (half == 4) {
            combine_halves<4>(from, to, count, half, op);
        } else {
            combine_halves<0>(from, to, count, half, op);
        }
        T* const next = to;
        to = from;
        from = next;
    }
    return from;
}

// The same for adjacent lines that fill many cache lines, one column after the other. Column l is followed by the one
// that it is combined with. nodes: room for 8 * width elements; node 0 is the result.
template <class T, class Op>
[[gnu::always_inline]] inline void reduce_by_columns(const ReduceLines& s, const LineItems<T> from, u64 begin,
                                                     u64 length, u64 width, T* nodes, T identity,
                                                     const Op op) {
    const u64 columns = used_columns(length);
    u64 levels = 0, used = 0;  // of the tree; nodes
    for (u64 size = columns; size > 1; size /= 2)
        ++levels;
    for (u64 turn = 0; turn < columns; ++turn) {
        u64 column = 0;  // the bits of `turn` in reverse order
        for (u64 bit = 0; bit < levels; ++bit)
            column |= (turn >> bit & 1) << (levels - 1 - bit);
        T* const __restrict sum = nodes + used * width;
        u64 i = column;
        const auto row = [&](u64 k) {
            return from.at(element_offset(s, begin + i + k * order_width), width, k * width);
        };
        if (i + 7 * order_width < length) {
            // A chunk of 1024 elements has 8 of them per column.
            const T *const r0 = row(0), *const r1 = row(1), *const r2 = row(2), *const r3 = row(3),
                           *const r4 = row(4), *const r5 = row(5), *const r6 = row(6), *const r7 = row(7);
            for (u64 l = 0; l < width; ++l) {
                const T half = op(op(op(op(identity, r0[l]), r1[l]), r2[l]), r3[l]);
                sum[l] = op(op(op(op(half, r4[l]), r5[l]), r6[l]), r7[l]);
            }
            i += 8 * order_width;
        } else if (i < length) {
            const T* const r0 = row(0);
            for (u64 l = 0; l < width; ++l)
                sum[l] = op(identity, r0[l]);
            i += order_width;
        } else {
            for (u64 l = 0; l < width; ++l)
                sum[l] = identity;
        }
        for (; i < length; i += order_width)
            combine_rows(sum, row(0), width, op);
        combine_with_none(sum, width, columns, identity, op);
        ++used;
        for (u64 done = turn + 1; done % 2 == 0; done /= 2, --used)
            combine_rows(nodes + (used - 2) * width, nodes + (used - 1) * width, width, op);
    }
}

// A group reduces `run` consecutive units: chunks of `width` neighbouring lines. These lie along the last kept axis,
// unless they are short rows.
template <class T, class Op>
[[gnu::always_inline]] inline void reduce_lines(const Group& group, T* out, const ReduceLines s, u64 width,
                                                u64 run, u32 form, u64 items, T identity, const Op op,
                                                HostArguments rest) {
    T* const room = reinterpret_cast<T*>(group.local);
    const HostInput<T> input(rest);
    const LineItems<T> in{input, group.isa, static_cast<i64>(s.in_at), room + items};
    const bool is_short = form == short_rows;
    const u64 inner = is_short ? s.lines : s.extent[s.kept - 1], blocks = (inner + width - 1) / width,
              units = s.lines / inner * s.chunks * blocks, first = group.x * run;
    for (u64 unit = first; unit < min_of(units, first + run); ++unit) {
        const u64 block = unit % blocks, c = unit / blocks % s.chunks, outer = unit / blocks / s.chunks,
                  line = outer * inner + block * width, begin = c * s.chunk,
                  length = min_of(s.chunk, s.n - begin), count = min_of(width, inner - block * width);
        T* const to = out + static_cast<i64>(s.out_at + c);
        if (is_short) {
            const T* const results = reduce_short_rows(s, in, line, count, room, identity, op);
            for (u64 l = 0; l < count; ++l)
                to[result_offset(s, line + l)] = canonical(results[l]);
            continue;
        }
        const LineItems<T> from = in.from(line_offset(s, line));
        if (length == 0) {
            // Without elements the result is the identity itself.
            for (u64 l = 0; l < count; ++l)
                room[l] = identity;
        } else if (form == by_columns) {
            reduce_by_columns(s, from, begin, length, count, room, identity, op);
        } else {
            reduce_side_by_side(s, from, begin, length, count, room, identity, op);
        }
        for (u64 l = 0; l < count; ++l)
            to[result_offset(s, line) + static_cast<i64>(l) * s.out[s.kept - 1]] = canonical(room[l]);
    }
}

}  // namespace host
}  // namespace concord::detail
