#pragma once
/// @file
/// Inputs whose size only the device knows: the first elements of a range, as many as a count on the device says.
///
///     compact(stream, x, kept, count, Keep::greater(0.5f));        // count: one u64 on the device
///     sort(stream, first(kept, count), sorted);                    // its first count[0] elements
///     unique(stream, first(sorted, count), values, values_count);
///     reduce(stream, first(values, values_count), total);          // nothing waits for the host
///
/// The calls below take first(x, count) as an input:
/// - Bits: those of the call on the first count[0] elements alone, in its canonical order.
/// - Shapes: those of the call on all n elements of x. Elements of outputs past the count stay unchanged; partition()
///   fills them with those of x.
/// - Count: a range of one u64 on the device. It is read once, before the call writes anything, so that an output may
///   overlap it. If it exceeds n, the call uses n elements, and Stream::synchronize() throws invalid_argument. No
///   kernel accesses memory outside of the operands.
/// - Inputs: x is a range or an expression (expression.hpp). Elements past the count have no effect. Kernels of
///   reduce(), scan() and evaluate() compute an expression, and those of compact() if it has at most 8 parts. scan()
///   and compact() store an expression with gather() first, other calls every expression. Functions of expressions and
///   predicates may also be called for elements past the count, so that they must be defined for every value.
///   partition() uses all n elements of x: indices of gather() are reported past the count too.
/// - In place: as the call on n elements; compact() does not support it.
/// - Work: reduce(), scan() and sort() are calls of segmented_reduce(), segmented_scan() and segmented_sort() with one
///   segment, with their memory traffic and scratch. Launches are those for n elements. evaluate() and reduce() read
///   count[0] elements, other calls up to n. A launch of one work-item comes first.
/// - Options: the variant must be `auto`.
/// - Asynchrony: enqueues on the stream and returns.
/// - Errors: those of the call; invalid_argument (a count that is not one u64, a variant), unsupported (bit ranges of
///   sort()).

#include <concord/compact.hpp>
#include <concord/reduce_by_key.hpp>
#include <concord/run_length_encode.hpp>
#include <concord/scan_by_key.hpp>
#include <concord/segmented_reduce.hpp>
#include <concord/segmented_scan.hpp>
#include <concord/segmented_sort.hpp>
#include <concord/unique.hpp>

namespace concord {

namespace detail {

// first() with its type erased.
struct FirstInput {
    Input in;    // all elements
    View count;  // one u64
};

// Problems are without offsets; their input has all elements.
Enqueued evaluate_first(Stream& stream, const FirstInput& in, const View& out, const Options& options);
Enqueued reduce_first(Stream& stream, const FirstInput& in, const View& out, ReduceOp op,
                      const Options& options);
Enqueued reduce_first(Stream& stream, const SegmentedReduceProblem& problem, const View& count,
                      const Options& options);
Enqueued scan_first(Stream& stream, const SegmentedScanProblem& problem, const View& count,
                    const Options& options);
// values: null for keys alone.
Enqueued sort_first(Stream& stream, const FirstInput& keys, const Input* values, const View& keys_out,
                    const View& values_out, const SortBy& by, const Options& options);
Enqueued compact_first(Stream& stream, const FirstInput& in, const View& out, const View& count,
                       const Keep& keep, Others others, const Options& options);
Enqueued compact_first(Stream& stream, const FirstInput& in, const Input& flags, const View& out,
                       const View& count, Others others, const Options& options);
Enqueued unique_first(Stream& stream, const FirstInput& in, const View& out, const View& count,
                      const Options& options);
Enqueued run_length_encode_first(Stream& stream, const FirstInput& in, const View& out, const View& lengths,
                                 const View& count, const Options& options);
Enqueued reduce_by_key_first(Stream& stream, const FirstInput& keys, const Input& values,
                             const View& out_keys, const View& out, const View& count, ReduceOp op,
                             const Options& options);
Enqueued reduce_by_key_first(Stream& stream, ReduceByKeyProblem problem, const View& used,
                             const Options& options);
Enqueued scan_by_key_first(Stream& stream, const FirstInput& keys, const Input& values, const View& out,
                           ReduceOp op, ScanKind kind, const Options& options);
Enqueued scan_by_key_first(Stream& stream, ScanByKeyProblem problem, const View& used,
                           const Options& options);

// The number of elements that a call uses, in its memory.
struct FirstCount {
    // call: a literal. Enqueues the kernel that makes it of the count. Throws invalid_argument (count, variant).
    FirstCount(Stream& stream, const char* call, const View& count, u64 n, const Options& options);

