#pragma once
/// @file
/// Reduce over axes: combines the elements of an array view along one or several axes.
///
///     const NdSpan t(x, {2, 300, 500});
///     const Array<f32> rows = sum(stream, t, -1);            // 2 x 300 sums of 500 elements
///     const Array<f32> all = max(stream, t, {0, 2});         // 300 largest elements
///     reduce(stream, t, out, ReduceOp::product, 1);          // 2 x 500 products of 300 elements
///     sum(stream, transform(distance, t, u), -1);            // computed in the kernel, see expression.hpp
///
/// A line is all elements at one index of the axes that are kept.
///
/// - Axes: from the front, or, negative, from the back. Without axes, each element is a line.
/// - Order: the result of a line is bitwise that of reduce() on its elements alone. With several axes these are in the
///   order of their indices, the last axis fastest. The order in which the axes are named does not matter.
/// - Shapes: in has any rank up to 8, extents of 0 and any strides. out has the extents of the kept axes, as an array
///   view or as a range in the order of their indices. A line without elements gives the identity.
/// - Types: any element type, the same for in and out.
/// - In place: not supported. The range of out may not overlap that of in. No two indices of out may share an element.
/// - Memory traffic: reads every element once. Fastest are lines of adjacent elements, and lines that are adjacent
///   to each other.
/// - Scratch: at most about 1 / 512 of the size of the input, if lines have more than 1024 elements.
/// - Asynchrony: enqueues on the stream and returns. The forms without an output return an array, whose first use
///   must follow on the stream.
/// - Variants: `fixed` only, in the canonical order; see reduce.hpp.
/// - NaN: as reduce.hpp.
/// - Errors: invalid_argument (axes, extents of out, overlap, types), wrong_device, unsupported, compile_failed,
///   out_of_memory.
///
/// Source: as reduce.hpp.

#include <concord/detail/reduce_lines_host.hpp>
#include <concord/nd_span.hpp>
#include <concord/reduce.hpp>

namespace concord {

namespace detail {

// The host kernel of one operator and type. Memory limits it: wider vectors than AVX2's gain little.
template <class T, class Op>
constexpr HostKernel make_reduce_lines_host() {
    HostKernel kernel = host_kernel<&detail::host::reduce_lines<T, Op>>();
    kernel.entry(HostIsa::avx512) = kernel.entry(HostIsa::avx2);
    return kernel;
}
template <class T, class Op>
const HostKernel& reduce_lines_host() {
    static constexpr HostKernel kernel = make_reduce_lines_host<T, Op>();
    return kernel;
}

// A call with its types erased.
struct ReduceLinesProblem {
    NdView in, out;
    Axes axes;
    const Operator& op;
    ValueBytes values;       // the operator's bound values
    ValueBytes identity;     // one element
    const HostKernel* host;  // null: the operator has kernel source only
    ExpressionPointer expression =
        {};  // of the elements of `in`, in the order of their indices; null: its range

