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
///     argmin(stream, x, index, value)  also writes the smallest element; argmin_with_value(stream, x) returns both
///     mean(stream, matrix, 0)          of each column; all but dot have such a form, see reduce_axes.hpp
///
/// - Shapes: x and y have n elements; the result is one element. Over axes: one element per line of n elements.
/// - Types: dot: any element type, which is that of the result; integers wrap. The others of f32 are f32. Those of
///   integers and f64 are f64: integers are converted to f64 first, which is exact up to 2^53. argmin and argmax: u64,
///   and values of the elements' type.
/// - Memory traffic: dot, norm, mean: reads every element once. variance: twice. argmin, argmax: once for types of up
///   to four bytes and n up to 2^32, otherwise twice. Values: another kernel reads the index and one element per line.
/// - Order: that of reduce(), canonical. Results are bitwise identical on all devices.
/// - Asynchrony: enqueues on the stream and returns. The forms without an output return a Future, see reduce().
/// - Scratch: what reduce() takes. Over axes also an element per line for variance, for argmin of wide types, and for
///   an out that is not contiguous.
/// - NaN: results are canonical. The value of argmin() and argmax() is x[index], also the sign of a zero. A NaN is the
///   canonical one, as that of min() and max() is.
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
// values: also gets the elements at the indices; null: indices alone.
Enqueued arg_extremum(Stream& stream, const StatisticOperands& operands, const NdView* values, ReduceOp op,
                      const Options& options);

// Calls compute(out) with an array of one element and returns its value as a future.
template <class T, class F>
Future<T> one_value(Stream& stream, const char* call, const F& compute) {
    check_delivers(stream, call);
    const Array<T> out(stream, 1);
    compute(out.view());
    return Future<T>(stream, out);
}
}  // namespace detail

/// The indices of elements, and the elements; see argmin_with_value().
template <class Indices, class Values>
struct IndexAndValue {
    Indices index;  ///< Future<u64>, or Array<u64> over axes
    Values value;   ///< a Future or an Array of the elements' type
};

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
    return detail::arg_extremum(stream, {detail::input_of(in), out.view()}, nullptr, ReduceOp::min, options);
}
/// The same as a Future.
template <InputRange In>
[[nodiscard]] Future<u64> argmin(Stream& stream, const In& in, const Options& options = {}) {
    return detail::one_value<u64>(stream, "argmin", [&](const View& out) {
        detail::arg_extremum(stream, {detail::input_of(in), out}, nullptr, ReduceOp::min, options);
    });
}
/// The index of the largest element. The first one of several; -0 equals +0. The first NaN is larger than all others.
template <InputRange In, OutputRange Out>
Enqueued argmax(Stream& stream, const In& in, const Out& out, const Options& options = {}) {
    static_assert(std::is_same_v<typename Out::Element, u64>, "argmax: out must be of u64");
    return detail::arg_extremum(stream, {detail::input_of(in), out.view()}, nullptr, ReduceOp::max, options);
}
/// The same as a Future.
template <InputRange In>
[[nodiscard]] Future<u64> argmax(Stream& stream, const In& in, const Options& options = {}) {
    return detail::one_value<u64>(stream, "argmax", [&](const View& out) {
        detail::arg_extremum(stream, {detail::input_of(in), out}, nullptr, ReduceOp::max, options);
    });
}

namespace detail {
template <class In, class Out, class Values>
constexpr void check_index_and_value() {
    static_assert(std::is_same_v<typename Out::Element, u64>, "argmin, argmax: the indices must be of u64");
    static_assert(std::is_same_v<typename Values::Element, ElementOf<In>>,
                  "argmin, argmax: the values must be of the element type of in");
}
template <class In, class Out, class Values>
Enqueued arg_extremum_with_value(Stream& stream, const In& in, const Out& out, const Values& value,
                                 ReduceOp op, const Options& options) {
    check_index_and_value<In, Out, Values>();
    const StatisticOperands operands(input_of(in), out.view());
    const View range = value.view();
    const NdView values(range, range.count == 1 ? NdExtents{} : NdExtents{range.count});
    return arg_extremum(stream, operands, &values, op, options);
}
template <class In>
auto arg_extremum_with_value(Stream& stream, const char* call, const In& in, ReduceOp op,
                             const Options& options) {
    using T = ElementOf<In>;
    check_delivers(stream, call);
    const Array<u64> index(stream, 1);
    const Array<T> value(stream, 1);
    arg_extremum_with_value(stream, in, index, value, op, options);
    return IndexAndValue<Future<u64>, Future<T>>{Future<u64>(stream, index), Future<T>(stream, value)};
}
}  // namespace detail

