#pragma once
/// @file
/// Segmented sort: arranges the keys of each segment of a range in order, alone or with one value per key.
///
///     segmented_sort        out[offsets[s]], ..., out[offsets[s + 1] - 1] are these elements of in, in order
///     segmented_sort_pairs  the same for keys; values_out[i] is the value that belongs to keys_out[i]
///
/// - Shapes: in and out have n >= 0 elements, offsets S + 1 for S >= 0 segments. Offsets ascend, from 0 or more to n or
///   less. Elements of out that are outside of all segments stay unchanged.
/// - Order: each segment is bitwise that of a stable sort() or sort_pairs() of its elements alone.
/// - Inputs: ranges, or expressions (expression.hpp), which a call stores in temporary arrays first.
/// - Keys: in their own order or with NanOrder::last; see sort.hpp. No comparators, key functions and bit ranges.
/// - Values: any type of 1, 2, 4 or 8 bytes. Offsets are u32, u64, i32 or i64.
/// - Offsets that do not ascend or exceed n: Stream::synchronize() throws invalid_argument, which names the position of
///   the first one. Nothing outside of the operands is accessed; the outputs are undefined.
/// - In place: out may be exactly in. For pairs, values_out must then be exactly values_in, and only then. Any other
///   overlap with an output range is an error.
/// - Memory traffic: reads and writes every element once, and elements of segments that cross the border of a tile once
///   more for each doubling of the tiles that the segment reaches over. A tile has about 3000 elements on GPUs and
///   up to 65536 on CPUs. Reads every offset once or twice.
/// - Work is balanced for all lengths of segments: all groups share a long segment.
/// - Scratch: the memory of keys and values, and a few bytes per tile. On CPUs a few MiB per thread in addition.
///   NanOrder::last sorts keys as values of their codes: twice the memory of the keys and that of the wider of keys and
///   values; pairs are sorted twice. bool adds one byte per element.
/// - Asynchrony: enqueues on the stream and returns. The forms without an output return arrays, whose first use must
///   follow on the stream. Their elements outside of all segments are undefined.
/// - Errors: invalid_argument (counts, overlap, types), wrong_device, unsupported (bit ranges, more than
///   2^32 tiles), compile_failed, out_of_memory.
///
/// Source: S. Odeh et al., Merge Path - Parallel Merging Made Simple, 2012; S. Baxter, moderngpu, 2013 (segments in a
/// merge sort).

#include <concord/segmented_reduce.hpp>
#include <concord/sort.hpp>

namespace concord {

/// Descriptor of segmented_sort.
extern const Algorithm segmented_sort_algorithm;

/// Sorts the keys of each segment; see the top of this file.
Enqueued segmented_sort(Stream& stream, const View& in, const View& offsets, const View& out,
                        const SortBy& by = {}, const Options& options = {});
/// Sorts the keys of each segment and moves each value with its key.
Enqueued segmented_sort_pairs(Stream& stream, const View& keys_in, const View& values_in, const View& offsets,
                              const View& keys_out, const View& values_out, const SortBy& by = {},
                              const Options& options = {});

/// Sorts the keys of each segment of a span, array or expression.
template <InputRange In, InputRange Offsets, OutputRange Out>
Enqueued segmented_sort(Stream& stream, const In& in, const Offsets& offsets, const Out& out,
                        const SortBy& by = {}, const Options& options = {}) {
    static_assert(detail::same_elements<In, Out>,
                  "segmented_sort: in and out must have the same element type");
    detail::check_offsets<Offsets>();
    const detail::InputInMemory from(stream, "segmented_sort", detail::input_of(in), out.view(), options,
                                     detail::InPlace::yes);
    return from.with_order(
        segmented_sort(stream, from.view(), View(offsets.view()), View(out.view()), by, options));
}
/// Sorts the pairs of each segment of spans, arrays or expressions.
template <InputRange Keys, InputRange Values, InputRange Offsets, OutputRange KeysOut, OutputRange ValuesOut>
Enqueued segmented_sort_pairs(Stream& stream, const Keys& keys_in, const Values& values_in,
                              const Offsets& offsets, const KeysOut& keys_out, const ValuesOut& values_out,
                              const SortBy& by = {}, const Options& options = {}) {
    static_assert(detail::same_elements<Keys, KeysOut>,
                  "segmented_sort_pairs: keys_in and keys_out must have the same element type");
    static_assert(detail::same_elements<Values, ValuesOut>,
                  "segmented_sort_pairs: values_in and values_out must have the same element type");
    detail::check_offsets<Offsets>();
    constexpr std::string_view call = "segmented_sort_pairs";
    const detail::InputInMemory keys(stream, call, detail::input_of(keys_in), keys_out.view(), options,
                                     detail::InPlace::yes),
        values(stream, call, detail::input_of(values_in), values_out.view(), options, detail::InPlace::yes);
    return keys.with_order(
        values.with_order(segmented_sort_pairs(stream, keys.view(), values.view(), View(offsets.view()),
                                               View(keys_out.view()), View(values_out.view()), by, options)));
}

/// Sorts the keys of each segment and returns them as a new array.
template <InputRange In, InputRange Offsets>
[[nodiscard("the results are in a new array")]] auto segmented_sort(Stream& stream, const In& in,
                                                                    const Offsets& offsets,
                                                                    const SortBy& by = {},
                                                                    const Options& options = {}) {
    Array<std::remove_const_t<typename In::Element>> out(stream, detail::count_in(in));
    segmented_sort(stream, in, offsets, out, by, options);
    return out;
}
/// Sorts the pairs of each segment and returns keys and values as new arrays.
template <InputRange Keys, InputRange Values, InputRange Offsets>
[[nodiscard("the results are in a new array")]] auto segmented_sort_pairs(Stream& stream, const Keys& keys,
                                                                          const Values& values,
                                                                          const Offsets& offsets,
                                                                          const SortBy& by = {},
                                                                          const Options& options = {}) {
    std::pair sorted(Array<std::remove_const_t<typename Keys::Element>>(stream, detail::count_in(keys)),
                     Array<std::remove_const_t<typename Values::Element>>(stream, detail::count_in(values)));
    segmented_sort_pairs(stream, keys, values, offsets, sorted.first, sorted.second, by, options);
    return sorted;
}

}  // namespace concord
