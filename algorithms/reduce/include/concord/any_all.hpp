#pragma once
/// @file
/// Any and all: whether some elements, or all of them, are not 0.
///
///     const bool found = any(stream, transform(BinaryPredicate::greater, x, constant(2.0f))).get();
///     const Array<bool> rows = all(stream, NdSpan(x, {300, 500}), -1);   // of each of 300 rows
///
/// - Shapes: as reduce.hpp and reduce_axes.hpp. Without elements, any is false and all is true.
/// - Types: the input has any element type, the output is bool. NaN is not 0.
/// - Inputs: a range, an array view or an expression.
/// - Memory traffic: reads every element once.
/// - Scratch: that of reduce.
/// - Asynchrony, variants and errors: as reduce.hpp.

#include <concord/reduce.hpp>
#include <concord/reduce_axes.hpp>

namespace concord {

namespace detail {
enum class Quantifier : u8 { any, all };

Enqueued quantify(Stream& stream, Quantifier quantifier, const Input& in, const View& out,
                  const Options& options);
Enqueued quantify(Stream& stream, Quantifier quantifier, const NdInput& in, const NdView& out,
                  const Axes& axes, const Options& options);

// The input in row-major order.
template <class In>
Input flat_input(const In& in) {
    if constexpr (Shaped<In>) {
        const NdSource source = nd_source_of(in);
        return Input(broadcast_node(source, source.extents));
    } else {
        return input_of(in);
    }
}
template <class In>
Future<bool> quantified(Stream& stream, Quantifier quantifier, const In& in, const Options& options) {
    check_delivers(stream, quantifier == Quantifier::any ? "any" : "all");
    const Array<bool> out(stream, 1);
    quantify(stream, quantifier, flat_input(in), out.view(), options);
    return Future<bool>(stream, out);
}
template <class In>
Array<bool> quantified(Stream& stream, Quantifier quantifier, const In& in, const Axes& axes,
                       const Options& options) {
    const NdInput source = nd_input_of(in);
    const NdExtents extents = kept_extents(source.view, axes);
    Array<bool> out(stream, element_count(extents));
    quantify(stream, quantifier, source, NdView(out.view(), extents), axes, options);
    return out;
}
}  // namespace detail

/// What any() and all() take: a range, an expression, or an array view.
template <class S>
concept InputOrNdRange = InputRange<S> || detail::Shaped<S>;

/// Writes to out[0] whether an element is not 0.
template <InputOrNdRange In, OutputRange Out>
Enqueued any(Stream& stream, const In& in, const Out& out, const Options& options = {}) {
    static_assert(std::is_same_v<typename Out::Element, bool>, "any: out must have type bool");
    return detail::quantify(stream, detail::Quantifier::any, detail::flat_input(in), out.view(), options);
}
/// Writes to out[0] whether all elements are not 0.
template <InputOrNdRange In, OutputRange Out>
Enqueued all(Stream& stream, const In& in, const Out& out, const Options& options = {}) {
    static_assert(std::is_same_v<typename Out::Element, bool>, "all: out must have type bool");
    return detail::quantify(stream, detail::Quantifier::all, detail::flat_input(in), out.view(), options);
}

/// Returns whether an element is not 0, as a Future.
template <InputOrNdRange In>
[[nodiscard]] Future<bool> any(Stream& stream, const In& in, const Options& options = {}) {
    return detail::quantified(stream, detail::Quantifier::any, in, options);
}
/// Returns whether all elements are not 0, as a Future.
template <InputOrNdRange In>
[[nodiscard]] Future<bool> all(Stream& stream, const In& in, const Options& options = {}) {
    return detail::quantified(stream, detail::Quantifier::all, in, options);
}

/// Returns for each line along the axes whether an element is not 0, in the order of the kept indices.
template <class In>
requires(detail::Shaped<In>) [[nodiscard]] Array<bool> any(Stream& stream, const In& in, const Axes& axes,
                                                           const Options& options = {}) {
    return detail::quantified(stream, detail::Quantifier::any, in, axes, options);
}
/// Returns for each line along the axes whether all elements are not 0, in the order of the kept indices.
template <class In>
requires(detail::Shaped<In>) [[nodiscard]] Array<bool> all(Stream& stream, const In& in, const Axes& axes,
                                                           const Options& options = {}) {
    return detail::quantified(stream, detail::Quantifier::all, in, axes, options);
}

}  // namespace concord
