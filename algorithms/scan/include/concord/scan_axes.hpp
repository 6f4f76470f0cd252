#pragma once
/// @file
/// Scan over an axis: combines every element of an array view with all elements before it along one axis.
///
///     const NdSpan t(x, {2, 300, 500});
///     scan(stream, t, out, ReduceOp::sum, -1);                        // running sums of 600 lines of 500 elements
///     scan(stream, t, t, ReduceOp::max, 1, ScanKind::exclusive);      // 1000 lines of 300 elements, in place
///     const Array<f32> sums = scan(stream, t, ReduceOp::sum, 0);      // 2 x 300 x 500 results
///
/// A line is all elements at one index of the other axes.
///
/// - Axis: from the front, or, negative, from the back.
/// - Order: the results of a line are bitwise those of scan() on its elements alone.
/// - Shapes: in and out have the same extents, with any rank from 1 to 8, extents of 0 and any strides.
/// - Inputs: an array view, or an expression with extents (expression.hpp), which a call stores in a temporary array
///   first.
/// - Types: any element type, the same for in and out.
/// - In place: out may be the very same array view as in. Otherwise their ranges may not overlap. No two indices of
///   out may share an element.
/// - Memory traffic: one read and one write per element. Few lines of more than 4096 elements are read twice. Fastest
///   are lines of adjacent elements, and lines that are adjacent to each other.
/// - Scratch: at most about 1 / 3800 of the size of the input.
/// - Asynchrony: enqueues on the stream and returns. The forms without an output return an array in the order of the
///   indices, whose first use must follow on the stream.
/// - Variants: `lines` only, in the canonical order; see scan.hpp. It is not in the descriptor.
/// - NaN: as scan.hpp.
/// - Errors: invalid_argument (axis, extents of out, overlap, types), wrong_device, unsupported, compile_failed,
///   out_of_memory.
///
/// Source: as scan.hpp.

#include <concord/detail/scan_lines_host.hpp>
#include <concord/nd_span.hpp>
#include <concord/scan.hpp>

namespace concord {

namespace detail {

// The host kernels of one operator and type.
template <class T, class Op>
constexpr HostKernel make_scan_lines_host() {
    HostKernel kernel = host_kernel<&detail::host::scan_lines<T, Op>>();
    kernel.entry(HostIsa::avx512) = kernel.entry(HostIsa::avx2);
    return kernel;
}
template <class T, class Op>
const HostKernel& scan_lines_host() {
    static constexpr HostKernel kernel = make_scan_lines_host<T, Op>();
    return kernel;
}

template <class T, class Op>
const HostKernel& scan_rows_host() {
    static constexpr const host::ScanPhases& phases = host::scan_phases<T, Op>;
    static constexpr HostKernel kernel = dispatching_host_kernel<&host::scan_rows<phases, T, Op>>();
    return kernel;
}

// A call with its types erased.
struct ScanLinesProblem {
    NdView in, out;
    i64 axis;
    ScanProblem flat;  // the operator and its kernels; in and out are the ranges
    // Lines side by side, and lines of adjacent elements one after another. Null: the operator has kernel source only.
    const HostKernel *host, *rows;
    const Operator& op = flat.op;

    Type type() const { return in.type(); }
};

Enqueued scan_lines(Stream& stream, const ScanLinesProblem& problem, const Options& options);

}  // namespace detail

/// Scans an array view along an axis with a built-in operator; see the top of this file.
Enqueued scan(Stream& stream, const NdView& in, const NdView& out, ReduceOp op, i64 axis,
              ScanKind kind = ScanKind::inclusive, const Options& options = {});

/// Scans an array view along an axis with a built-in operator.
template <NdInputRange In, OutputNdRange Out>
Enqueued scan(Stream& stream, const In& in, const Out& out, ReduceOp op, i64 axis,
              ScanKind kind = ScanKind::inclusive, const Options& options = {}) {
    static_assert(detail::same_elements<In, Out>, "scan: in and out must have the same element type");
    const NdView to = out.view();
    const detail::NdInputInMemory from(stream, "scan", detail::nd_input_of(in), to, options);
    return from.with_order(scan(stream, from.view(), to, op, axis, kind, options));
}

/// Scans an array view along an axis with a user operator; see scan() of a range.
template <NdInputRange In, OutputNdRange Out, class F, class... B>
Enqueued scan(Stream& stream, const In& in, const Out& out, const Function<F, B...>& op,
              typename In::Element identity, i64 axis, ScanKind kind = ScanKind::inclusive,
              const Options& options = {}) {
    using Fn = Function<F, B...>;
    using T = typename Out::Element;
    detail::check_combines<In, Out, Fn>();
    const auto values = op.packed();
    const T start = identity;
    detail::check_identity("scan", op, start, options.order);
    const NdView to = out.view();
    const detail::NdInputInMemory in_memory(stream, "scan", detail::nd_input_of(in), to, options);
    const NdView& from = in_memory.view();
    return in_memory.with_order(
        detail::scan_lines(stream,
                           {.in = from,
                            .out = to,
                            .axis = axis,
                            .flat = detail::scan_problem<Fn>(from.range(), to.range(), values, start, kind),
                            .host = &detail::scan_lines_host<T, typename Fn::Host>(),
                            .rows = &detail::scan_rows_host<T, typename Fn::Host>()},
                           options));
}

/// Scans an array view along an axis with a built-in operator. Returns the results in the order of the indices.
template <NdInputRange In>
[[nodiscard("the results are in a new array")]] auto scan(Stream& stream, const In& in, ReduceOp op, i64 axis,
                                                          ScanKind kind = ScanKind::inclusive,
                                                          const Options& options = {}) {
    using T = std::remove_const_t<typename In::Element>;
    const NdExtents extents = detail::nd_input_of(in).view.extents();
    Array<T> out(stream, detail::nd_input_of(in).view.size());
    scan(stream, in, NdSpan<T>(out, extents), op, axis, kind, options);
    return out;
}

/// Scans an array view along an axis with a user operator. Returns the results in the order of the indices.
template <NdInputRange In, class F, class... B>
[[nodiscard("the results are in a new array")]] auto scan(Stream& stream, const In& in,
                                                          const Function<F, B...>& op,
                                                          typename In::Element identity, i64 axis,
                                                          ScanKind kind = ScanKind::inclusive,
                                                          const Options& options = {}) {
    using T = std::remove_const_t<typename In::Element>;
    const NdExtents extents = detail::nd_input_of(in).view.extents();
    Array<T> out(stream, detail::nd_input_of(in).view.size());
    scan(stream, in, NdSpan<T>(out, extents), op, identity, axis, kind, options);
    return out;
}

}  // namespace concord
