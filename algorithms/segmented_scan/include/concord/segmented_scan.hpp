#pragma once
/// @file
/// Segmented scan: scans each segment of a range on its own.
///
///     inclusive   out[i] = in[b] op in[b + 1] op ... op in[i], where element b is the first one of i's segment
///     exclusive   out[i] = in[b] op ... op in[i - 1], and out[b] is the identity
///
/// - Shapes: in and out have n >= 0 elements, offsets S + 1 for S >= 0 segments. Segment s is the elements from
///   offsets[s] to offsets[s + 1] - 1. Offsets ascend, from 0 or more to n or less. Elements of out outside of all
///   segments stay unchanged.
/// - Order: the results of a segment are bitwise those of scan() on its elements alone.
/// - Inputs: a range or an expression (expression.hpp), which the kernels compute.
/// - Types: any element type, the same for in and out. Offsets are u32, u64, i32 or i64.
/// - Offsets that do not ascend or exceed n: Stream::synchronize() throws invalid_argument, which names the position of
///   the first one. Nothing outside of the operands is accessed; out is undefined. Without elements or segments the
///   offsets are not read.
/// - In place: out may be exactly in, or exactly a range of an expression whose elements are used at their own index
///   only. Any other overlap with in or offsets is an error.
/// - Memory traffic: reads every offset once and writes every element once. Reads every element once; GPUs read tiles
///   of about 3840 elements (1792 of 8 bytes) twice if a segment has more than 256 elements in them. The bits below
///   are written once and read up to three times.
/// - Scratch: n / 8 bytes for bits that say where segments begin, and for GPUs about n / 50 bytes and n / 240 elements.
/// - Asynchrony: enqueues on the stream and returns.
/// - NaN: as scan.hpp.
/// - Errors: invalid_argument (counts, overlap, types), wrong_device, unsupported (more than 2^40 elements on GPUs),
///   compile_failed, out_of_memory.
///
/// Sources: J. Sklansky, Conditional-sum Addition Logic, 1960; G. Blelloch, Prefix Sums and Their Applications, 1990
/// (segmented scan). The rest is Concord's.

#include <concord/detail/segmented_scan_host.hpp>
#include <concord/scan.hpp>
#include <concord/segmented_reduce.hpp>

namespace concord {

namespace detail {

// The host kernel of one operator and type. Its operations are scalar: wider vectors gain nothing.
template <class T, class Op, bool in_any_order = false>
const HostKernel& segmented_scan_host() {
    static constexpr HostKernel kernel =
        dispatching_host_kernel<&detail::host::segmented_scan<in_any_order, T, Op>>();
    return kernel;
}

// A call with its types erased: the scan of the range, and its segments.
struct SegmentedScanProblem : ScanProblem {
    View offsets;              // without a buffer if there are flags
    const HostKernel* short_;  // of segments that one group scans; null: the operator has kernel source only
    ExpressionPointer begins =
        {};  // u8 of all elements but the first: whether it begins a segment; often null
    View bounds =
        {};  // with `begins`, two u64: 0 and the end of the last segment; without a buffer: of all elements
};

// The call of a user operator Fn. It refers to its bound values and the identity.
template <class Fn, class T, class Values>
SegmentedScanProblem segmented_scan_problem(const Input& in, const View& offsets, const View& out,
                                            const Values& values, const T& identity, ScanKind kind) {
    return {scan_problem<Fn>(in, out, values, identity, kind), offsets,
            &segmented_scan_host<T, typename Fn::Host>()};
}
// The call of a built-in operator. It refers only to static data.
SegmentedScanProblem segmented_scan_problem(const Input& in, const View& offsets, const View& out,
                                            ReduceOp op, ScanKind kind);

Enqueued segmented_scan(Stream& stream, const SegmentedScanProblem& problem, const Options& options);

}  // namespace detail

/// Descriptor of segmented_scan.
extern const Algorithm segmented_scan_algorithm;

/// Scans the segments of a view with a built-in operator; see the top of this file.
Enqueued segmented_scan(Stream& stream, const View& in, const View& offsets, const View& out,
                        ReduceOp op = ReduceOp::sum, ScanKind kind = ScanKind::inclusive,
                        const Options& options = {});

/// Scans the segments of a span, array or expression with a built-in operator.
template <InputRange In, InputRange Offsets, OutputRange Out>
Enqueued segmented_scan(Stream& stream, const In& in, const Offsets& offsets, const Out& out,
                        ReduceOp op = ReduceOp::sum, ScanKind kind = ScanKind::inclusive,
                        const Options& options = {}) {
    static_assert(detail::same_elements<In, Out>,
                  "segmented_scan: in and out must have the same element type");
    detail::check_offsets<Offsets>();
    return detail::segmented_scan(
        stream, detail::segmented_scan_problem(detail::input_of(in), offsets.view(), out.view(), op, kind),
        options);
}

/// Scans segments with a user operator; see scan() with one.
template <InputRange In, InputRange Offsets, OutputRange Out, class F, class... B>
Enqueued segmented_scan(Stream& stream, const In& in, const Offsets& offsets, const Out& out,
                        const Function<F, B...>& op, typename In::Element identity,
                        ScanKind kind = ScanKind::inclusive, const Options& options = {}) {
    using Fn = Function<F, B...>;
    using T = typename Out::Element;
    detail::check_combines<In, Out, Fn>();
    detail::check_offsets<Offsets>();
    const auto values = op.packed();
    const T start = identity;
    detail::check_identity("segmented_scan", op, start, options.order);
    return detail::segmented_scan(stream,
                                  detail::segmented_scan_problem<Fn>(detail::input_of(in), offsets.view(),
                                                                     out.view(), values, start, kind),
                                  options);
}

}  // namespace concord
