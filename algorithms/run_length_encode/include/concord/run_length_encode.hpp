#pragma once
/// @file
/// Run-length encoding: an element and the length of each run of equal neighbours.
///
///     out[r] = the first element of run r, lengths[r] = its number of elements, for r < count
///
/// - Runs: as unique.hpp. Elements are equal if they are bitwise equal and not NaN.
/// - Shapes: in has n >= 0 elements. out has the same type and room for n elements, lengths is u64 and has room for n.
///   Elements past the runs stay unchanged. count is one u64 on the device.
/// - Inputs: a range, or an expression (expression.hpp), which is stored first.
/// - Types: any element type. bool: any byte but 0 is true, results are 0 or 1.
/// - In place: not supported. out, lengths and count may not overlap in or each other.
/// - Memory traffic: reads every element twice, neighbours from cache, then writes and reads a position per run, and
///   writes an element and a length per run.
/// - Scratch: 4 bytes per element, 8 for more than 2^32 - 1, that of compact(), and a copy of an input that is an
///   expression or of bool.
/// - Asynchrony: the calls with a count range enqueue and return. The overload that returns a Future delivers the count
///   when the stream has reached it. run_length_encode() into new arrays blocks.
/// - Errors: invalid_argument (counts, overlap, types), wrong_device, unsupported, compile_failed, out_of_memory.
///
/// Source: A. Robinson, C. Cherry, Results of a Prototype Television Bandwidth Compression Scheme, 1967 (the encoding);
/// the rest is Concord's.

#include <concord/compact.hpp>

#include <utility>

namespace concord {

namespace detail {

// live: as for unique().
Enqueued run_length_encode(Stream& stream, const Input& in, const View& out, const View& lengths,
                           const View& count, const Options& options, const View& live = {});

}  // namespace detail

/// Descriptor of run_length_encode.
extern const Algorithm run_length_encode_algorithm;

/// Encodes the runs of a view; see the top of this file.
Enqueued run_length_encode(Stream& stream, const View& in, const View& out, const View& lengths,
                           const View& count, const Options& options = {});

/// Encodes the runs of a span, array or expression.
template <InputRange In, OutputRange Out, OutputRange Lengths, OutputRange Count>
Enqueued run_length_encode(Stream& stream, const In& in, const Out& out, const Lengths& lengths,
                           const Count& count, const Options& options = {}) {
    detail::check_compact_types<In, Out, Count>();
    static_assert(std::is_same_v<typename Lengths::Element, u64>, "lengths must be of u64");
    return detail::run_length_encode(stream, detail::input_of(in), out.view(), lengths.view(), count.view(),
                                     options);
}

/// Encodes runs and returns a Future of their number.
template <InputRange In, OutputRange Out, OutputRange Lengths>
Future<u64> run_length_encode(Stream& stream, const In& in, const Out& out, const Lengths& lengths,
                              const Options& options = {}) {
    detail::check_delivers(stream, "run_length_encode");
    const Array<u64> count(stream, 1);
    run_length_encode(stream, in, out, lengths, count, options);
    return Future<u64>(stream, count);
}

/// Returns an element and the length of each run as new arrays. Blocks until the stream has computed their number. The
/// arrays keep the memory of n elements; clone() returns smaller ones.
template <InputRange In>
[[nodiscard("the results are in new arrays")]] auto run_length_encode(Stream& stream, const In& in,
                                                                      const Options& options = {}) {
    using T = std::remove_const_t<typename In::Element>;
    const u64 n = detail::count_in(in);
    const Array<T> out(stream, n);
    const Array<u64> lengths(stream, n);
    const u64 count = run_length_encode(stream, in, out, lengths, options).get();
    return std::pair(Array<T>(out.buffer(), count), Array<u64>(lengths.buffer(), count));
}

}  // namespace concord
