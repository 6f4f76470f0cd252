#pragma once
/// @file
/// Reduce by key: combines the values of each run of equal keys.
///
///     out_keys[r] = the key of run r, out[r] = its values combined by op, for r < count
///
/// - Runs: as unique.hpp. Keys are equal if they are bitwise equal and not NaN. On sorted keys there is one result per
///   key.
/// - Shapes: keys and values have n >= 0 elements. out_keys has the type of the keys, out that of the values, each with
///   room for n; elements past the runs stay unchanged. count is one u64 on the device.
/// - Order: the result of a run is bitwise that of reduce() on its values alone.
/// - Inputs: ranges or expressions (expression.hpp). Expressions of keys are stored first; those of values are computed
///   in the kernels.
/// - Types: any element type. Keys also bool: any byte but 0 is true, results are 0 or 1.
/// - In place: not supported. Outputs may not overlap an input or each other.
/// - Memory traffic: reads every key twice, neighbours from cache, and every value once; per run writes a position,
///   reads it twice, reads a key again, and writes a key and a result.
/// - Scratch: 4 bytes per element, 8 for more than 2^32 - 1, that of compact() and segmented_reduce(), and a copy of
///   keys that are an expression or of bool.
/// - Asynchrony: the calls with a count range enqueue and return. The overload that returns a Future delivers the count
///   when the stream has reached it. reduce_by_key() into new arrays blocks.
/// - NaN: values as reduce.hpp.
/// - Errors: invalid_argument (counts, overlap, types), wrong_device, unsupported, compile_failed, out_of_memory.
///
/// Source: M. Harris, Optimizing Parallel Reduction in CUDA, 2007 (the tree of a run); the rest is Concord's.

#include <concord/compact.hpp>
#include <concord/segmented_reduce.hpp>

#include <utility>

namespace concord {

namespace detail {

// A call with its types erased: the reduction of the values, without offsets, and the keys.
struct ReduceByKeyProblem : SegmentedReduceProblem {
    Input keys;
    View out_keys, count;
    View used = {};  // one u64: the number of elements that are used, at most all; often without a buffer
};

Enqueued reduce_by_key(Stream& stream, const ReduceByKeyProblem& problem, const Options& options);
Enqueued reduce_by_key(Stream& stream, const Input& keys, const Input& values, const View& out_keys,
                       const View& out, const View& count, ReduceOp op, const Options& options,
                       const View& used = {});

}  // namespace detail

/// Descriptor of reduce_by_key.
extern const Algorithm reduce_by_key_algorithm;

/// Reduces the runs of a view of keys with a built-in operator; see the top of this file.
Enqueued reduce_by_key(Stream& stream, const View& keys, const View& values, const View& out_keys,
                       const View& out, const View& count, ReduceOp op = ReduceOp::sum,
                       const Options& options = {});

/// Reduces the runs of a span, array or expression of keys with a built-in operator.
template <InputRange Keys, InputRange Values, OutputRange OutKeys, OutputRange Out, OutputRange Count>
Enqueued reduce_by_key(Stream& stream, const Keys& keys, const Values& values, const OutKeys& out_keys,
                       const Out& out, const Count& count, ReduceOp op = ReduceOp::sum,
                       const Options& options = {}) {
    static_assert(detail::same_elements<Keys, OutKeys>,
                  "reduce_by_key: keys and out_keys must have the same element type");
    detail::check_compact_types<Values, Out, Count>();
    return detail::reduce_by_key(stream, detail::input_of(keys), detail::input_of(values), out_keys.view(),
                                 out.view(), count.view(), op, options);
}

/// Reduces runs with a user operator; see reduce() with one.
template <InputRange Keys, InputRange Values, OutputRange OutKeys, OutputRange Out, OutputRange Count,
          class F, class... B>
Enqueued reduce_by_key(Stream& stream, const Keys& keys, const Values& values, const OutKeys& out_keys,
                       const Out& out, const Count& count, const Function<F, B...>& op,
                       typename Values::Element identity, const Options& options = {}) {
    using Fn = Function<F, B...>;
    using T = typename Out::Element;
    static_assert(detail::same_elements<Keys, OutKeys>,
                  "reduce_by_key: keys and out_keys must have the same element type");
    static_assert(std::is_same_v<typename Count::Element, u64>, "count must be of u64");
    detail::check_combines<Values, Out, Fn>();
    const auto bound = op.packed();
    const T start = identity;
    detail::check_identity("reduce_by_key", op, start, options.order);
    return detail::reduce_by_key(
        stream,
        {detail::segmented_reduce_problem<Fn>(detail::input_of(values), {}, out.view(), bound, start),
         detail::input_of(keys), out_keys.view(), count.view()},
        options);
}

/// Reduces runs with a built-in operator and returns a Future of their number.
template <InputRange Keys, InputRange Values, OutputRange OutKeys, OutputRange Out>
Future<u64> reduce_by_key(Stream& stream, const Keys& keys, const Values& values, const OutKeys& out_keys,
                          const Out& out, ReduceOp op = ReduceOp::sum, const Options& options = {}) {
    detail::check_delivers(stream, "reduce_by_key");
    const Array<u64> count(stream, 1);
    reduce_by_key(stream, keys, values, out_keys, out, count, op, options);
    return Future<u64>(stream, count);
}

/// Reduces runs with a user operator and returns a Future of their number.
template <InputRange Keys, InputRange Values, OutputRange OutKeys, OutputRange Out, class F, class... B>
Future<u64> reduce_by_key(Stream& stream, const Keys& keys, const Values& values, const OutKeys& out_keys,
                          const Out& out, const Function<F, B...>& op, typename Values::Element identity,
                          const Options& options = {}) {
    detail::check_delivers(stream, "reduce_by_key");
    const Array<u64> count(stream, 1);
    reduce_by_key(stream, keys, values, out_keys, out, count, op, identity, options);
    return Future<u64>(stream, count);
}

/// Returns the keys and the results as new arrays. Blocks until the stream has computed their number. The arrays keep
/// the memory of n elements; clone() returns smaller ones.
template <InputRange Keys, InputRange Values>
[[nodiscard("the results are in new arrays")]] auto reduce_by_key(Stream& stream, const Keys& keys,
                                                                  const Values& values,
                                                                  ReduceOp op = ReduceOp::sum,
                                                                  const Options& options = {}) {
    using K = std::remove_const_t<typename Keys::Element>;
    using T = std::remove_const_t<typename Values::Element>;
    const u64 n = detail::count_in(keys);
    const Array<K> out_keys(stream, n);
    const Array<T> out(stream, n);
    const u64 count = reduce_by_key(stream, keys, values, out_keys, out, op, options).get();
    return std::pair(Array<K>(out_keys.buffer(), count), Array<T>(out.buffer(), count));
}

/// Reduces runs with a user operator and returns new arrays; see the form with a built-in one.
template <InputRange Keys, InputRange Values, class F, class... B>
[[nodiscard("the results are in new arrays")]] auto reduce_by_key(Stream& stream, const Keys& keys,
                                                                  const Values& values,
                                                                  const Function<F, B...>& op,
                                                                  typename Values::Element identity,
                                                                  const Options& options = {}) {
    using K = std::remove_const_t<typename Keys::Element>;
    using T = std::remove_const_t<typename Values::Element>;
    const u64 n = detail::count_in(keys);
    const Array<K> out_keys(stream, n);
    const Array<T> out(stream, n);
    const u64 count = reduce_by_key(stream, keys, values, out_keys, out, op, identity, options).get();
    return std::pair(Array<K>(out_keys.buffer(), count), Array<T>(out.buffer(), count));
}

}  // namespace concord
