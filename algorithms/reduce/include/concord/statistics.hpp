#pragma once
/// @file
/// Statistics: reductions of ranges, expressions and array views over axes, each made of reduce() and expressions.
///
///     dot(stream, x, y)                sum of x[i] * y[i]
///     norm(stream, x)                  square root of dot(x, x)
///     mean(stream, x)                  sum / n
///     variance(stream, x, ddof)        sum of (x[i] - mean)^2 / max(n - ddof, 0)
///     standard_deviation(stream, x, ddof)
///     argmin(stream, x), argmax(stream, x)
///     mean(stream, matrix, 0)          of each column; all but dot have such a form, see reduce_axes.hpp
///
/// - Shapes: x and y have n elements; the result is one element. Over axes: one element per line of n elements.
/// - Types: dot: any element type, which is that of the result; integers wrap. The others of f32 are f32. Those of
///   integers and f64 are f64: integers are converted to f64 first, which is exact up to 2^53. argmin and argmax: u64.
/// - Memory traffic: dot, norm, mean: reads every element once. variance: twice. argmin, argmax: once for types of up
///   to four bytes and n up to 2^32, otherwise twice.
/// - Order: that of reduce(), canonical. Results are bitwise identical on all devices.
/// - Asynchrony: enqueues on the stream and returns. The forms without an output return a Future, see reduce().
/// - Scratch: what reduce() takes. Over axes also an element per line for variance, for argmin of wide types, and for
///   an out that is not contiguous.
/// - Errors: as for reduce(). argmin and argmax of an empty input, or over empty axes, throw invalid_argument.
/// - Source: NumPy's reference (mean, var, argmin).

#include <concord/reduce_axes.hpp>

#include <optional>

namespace concord {

namespace detail {
// The type of means: f32 for f32, otherwise f64.
template <class T>
using MeanOf = std::conditional_t<std::is_same_v<T, f32>, f32, f64>;

// What a statistic combines: all elements of an input, or those of an array view along axes.
struct StatisticOperands {
    StatisticOperands(const Input& input, const View& result)
        : in(input), out(result, result.count == 1 ? NdExtents{} : NdExtents{result.count}) {}
    StatisticOperands(const NdInput& input, const NdView& result, const Axes& over)
        : in(input.elements ? Input(input.elements) : Input(input.view.range())),
          shape(input.view),
          out(result),
          axes(over) {}