    Input input() const { return expression ? Input(expression) : Input(in.range()); }
    Type type() const { return in.type(); }
};

// The call of a user operator Fn. It refers to its bound values and the identity.
template <class Fn, class T, class Values>
ReduceLinesProblem reduce_lines_problem(const NdInput& in, const NdView& out, const Axes& axes,
                                        const Values& values, const T& identity) {
    return {.in = in.view,
            .out = out,
            .axes = axes,
            .op = Fn::erased(),
            .values = {values},
            .identity = {std::as_bytes(std::span(&identity, 1))},
            .host = &reduce_lines_host<T, typename Fn::Host>(),
            .expression = in.elements};
}

Enqueued reduce_lines(Stream& stream, const ReduceLinesProblem& problem, const Options& options);
Enqueued reduce_lines(Stream& stream, const NdInput& in, const NdView& out, ReduceOp op, const Axes& axes,
                      const Options& options);

// The extents of the axes that are kept. Throws invalid_argument if there is no such axis, or if one occurs twice.
NdExtents kept_extents(const NdView& in, const Axes& axes);
// The product of the extents. Throws invalid_argument if it exceeds 2^60.
u64 element_count(const NdExtents& extents);
// A range as the array of these extents. Throws invalid_argument unless it has as many elements.
NdView range_as_output(const View& range, const NdExtents& extents);

// An output as an array view: a range has the kept extents.
template <class Out>
NdView output_of(const NdView& in, const Axes& axes, const Out& out) {
    if constexpr (NdRange<Out>) {
        return out.view();
    } else {
        return range_as_output(out.view(), kept_extents(in, axes));
    }
}

}  // namespace detail

/// Reduces an array view over axes with a built-in operator; see the top of this file.
Enqueued reduce(Stream& stream, const NdView& in, const NdView& out, ReduceOp op, const Axes& axes,
                const Options& options = {});

/// Reduces an array view over axes with a built-in operator. out: an array view of the kept extents, or a range.
template <NdInputRange In, class Out>
requires(OutputNdRange<Out> || OutputRange<Out>) Enqueued
    reduce(Stream& stream, const In& in, const Out& out, ReduceOp op, const Axes& axes,
           const Options& options = {}) {
    static_assert(detail::same_elements<In, Out>, "reduce: in and out must have the same element type");
    const detail::NdInput from = detail::nd_input_of(in);
    return detail::reduce_lines(stream, from, detail::output_of(from.view, axes, out), op, axes, options);
}

/// Reduces an array view over axes with a user operator; see reduce() of a range. out: an array view of the kept
/// extents, or a range.
template <NdInputRange In, class Out, class F, class... B>
requires(OutputNdRange<Out> || OutputRange<Out>) Enqueued
    reduce(Stream& stream, const In& in, const Out& out, const Function<F, B...>& op,
           typename In::Element identity, const Axes& axes, const Options& options = {}) {
    using Fn = Function<F, B...>;
    using T = typename Out::Element;
    detail::check_combines<In, Out, Fn>();
    const auto values = op.packed();
    const T start = identity;
    detail::check_identity("reduce", op, start, options.order);
    const detail::NdInput from = detail::nd_input_of(in);
    return detail::reduce_lines(
        stream,
        detail::reduce_lines_problem<Fn>(from, detail::output_of(from.view, axes, out), axes, values, start),
        options);
}

/// Reduces an array view over axes with a built-in operator. Returns the results in the order of the kept indices.
template <NdInputRange In>
[[nodiscard]] auto reduce(Stream& stream, const In& in, ReduceOp op, const Axes& axes,
                          const Options& options = {}) {
    using T = std::remove_const_t<typename In::Element>;
    const detail::NdInput from = detail::nd_input_of(in);
    const NdExtents extents = detail::kept_extents(from.view, axes);
    Array<T> out(stream, detail::element_count(extents));
    detail::reduce_lines(stream, from, NdView(out.view(), extents), op, axes, options);
    return out;
}

/// Reduces an array view over axes with a user operator. Returns the results in the order of the kept indices.
template <NdInputRange In, class F, class... B>
[[nodiscard]] auto reduce(Stream& stream, const In& in, const Function<F, B...>& op,
                          typename In::Element identity, const Axes& axes, const Options& options = {}) {
    using T = std::remove_const_t<typename In::Element>;
    Array<T> out(stream, detail::element_count(detail::kept_extents(detail::nd_input_of(in).view, axes)));
    reduce(stream, in, out, op, identity, axes, options);
    return out;
}

/// Returns the sums over axes, in the order of the kept indices. Integers wrap.
template <NdInputRange In>
[[nodiscard]] auto sum(Stream& stream, const In& in, const Axes& axes, const Options& options = {}) {
    return reduce(stream, in, ReduceOp::sum, axes, options);
}
// Also where min and max are macros.
#pragma push_macro("min")
#pragma push_macro("max")
#undef min
#undef max
/// Returns the smallest elements over axes, in the order of the kept indices: NaN if any element of a line is.
template <NdInputRange In>
[[nodiscard]] auto min(Stream& stream, const In& in, const Axes& axes, const Options& options = {}) {
    return reduce(stream, in, ReduceOp::min, axes, options);
}
/// Returns the largest elements over axes, in the order of the kept indices: NaN if any element of a line is.
template <NdInputRange In>
[[nodiscard]] auto max(Stream& stream, const In& in, const Axes& axes, const Options& options = {}) {
    return reduce(stream, in, ReduceOp::max, axes, options);
}
#pragma pop_macro("min")
#pragma pop_macro("max")

}  // namespace concord