    std::shared_ptr<Buffer> room;
    View offsets;  // 0 and the number: of one segment
    View count;    // the number
};

}  // namespace detail

/// The first elements of a range or an expression, as many as a count on the device says; see first().
template <class T>
class First {
  public:
    /// The element type.
    using Element = T;

    /// @cond
    explicit First(detail::FirstInput of) : of_(std::move(of)) {}
    const detail::FirstInput& of() const { return of_; }
    /// @endcond

  private:
    detail::FirstInput of_;
};

/// The first count[0] elements of a range or an expression. count: a range of one u64 on the device. It holds views:
/// arrays must live until the call that uses it returns. Throws invalid_argument for an expression without a size.
template <class S, class Count>
auto first(S&& x, Count&& count) {
    detail::check_sources<false, S&&, Count&&>();
    static_assert(std::is_same_v<detail::ElementOf<Count>, u64> && Range<std::remove_cvref_t<Count>>,
                  "the count must be a range of u64");
    return First<detail::ElementOf<S>>(
        detail::FirstInput{detail::Input(detail::node_of(x)), View(count.view())});
}

/// Writes the elements to the first ones of out, which has the size of x.
template <class T, OutputRange Out>
Enqueued evaluate(Stream& stream, const First<T>& in, const Out& out, const Options& options = {}) {
    static_assert(std::is_same_v<T, typename Out::Element>,
                  "the element type of out must be that of the input; see convert()");
    return detail::evaluate_first(stream, in.of(), out.view(), options);
}

/// Reduces the elements with a built-in operator.
template <class T, OutputRange Out>
Enqueued reduce(Stream& stream, const First<T>& in, const Out& out, ReduceOp op = ReduceOp::sum,
                const Options& options = {}) {
    static_assert(detail::same_elements<First<T>, Out>, "reduce: in and out must have the same element type");
    return detail::reduce_first(stream, in.of(), out.view(), op, options);
}
/// Reduces the elements with a user operator.
template <class T, OutputRange Out, class F, class... B>
Enqueued reduce(Stream& stream, const First<T>& in, const Out& out, const Function<F, B...>& op,
                std::type_identity_t<T> identity, const Options& options = {}) {
    detail::check_combines<First<T>, Out, Function<F, B...>>();
    const auto values = op.packed();
    detail::check_identity("reduce", op, identity, options.order);
    return detail::reduce_first(
        stream,
        detail::segmented_reduce_problem<Function<F, B...>>(in.of().in, {}, out.view(), values, identity),
        in.of().count, options);
}

/// Scans the elements with a built-in operator.
template <class T, OutputRange Out>
Enqueued scan(Stream& stream, const First<T>& in, const Out& out, ReduceOp op = ReduceOp::sum,
              ScanKind kind = ScanKind::inclusive, const Options& options = {}) {
    static_assert(detail::same_elements<First<T>, Out>, "scan: in and out must have the same element type");
    return detail::scan_first(stream, detail::segmented_scan_problem(in.of().in, {}, out.view(), op, kind),
                              in.of().count, options);
}
/// Scans the elements with a user operator.
template <class T, OutputRange Out, class F, class... B>
Enqueued scan(Stream& stream, const First<T>& in, const Out& out, const Function<F, B...>& op,
              std::type_identity_t<T> identity, ScanKind kind = ScanKind::inclusive,
              const Options& options = {}) {
    detail::check_combines<First<T>, Out, Function<F, B...>>();
    const auto values = op.packed();
    detail::check_identity("scan", op, identity, options.order);
    return detail::scan_first(
        stream,
        detail::segmented_scan_problem<Function<F, B...>>(in.of().in, {}, out.view(), values, identity, kind),
        in.of().count, options);
}

/// Sorts the keys in their own order; the sort is stable.
template <class T, OutputRange Out>
Enqueued sort(Stream& stream, const First<T>& in, const Out& out, const SortBy& by = {},
              const Options& options = {}) {
    static_assert(detail::same_elements<First<T>, Out>, "sort: in and out must have the same element type");
    return detail::sort_first(stream, in.of(), nullptr, View(out.view()), {}, by, options);
}
/// Sorts the keys in their own order and moves each value with its key. values_in has the size of all keys.
template <class K, InputRange Values, OutputRange KeysOut, OutputRange ValuesOut>
Enqueued sort_pairs(Stream& stream, const First<K>& keys_in, const Values& values_in, const KeysOut& keys_out,
                    const ValuesOut& values_out, const SortBy& by = {}, const Options& options = {}) {
    static_assert(detail::same_elements<First<K>, KeysOut> && detail::same_elements<Values, ValuesOut>,
                  "sort_pairs: inputs and outputs must have the same element types");
    const detail::Input values = detail::input_of(values_in);
    return detail::sort_first(stream, keys_in.of(), &values, View(keys_out.view()), View(values_out.view()),
                              by, options);
}

/// Compacts the elements by a built-in predicate.
template <class T, OutputRange Out, OutputRange Count>
Enqueued compact(Stream& stream, const First<T>& in, const Out& out, const Count& count, const Keep& keep,
                 const Options& options = {}) {
    detail::check_compact_types<First<T>, Out, Count>();
    return detail::compact_first(stream, in.of(), out.view(), count.view(), keep, detail::Others::dropped,
                                 options);
}
/// Compacts the elements by a user predicate.
template <class T, OutputRange Out, OutputRange Count, class F, class... B>
Enqueued compact(Stream& stream, const First<T>& in, const Out& out, const Count& count,
                 const Function<F, B...>& keep, const Options& options = {}) {
    const auto& [of, used] = in.of();
    const detail::FirstCount n(stream, "compact", used, of.view.count, options);
    return detail::compact_by<First<T>>(stream, of, out, count, keep, detail::Others::dropped,
                                        {.order = options.order}, n.count);
}
/// Compacts the elements by flags of bool or u8, as many as x has elements.
template <class T, detail::CompactFlags Flags, OutputRange Out, OutputRange Count>
Enqueued compact(Stream& stream, const First<T>& in, const Flags& flags, const Out& out, const Count& count,
                 const Options& options = {}) {
    detail::check_compact_types<First<T>, Out, Count>();
    return detail::compact_first(stream, in.of(), detail::input_of(flags), out.view(), count.view(),
                                 detail::Others::dropped, options);
}
/// Partitions the elements by a built-in predicate.
template <class T, OutputRange Out, OutputRange Count>
Enqueued partition(Stream& stream, const First<T>& in, const Out& out, const Count& count, const Keep& keep,
                   const Options& options = {}) {
    detail::check_compact_types<First<T>, Out, Count>();
    return detail::compact_first(stream, in.of(), out.view(), count.view(), keep, detail::Others::behind,
                                 options);
}

/// Partitions the elements by a user predicate.
template <class T, OutputRange Out, OutputRange Count, class F, class... B>
Enqueued partition(Stream& stream, const First<T>& in, const Out& out, const Count& count,
                   const Function<F, B...>& keep, const Options& options = {}) {
    const auto& [of, used] = in.of();
    const detail::FirstCount n(stream, "partition", used, of.view.count, options);
    return detail::compact_by<First<T>>(stream, of, out, count, keep, detail::Others::behind,
                                        {.order = options.order}, n.count);
}
/// Partitions the elements by flags of bool or u8, as many as x has elements.
template <class T, detail::CompactFlags Flags, OutputRange Out, OutputRange Count>
Enqueued partition(Stream& stream, const First<T>& in, const Flags& flags, const Out& out, const Count& count,
                   const Options& options = {}) {
    detail::check_compact_types<First<T>, Out, Count>();
    return detail::compact_first(stream, in.of(), detail::input_of(flags), out.view(), count.view(),
                                 detail::Others::behind, options);
}

/// Keeps one element per run; see unique().
template <class T, OutputRange Out, OutputRange Count>
Enqueued unique(Stream& stream, const First<T>& in, const Out& out, const Count& count,
                const Options& options = {}) {
    detail::check_compact_types<First<T>, Out, Count>();
    return detail::unique_first(stream, in.of(), out.view(), count.view(), options);
}

/// Encodes the runs; see run_length_encode().
template <class T, OutputRange Out, OutputRange Lengths, OutputRange Count>
Enqueued run_length_encode(Stream& stream, const First<T>& in, const Out& out, const Lengths& lengths,
                           const Count& count, const Options& options = {}) {
    detail::check_compact_types<First<T>, Out, Count>();
    static_assert(std::is_same_v<typename Lengths::Element, u64>, "lengths must be of u64");
    return detail::run_length_encode_first(stream, in.of(), out.view(), lengths.view(), count.view(),
                                           options);
}

/// Reduces the values of each run of keys with a built-in operator. values has the size of all keys.
template <class K, InputRange Values, OutputRange OutKeys, OutputRange Out, OutputRange Count>
Enqueued reduce_by_key(Stream& stream, const First<K>& keys, const Values& values, const OutKeys& out_keys,
                       const Out& out, const Count& count, ReduceOp op = ReduceOp::sum,
                       const Options& options = {}) {
    static_assert(detail::same_elements<First<K>, OutKeys>,
                  "reduce_by_key: keys and out_keys must have the same element type");
    detail::check_compact_types<Values, Out, Count>();
    return detail::reduce_by_key_first(stream, keys.of(), detail::input_of(values), out_keys.view(),
                                       out.view(), count.view(), op, options);
}
/// Reduces the values of each run of keys with a user operator.
template <class K, InputRange Values, OutputRange OutKeys, OutputRange Out, OutputRange Count, class F,
          class... B>
Enqueued reduce_by_key(Stream& stream, const First<K>& keys, const Values& values, const OutKeys& out_keys,
                       const Out& out, const Count& count, const Function<F, B...>& op,
                       typename Values::Element identity, const Options& options = {}) {
    using T = typename Out::Element;
    static_assert(detail::same_elements<First<K>, OutKeys>,
                  "reduce_by_key: keys and out_keys must have the same element type");
    static_assert(std::is_same_v<typename Count::Element, u64>, "count must be of u64");
    detail::check_combines<Values, Out, Function<F, B...>>();
    const auto bound = op.packed();
    const T start = identity;
    detail::check_identity("reduce_by_key", op, start, options.order);
    return detail::reduce_by_key_first(stream,
                                       {detail::segmented_reduce_problem<Function<F, B...>>(
                                            detail::input_of(values), {}, out.view(), bound, start),
                                        keys.of().in, out_keys.view(), count.view()},
                                       keys.of().count, options);
}

/// Scans the values of each run of keys with a built-in operator. values and out have the size of all keys.
template <class K, InputRange Values, OutputRange Out>
Enqueued scan_by_key(Stream& stream, const First<K>& keys, const Values& values, const Out& out,
                     ReduceOp op = ReduceOp::sum, ScanKind kind = ScanKind::inclusive,
                     const Options& options = {}) {
    static_assert(detail::same_elements<Values, Out>,
                  "scan_by_key: values and out must have the same element type");
    return detail::scan_by_key_first(stream, keys.of(), detail::input_of(values), out.view(), op, kind,
                                     options);
}
/// Scans the values of each run of keys with a user operator.
template <class K, InputRange Values, OutputRange Out, class F, class... B>
Enqueued scan_by_key(Stream& stream, const First<K>& keys, const Values& values, const Out& out,
                     const Function<F, B...>& op, typename Values::Element identity,
                     ScanKind kind = ScanKind::inclusive, const Options& options = {}) {
    using T = typename Out::Element;
    detail::check_combines<Values, Out, Function<F, B...>>();
    const auto bound = op.packed();
    const T start = identity;
    detail::check_identity("scan_by_key", op, start, options.order);
    return detail::scan_by_key_first(stream,
                                     {detail::segmented_scan_problem<Function<F, B...>>(
                                          detail::input_of(values), {}, out.view(), bound, start, kind),
                                      keys.of().in},
                                     keys.of().count, options);
}

}  // namespace concord
