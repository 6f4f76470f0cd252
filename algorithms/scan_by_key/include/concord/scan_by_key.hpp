#pragma once
/// @file
/// Scan by key: scans the values of each run of equal keys on its own.
///
///     inclusive   out[i] = values[b] op values[b + 1] op ... op values[i], where element b is the first one of i's run
///     exclusive   out[i] = values[b] op ... op values[i - 1], and out[b] is the identity
///
/// - Runs: as unique.hpp. Keys are equal if they are bitwise equal and not NaN.
/// - Shapes: keys, values and out have n >= 0 elements. out has the type of the values.
/// - Order: the results of a run are bitwise those of scan() on its values alone.
/// - Inputs: ranges or expressions (expression.hpp). Expressions of keys are stored first; those of values are computed
///   in the kernels.
/// - Types: any element type. Keys also bool: any byte but 0 is true.
/// - In place: out may be exactly values, or exactly a range of an expression of values whose elements are used at
///   their own index only. Any other overlap of out with an input is an error.
/// - Memory traffic: reads every key twice, neighbours from cache, and writes every result once. Reads every value
///   once, GPUs those of some tiles twice; see segmented_scan.hpp.
/// - Scratch: that of segmented_scan(), and a copy of keys that are an expression or of bool.
/// - Asynchrony: enqueues on the stream and returns.
/// - NaN: values as scan.hpp.
/// - Errors: invalid_argument (counts, overlap, types), wrong_device, unsupported, compile_failed, out_of_memory.
///
/// Source: as segmented_scan.hpp.

#include <concord/segmented_scan.hpp>

namespace concord {

namespace detail {

// A call with its types erased: the scan of the values, without segments, and the keys. With bounds only the elements
// before the second one are used.
struct ScanByKeyProblem : SegmentedScanProblem {
    Input keys;
};

Enqueued scan_by_key(Stream& stream, const ScanByKeyProblem& problem, const Options& options);
Enqueued scan_by_key(Stream& stream, const Input& keys, const Input& values, const View& out, ReduceOp op,
                     ScanKind kind, const Options& options, const View& bounds = {});

}  // namespace detail

/// Descriptor of scan_by_key.
extern const Algorithm scan_by_key_algorithm;

/// Scans the runs of a view of keys with a built-in operator; see the top of this file.
Enqueued scan_by_key(Stream& stream, const View& keys, const View& values, const View& out,
                     ReduceOp op = ReduceOp::sum, ScanKind kind = ScanKind::inclusive,
                     const Options& options = {});

/// Scans the runs of a span, array or expression of keys with a built-in operator.
template <InputRange Keys, InputRange Values, OutputRange Out>
Enqueued scan_by_key(Stream& stream, const Keys& keys, const Values& values, const Out& out,
                     ReduceOp op = ReduceOp::sum, ScanKind kind = ScanKind::inclusive,
                     const Options& options = {}) {
    static_assert(detail::same_elements<Values, Out>,
                  "scan_by_key: values and out must have the same element type");
    return detail::scan_by_key(stream, detail::input_of(keys), detail::input_of(values), out.view(), op, kind,
                               options);
}

/// Scans runs with a user operator; see scan() with one.
template <InputRange Keys, InputRange Values, OutputRange Out, class F, class... B>
Enqueued scan_by_key(Stream& stream, const Keys& keys, const Values& values, const Out& out,
                     const Function<F, B...>& op, typename Values::Element identity,
                     ScanKind kind = ScanKind::inclusive, const Options& options = {}) {
    using Fn = Function<F, B...>;
    using T = typename Out::Element;
    detail::check_combines<Values, Out, Fn>();
    const auto bound = op.packed();
    const T start = identity;
    detail::check_identity("scan_by_key", op, start, options.order);
    return detail::scan_by_key(
        stream,
        {detail::segmented_scan_problem<Fn>(detail::input_of(values), {}, out.view(), bound, start, kind),
         detail::input_of(keys)},
        options);
}

}  // namespace concord