/// The index of the smallest element, and the element.
template <InputRange In, OutputRange Out, OutputRange Values>
Enqueued argmin(Stream& stream, const In& in, const Out& out, const Values& value,
                const Options& options = {}) {
    return detail::arg_extremum_with_value(stream, in, out, value, ReduceOp::min, options);
}
/// The same as futures.
template <InputRange In>
[[nodiscard]] auto argmin_with_value(Stream& stream, const In& in, const Options& options = {}) {
    return detail::arg_extremum_with_value(stream, "argmin_with_value", in, ReduceOp::min, options);
}
/// The index of the largest element, and the element.
template <InputRange In, OutputRange Out, OutputRange Values>
Enqueued argmax(Stream& stream, const In& in, const Out& out, const Values& value,
                const Options& options = {}) {
    return detail::arg_extremum_with_value(stream, in, out, value, ReduceOp::max, options);
}
/// The same as futures.
template <InputRange In>
[[nodiscard]] auto argmax_with_value(Stream& stream, const In& in, const Options& options = {}) {
    return detail::arg_extremum_with_value(stream, "argmax_with_value", in, ReduceOp::max, options);
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
    return detail::arg_extremum(stream, detail::over_axes(in, axes, out), nullptr, ReduceOp::min, options);
}
/// The same as an array, in the order of the kept indices.
template <NdInputRange In>
[[nodiscard]] Array<u64> argmin(Stream& stream, const In& in, const Axes& axes, const Options& options = {}) {
    return detail::values_over_axes<u64>(stream, in, axes, [&](const detail::StatisticOperands& operands) {
        detail::arg_extremum(stream, operands, nullptr, ReduceOp::min, options);
    });
}
/// The indices of the largest elements in their lines. out: an array view of the kept extents, or a range.
template <NdInputRange In, class Out>
requires(OutputNdRange<Out> || OutputRange<Out>) Enqueued
    argmax(Stream& stream, const In& in, const Out& out, const Axes& axes, const Options& options = {}) {
    static_assert(std::is_same_v<typename Out::Element, u64>, "argmax: out must be of u64");
    return detail::arg_extremum(stream, detail::over_axes(in, axes, out), nullptr, ReduceOp::max, options);
}
/// The same as an array, in the order of the kept indices.
template <NdInputRange In>
[[nodiscard]] Array<u64> argmax(Stream& stream, const In& in, const Axes& axes, const Options& options = {}) {
    return detail::values_over_axes<u64>(stream, in, axes, [&](const detail::StatisticOperands& operands) {
        detail::arg_extremum(stream, operands, nullptr, ReduceOp::max, options);
    });
}

namespace detail {
template <class In, class Out, class Values>
Enqueued arg_extremum_with_value(Stream& stream, const In& in, const Out& out, const Values& values,
                                 ReduceOp op, const Axes& axes, const Options& options) {
    check_index_and_value<In, Out, Values>();
    const StatisticOperands operands = over_axes(in, axes, out);
    const NdView elements = output_of(operands.shape, axes, values);
    return arg_extremum(stream, operands, &elements, op, options);
}
template <class In>
auto arg_extremum_with_value(Stream& stream, const In& in, ReduceOp op, const Axes& axes,
                             const Options& options) {
    using T = ElementOf<In>;
    const u64 lines = element_count(kept_extents(nd_input_of(in).view, axes));
    IndexAndValue<Array<u64>, Array<T>> found{Array<u64>(stream, lines), Array<T>(stream, lines)};
    arg_extremum_with_value(stream, in, found.index, found.value, op, axes, options);
    return found;
}
}  // namespace detail

/// The indices of the smallest elements in their lines, and the elements. out, values: array views of the kept extents,
/// or ranges.
template <NdInputRange In, class Out, class Values>
requires((OutputNdRange<Out> || OutputRange<Out>)&&(OutputNdRange<Values> || OutputRange<Values>)) Enqueued
    argmin(Stream& stream, const In& in, const Out& out, const Values& values, const Axes& axes,
           const Options& options = {}) {
    return detail::arg_extremum_with_value(stream, in, out, values, ReduceOp::min, axes, options);
}
/// The same as arrays, in the order of the kept indices.
template <NdInputRange In>
[[nodiscard]] auto argmin_with_value(Stream& stream, const In& in, const Axes& axes,
                                     const Options& options = {}) {
    return detail::arg_extremum_with_value(stream, in, ReduceOp::min, axes, options);
}
/// The indices of the largest elements in their lines, and the elements. out, values: array views of the kept extents,
/// or ranges.
template <NdInputRange In, class Out, class Values>
requires((OutputNdRange<Out> || OutputRange<Out>)&&(OutputNdRange<Values> || OutputRange<Values>)) Enqueued
    argmax(Stream& stream, const In& in, const Out& out, const Values& values, const Axes& axes,
           const Options& options = {}) {
    return detail::arg_extremum_with_value(stream, in, out, values, ReduceOp::max, axes, options);
}
/// The same as arrays, in the order of the kept indices.
template <NdInputRange In>
[[nodiscard]] auto argmax_with_value(Stream& stream, const In& in, const Axes& axes,
                                     const Options& options = {}) {
    return detail::arg_extremum_with_value(stream, in, ReduceOp::max, axes, options);
}

}  // namespace concord