    Input in;
    NdView shape, out;
    std::optional<Axes> axes = {};
};

Enqueued norm(Stream& stream, const StatisticOperands& operands, const Options& options);
Enqueued mean(Stream& stream, const StatisticOperands& operands, const Options& options);
// root: the standard deviation.
Enqueued variance(Stream& stream, const StatisticOperands& operands, u64 ddof, bool root,
                  const Options& options);
Enqueued arg_extremum(Stream& stream, const StatisticOperands& operands, ReduceOp op, const Options& options);

// Calls compute(out) with an array of one element and returns its value as a future.
template <class T, class F>
Future<T> one_value(Stream& stream, const char* call, const F& compute) {
    check_delivers(stream, call);
    const Array<T> out(stream, 1);
    compute(out.view());
    return Future<T>(stream, out);
}
}  // namespace detail

/// The sum of the products x[i] * y[i], each rounded, in the order of reduce().
template <InputRange X, InputRange Y, OutputRange Out>
Enqueued dot(Stream& stream, const X& x, const Y& y, const Out& out, const Options& options = {}) {
    return reduce(stream, transform(ReduceOp::product, x, y), out, ReduceOp::sum, options);
}
/// The same as a Future.
template <InputRange X, InputRange Y>
[[nodiscard]] auto dot(Stream& stream, const X& x, const Y& y, const Options& options = {}) {
    return reduce(stream, transform(ReduceOp::product, x, y), ReduceOp::sum, options);
}

/// The square root of dot(x, x): 0 for an empty input. x as f32 or f64, see the types above.
template <InputRange In, OutputRange Out>
Enqueued norm(Stream& stream, const In& in, const Out& out, const Options& options = {}) {
    return detail::norm(stream, {detail::input_of(in), out.view()}, options);
}
/// The same as a Future.
template <InputRange In>
[[nodiscard]] auto norm(Stream& stream, const In& in, const Options& options = {}) {
    return detail::one_value<detail::MeanOf<detail::ElementOf<In>>>(stream, "norm", [&](const View& out) {
        detail::norm(stream, {detail::input_of(in), out}, options);
    });
}

/// The sum divided by n: NaN for an empty input.
template <InputRange In, OutputRange Out>
Enqueued mean(Stream& stream, const In& in, const Out& out, const Options& options = {}) {
    return detail::mean(stream, {detail::input_of(in), out.view()}, options);
}
/// The same as a Future.
template <InputRange In>
[[nodiscard]] auto mean(Stream& stream, const In& in, const Options& options = {}) {
    return detail::one_value<detail::MeanOf<detail::ElementOf<In>>>(stream, "mean", [&](const View& out) {
        detail::mean(stream, {detail::input_of(in), out}, options);
    });
}

/// The sum of the squares of x[i] - mean(x), divided by max(n - ddof, 0). ddof: 1 for a sample of a population.
template <InputRange In, OutputRange Out>
Enqueued variance(Stream& stream, const In& in, const Out& out, u64 ddof = 0, const Options& options = {}) {
    return detail::variance(stream, {detail::input_of(in), out.view()}, ddof, false, options);
}
/// The same as a Future.
template <InputRange In>
[[nodiscard]] auto variance(Stream& stream, const In& in, u64 ddof = 0, const Options& options = {}) {
    return detail::one_value<detail::MeanOf<detail::ElementOf<In>>>(stream, "variance", [&](const View& out) {
        detail::variance(stream, {detail::input_of(in), out}, ddof, false, options);
    });
}
/// The square root of the variance.
template <InputRange In, OutputRange Out>
Enqueued standard_deviation(Stream& stream, const In& in, const Out& out, u64 ddof = 0,
                            const Options& options = {}) {
    return detail::variance(stream, {detail::input_of(in), out.view()}, ddof, true, options);
}
/// The same as a Future.
template <InputRange In>
[[nodiscard]] auto standard_deviation(Stream& stream, const In& in, u64 ddof = 0,
                                      const Options& options = {}) {
    return detail::one_value<detail::MeanOf<detail::ElementOf<In>>>(
        stream, "standard_deviation", [&](const View& out) {
            detail::variance(stream, {detail::input_of(in), out}, ddof, true, options);
        });
}

/// The index of the smallest element. The first one of several; -0 equals +0. The first NaN is smaller than all others.
template <InputRange In, OutputRange Out>
Enqueued argmin(Stream& stream, const In& in, const Out& out, const Options& options = {}) {
    static_assert(std::is_same_v<typename Out::Element, u64>, "argmin: out must be of u64");
    return detail::arg_extremum(stream, {detail::input_of(in), out.view()}, ReduceOp::min, options);
}
/// The same as a Future.
template <InputRange In>
[[nodiscard]] Future<u64> argmin(Stream& stream, const In& in, const Options& options = {}) {
    return detail::one_value<u64>(stream, "argmin", [&](const View& out) {
        detail::arg_extremum(stream, {detail::input_of(in), out}, ReduceOp::min, options);
    });
}
/// The index of the largest element. The first one of several; -0 equals +0. The first NaN is larger than all others.
template <InputRange In, OutputRange Out>
Enqueued argmax(Stream& stream, const In& in, const Out& out, const Options& options = {}) {
    static_assert(std::is_same_v<typename Out::Element, u64>, "argmax: out must be of u64");
    return detail::arg_extremum(stream, {detail::input_of(in), out.view()}, ReduceOp::max, options);
}
/// The same as a Future.
template <InputRange In>
[[nodiscard]] Future<u64> argmax(Stream& stream, const In& in, const Options& options = {}) {
    return detail::one_value<u64>(stream, "argmax", [&](const View& out) {
        detail::arg_extremum(stream, {detail::input_of(in), out}, ReduceOp::max, options);
    });
}

namespace detail {
// The operands of a statistic over axes.
template <class In, class Out>
StatisticOperands over_axes(const In& in, const Axes& axes, const Out& out) {
    const NdInput from = nd_input_of(in);
    return {from, output_of(from.view, axes, out), axes};
}
// Calls compute(operands) with a new array of the kept elements and returns it.
template <class T, class In, class F>
Array<T> values_over_axes(Stream& stream, const In& in, const Axes& axes, const F& compute) {
    const NdInput from = nd_input_of(in);
    const NdExtents extents = kept_extents(from.view, axes);
    Array<T> out(stream, element_count(extents));
    compute(StatisticOperands{from, NdView(out.view(), extents), axes});
    return out;
}
}  // namespace detail

/// The same over axes of an array view; see reduce_axes.hpp. out: an array view of the kept extents, or a range.
template <NdInputRange In, class Out>
requires(OutputNdRange<Out> || OutputRange<Out>) Enqueued
    norm(Stream& stream, const In& in, const Out& out, const Axes& axes, const Options& options = {}) {
    return detail::norm(stream, detail::over_axes(in, axes, out), options);
}
/// The same as an array, in the order of the kept indices.
template <NdInputRange In>
[[nodiscard]] auto norm(Stream& stream, const In& in, const Axes& axes, const Options& options = {}) {
    return detail::values_over_axes<detail::MeanOf<detail::ElementOf<In>>>(
        stream, in, axes,
        [&](const detail::StatisticOperands& operands) { detail::norm(stream, operands, options); });
}
/// The means of lines. out: an array view of the kept extents, or a range.
template <NdInputRange In, class Out>
requires(OutputNdRange<Out> || OutputRange<Out>) Enqueued
    mean(Stream& stream, const In& in, const Out& out, const Axes& axes, const Options& options = {}) {
    return detail::mean(stream, detail::over_axes(in, axes, out), options);
}
/// The same as an array, in the order of the kept indices.
template <NdInputRange In>
[[nodiscard]] auto mean(Stream& stream, const In& in, const Axes& axes, const Options& options = {}) {
    return detail::values_over_axes<detail::MeanOf<detail::ElementOf<In>>>(
        stream, in, axes,
        [&](const detail::StatisticOperands& operands) { detail::mean(stream, operands, options); });
}
/// The variances of lines. out: an array view of the kept extents, or a range.
template <NdInputRange In, class Out>
requires(OutputNdRange<Out> || OutputRange<Out>) Enqueued
    variance(Stream& stream, const In& in, const Out& out, const Axes& axes, u64 ddof = 0,
             const Options& options = {}) {
    return detail::variance(stream, detail::over_axes(in, axes, out), ddof, false, options);
}
/// The same as an array, in the order of the kept indices.
template <NdInputRange In>
[[nodiscard]] auto variance(Stream& stream, const In& in, const Axes& axes, u64 ddof = 0,
                            const Options& options = {}) {
    return detail::values_over_axes<detail::MeanOf<detail::ElementOf<In>>>(
        stream, in, axes, [&](const detail::StatisticOperands& operands) {
            detail::variance(stream, operands, ddof, false, options);
        });
}
/// The square roots of the variances of lines. out: an array view of the kept extents, or a range.
template <NdInputRange In, class Out>
requires(OutputNdRange<Out> || OutputRange<Out>) Enqueued
    standard_deviation(Stream& stream, const In& in, const Out& out, const Axes& axes, u64 ddof = 0,
                       const Options& options = {}) {
    return detail::variance(stream, detail::over_axes(in, axes, out), ddof, true, options);
}
/// The same as an array, in the order of the kept indices.
template <NdInputRange In>
[[nodiscard]] auto standard_deviation(Stream& stream, const In& in, const Axes& axes, u64 ddof = 0,
                                      const Options& options = {}) {
    return detail::values_over_axes<detail::MeanOf<detail::ElementOf<In>>>(
        stream, in, axes, [&](const detail::StatisticOperands& operands) {
            detail::variance(stream, operands, ddof, true, options);
        });
}
/// The indices of the smallest elements in their lines. With several axes an index counts the elements of a line, the
/// last axis fastest. out: an array view of the kept extents, or a range.
template <NdInputRange In, class Out>
requires(OutputNdRange<Out> || OutputRange<Out>) Enqueued
    argmin(Stream& stream, const In& in, const Out& out, const Axes& axes, const Options& options = {}) {
    static_assert(std::is_same_v<typename Out::Element, u64>, "argmin: out must be of u64");
    return detail::arg_extremum(stream, detail::over_axes(in, axes, out), ReduceOp::min, options);
}
/// The same as an array, in the order of the kept indices.
template <NdInputRange In>
[[nodiscard]] Array<u64> argmin(Stream& stream, const In& in, const Axes& axes, const Options& options = {}) {
    return detail::values_over_axes<u64>(stream, in, axes, [&](const detail::StatisticOperands& operands) {
        detail::arg_extremum(stream, operands, ReduceOp::min, options);
    });
}
/// The indices of the largest elements in their lines. out: an array view of the kept extents, or a range.
template <NdInputRange In, class Out>
requires(OutputNdRange<Out> || OutputRange<Out>) Enqueued
    argmax(Stream& stream, const In& in, const Out& out, const Axes& axes, const Options& options = {}) {
    static_assert(std::is_same_v<typename Out::Element, u64>, "argmax: out must be of u64");
    return detail::arg_extremum(stream, detail::over_axes(in, axes, out), ReduceOp::max, options);
}
/// The same as an array, in the order of the kept indices.
template <NdInputRange In>
[[nodiscard]] Array<u64> argmax(Stream& stream, const In& in, const Axes& axes, const Options& options = {}) {
    return detail::values_over_axes<u64>(stream, in, axes, [&](const detail::StatisticOperands& operands) {
        detail::arg_extremum(stream, operands, ReduceOp::max, options);
    });
}

}  // namespace concord
