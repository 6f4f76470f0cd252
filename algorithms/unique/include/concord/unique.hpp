#pragma once
/// @file
/// Unique: one element of each run of equal neighbours.
///
///     out[r] = the first element of run r, for r < count;  count = the number of runs
///
/// - Runs: elements are equal if they are bitwise equal and not NaN. So every NaN is a run of its own, and -0 differs
///   from +0. On sorted input the result has each value once.
/// - Shapes: in has n >= 0 elements. out has the same type and room for n elements; those past the runs stay unchanged.
///   count is one u64 on the device.
/// - Inputs: a range, or an expression (expression.hpp), which is stored first.
/// - Types: any element type. bool: any byte but 0 is true, results are 0 or 1.
/// - In place: not supported. out and count may not overlap in or each other.
/// - Memory traffic: that of compact() with flags, which are computed from an element and its neighbour, from cache.
/// - Scratch: that of compact(), 8 bytes, and a copy of an input that is an expression or of bool.
/// - Asynchrony: the calls with a count range enqueue and return. The overload that returns a Future delivers the count
///   when the stream has reached it. unique() into a new array blocks.
/// - Errors: invalid_argument (counts, overlap, types), wrong_device, unsupported, compile_failed, out_of_memory.
///
/// Sources: those of compact().

#include <concord/compact.hpp>

namespace concord {

namespace detail {

// live: the number of elements that are used, one u64 on the device, at most n; without a buffer: all.
Enqueued unique(Stream& stream, const Input& in, const View& out, const View& count, const Options& options,
                const View& live = {});

}  // namespace detail

/// Descriptor of unique.
extern const Algorithm unique_algorithm;

/// Keeps one element per run of a view; see the top of this file.
Enqueued unique(Stream& stream, const View& in, const View& out, const View& count,
                const Options& options = {});

/// Keeps one element per run of a span, array or expression.
template <InputRange In, OutputRange Out, OutputRange Count>
Enqueued unique(Stream& stream, const In& in, const Out& out, const Count& count,
                const Options& options = {}) {
    detail::check_compact_types<In, Out, Count>();
    return detail::unique(stream, detail::input_of(in), out.view(), count.view(), options);
}

/// Keeps one element per run and returns a Future of their number.
template <InputRange In, OutputRange Out>
Future<u64> unique(Stream& stream, const In& in, const Out& out, const Options& options = {}) {
    detail::check_delivers(stream, "unique");
    const Array<u64> count(stream, 1);
    unique(stream, in, out, count, options);
    return Future<u64>(stream, count);
}

/// Returns one element per run as a new array. Blocks until the stream has computed their number. The array keeps the
/// memory of n elements; clone() returns a smaller one.
template <InputRange In>
[[nodiscard("the results are in a new array")]] auto unique(Stream& stream, const In& in,
                                                            const Options& options = {}) {
    using T = std::remove_const_t<typename In::Element>;
    const Array<T> out(stream, detail::count_in(in));
    const u64 count = unique(stream, in, out, options).get();
    return Array<T>(out.buffer(), count);
}

}  // namespace concord
