#pragma once
/// @file
/// Sort over an axis: arranges the keys of an array view in order along one axis, alone or with values, or finds the
/// order.
///
///     const NdSpan t(x, {2, 300, 500});
///     sort(stream, t, t, -1);                        // each of 600 lines of 500 keys, in place
///     argsort(stream, t, order, 1);                  // order[i, k, j]: the place in its line of key number k
///     sort_pairs(stream, keys, values, keys, values, 0, {.order = SortOrder::descending});
///
/// A line is all elements at one index of the other axes.
///
/// - Axis: from the front, or, negative, from the back.
/// - Order: each line is bitwise that of a stable sort() or sort_pairs() of its elements alone. argsort() gives the
///   values of a stable sort_pairs() with the values 0, 1, 2, ...: of equal keys the lower index comes first.
/// - Inputs: array views, or expressions with extents (expression.hpp), which a call stores in a temporary array first.
/// - Keys: in their own order or with NanOrder::last; see sort.hpp. No comparators, key functions and bit ranges.
/// - Shapes: all array views have the same extents, with any rank from 1 to 8, extents of 0 and any strides.
/// - Values: any type of 1, 2, 4 or 8 bytes. The indices of argsort() are integers of 4 or 8 bytes.
/// - In place: an output may be the very same array view as its input, for pairs in keys and values alike. Otherwise
///   the range of an output may not overlap another one. No two indices of an output may share an element.
/// - Memory traffic: GPUs read and write every element once, and once more for each doubling of a line of more than
///   about 3000 keys. Fastest are lines of adjacent elements, and lines that are adjacent to each other.
/// - Scratch: none for lines of up to about 3000 keys on GPUs, else up to the memory of keys and values, twice for
///   argsort() and for outputs whose lines are not of adjacent elements. On CPUs a few MiB, or a few lines per thread.
/// - Asynchrony: enqueues on the stream and returns. The forms without an output return an array in the order of the
///   indices, whose first use must follow on the stream.
/// - Variants: `lines` only. It is not in the descriptor.
/// - Errors: invalid_argument (axis, extents, overlap, types), wrong_device, unsupported, compile_failed,
///   out_of_memory.
///
/// Source: as sort.hpp.

#include <concord/nd_span.hpp>
#include <concord/sort.hpp>

namespace concord {

/// Sorts the keys of an array view along an axis.
Enqueued sort(Stream& stream, const NdView& in, const NdView& out, i64 axis, const SortBy& by = {},
              const Options& options = {});
/// Sorts keys along an axis and moves each value with its key.
Enqueued sort_pairs(Stream& stream, const NdView& keys_in, const NdView& values_in, const NdView& keys_out,
                    const NdView& values_out, i64 axis, const SortBy& by = {}, const Options& options = {});
/// Finds the stable order of keys along an axis: out[..., k, ...] is the index along the axis of the key that comes at
/// place k. in is unchanged.
Enqueued argsort(Stream& stream, const NdView& in, const NdView& out, i64 axis, const SortBy& by = {},
                 const Options& options = {});

/// Sorts the keys of an array view along an axis.
template <NdInputRange In, OutputNdRange Out>
Enqueued sort(Stream& stream, const In& in, const Out& out, i64 axis, const SortBy& by = {},
              const Options& options = {}) {
    static_assert(detail::same_elements<In, Out>, "sort: in and out must have the same element type");
    const NdView to = out.view();
    const detail::NdInputInMemory from(stream, "sort", detail::nd_input_of(in), to, options);
    return from.with_order(sort(stream, from.view(), to, axis, by, options));
}
/// Sorts keys along an axis and moves each value with its key.
template <NdInputRange Keys, NdInputRange Values, OutputNdRange KeysOut, OutputNdRange ValuesOut>
Enqueued sort_pairs(Stream& stream, const Keys& keys_in, const Values& values_in, const KeysOut& keys_out,
                    const ValuesOut& values_out, i64 axis, const SortBy& by = {},
                    const Options& options = {}) {
    static_assert(detail::same_elements<Keys, KeysOut>,
                  "sort_pairs: keys_in and keys_out must have the same element type");
    static_assert(detail::same_elements<Values, ValuesOut>,
                  "sort_pairs: values_in and values_out must have the same element type");
    const NdView keys_to = keys_out.view(), values_to = values_out.view();
    const detail::NdInputInMemory keys(stream, "sort_pairs", detail::nd_input_of(keys_in), keys_to, options),
        values(stream, "sort_pairs", detail::nd_input_of(values_in), values_to, options);
    return keys.with_order(values.with_order(
        sort_pairs(stream, keys.view(), values.view(), keys_to, values_to, axis, by, options)));
}
/// Finds the stable order of keys along an axis. Out has integers of 4 or 8 bytes.
template <NdInputRange In, OutputNdRange Out>
Enqueued argsort(Stream& stream, const In& in, const Out& out, i64 axis, const SortBy& by = {},
                 const Options& options = {}) {
    using Index = typename Out::Element;
    static_assert(std::is_integral_v<Index> && sizeof(Index) >= 4,
                  "argsort: out must have integers of 4 or 8 bytes");
    const NdView to = out.view();
    const detail::NdInputInMemory from(stream, "argsort", detail::nd_input_of(in), to, options);
    return from.with_order(argsort(stream, from.view(), to, axis, by, options));
}

/// Sorts the keys of an array view along an axis. Returns them in the order of the indices.
template <NdInputRange In>
[[nodiscard("the results are in a new array")]] auto sort(Stream& stream, const In& in, i64 axis,
                                                          const SortBy& by = {},
                                                          const Options& options = {}) {
    using T = std::remove_const_t<typename In::Element>;
    const NdExtents extents = detail::nd_input_of(in).view.extents();
    Array<T> out(stream, detail::nd_input_of(in).view.size());
    sort(stream, in, NdSpan<T>(out, extents), axis, by, options);
    return out;
}
/// Finds the stable order of keys along an axis. Returns it in the order of the indices.
template <NdInputRange In>
[[nodiscard("the results are in a new array")]] Array<u64> argsort(Stream& stream, const In& in, i64 axis,
                                                                   const SortBy& by = {},
                                                                   const Options& options = {}) {
    const NdExtents extents = detail::nd_input_of(in).view.extents();
    Array<u64> out(stream, detail::nd_input_of(in).view.size());
    argsort(stream, in, NdSpan<u64>(out, extents), axis, by, options);
    return out;
}

}  // namespace concord
