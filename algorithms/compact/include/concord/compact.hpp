#pragma once
/// @file
/// Compact: moves the elements that satisfy a predicate to the front, in order and without gaps. Partition: moves
/// the others behind them.
///
///     compact     out[0 ... count) = the kept elements of in, in order; count = how many
///     partition   the same, and out[count ... n) = the other elements, in input order
///
/// Shapes: in has any length n and may begin at any element. out has the same type and room for n elements. count
/// is one u64 on the device. compact leaves elements of out past the kept ones unchanged. Elements move as bits.
///
/// Inputs: a range or an expression (expression.hpp). All variants except `scan_scatter` compute expressions in their
/// kernels. `fused` computes them twice. On CPUs partition and `fused` evaluate them first.
///
/// bool: rules without an operand, and flags. Any byte but 0 is true, and kept elements are 0 or 1. Not in place.
///
/// Stability: every variant keeps the input order, so results are bitwise identical on every device.
///
/// Memory traffic: two reads of the input and one write of the result (`fused`), or one read and one write
/// (`lookback`, `two_pass`).
///
/// In place: out may be exactly in for compact in the variants `serial`, `two_pass` and `lookback`. The call is
/// unsupported if the device has none of them. partition does not support it. Any other overlap is an error, as is
/// a count that overlaps in or out. out may not overlap flags, or a range of an expression.
///
/// Predicates: built-in rules (Keep), or a function made with CONCORD_FUNCTION of one element with its further
/// parameters bound. It returns any integer type; nonzero keeps the element. The call may evaluate a predicate more
/// than once per element. Instead of a predicate, a call may take a flag for each element: a range or an expression of
/// bool or u8. Elements whose flag is not 0 are kept.
///
/// Scratch memory, from the device's pool: at most 32 KiB; `lookback` a thousandth of the input; `scan_scatter` 8
/// bytes per element.
///
/// Asynchronous: the calls with a count range enqueue their work on the stream and return. The overloads that
/// return a Future deliver the count when the stream has reached it. compact() into a new array blocks. Neither can be
/// recorded (unsupported), nor run on a compile-only device (unavailable).
///
/// Errors: invalid_argument (counts, types, overlap, a rule that does not support the elements' type),
/// wrong_device, unsupported, compile_failed, out_of_memory.
///
/// Sources: D. Merrill, A. Grimshaw, Parallel Scan for Stream Architectures, 2009; D. Merrill, M. Garland,
/// Single-pass Parallel Prefix Scan with Decoupled Look-back, 2016; G. Blelloch, Prefix Sums and Their
/// Applications, 1990.

#include <concord/algorithm.hpp>
#include <concord/compact_keep.hpp>
#include <concord/detail/compact_host.hpp>
#include <concord/expression.hpp>
#include <concord/operators.hpp>
#include <concord/reduce.hpp>

#include <utility>

namespace concord {

namespace detail {

// The predicate Op for elements T as a host kernel that flags a block of elements.
template <class T, class Op>
inline constexpr HostKernel compact_keep = host_kernel<&detail::host::compact_keep<T, Op>>();

// What happens to elements that do not satisfy the predicate: compact() drops them, partition() stores them behind
// the others.
enum class Others : u8 { dropped, behind };

// A call with its types erased.
struct CompactProblem {
    View in, out, count;
    const Operator& op;
    ValueBytes values;       // the predicate's bound values
    const HostKernel* host;  // compact_keep of the predicate; null if it exists as source only
    bool partition = false;
    ExpressionPointer expression = {};  // what is read in place of a range; often null
    bool selects = false;               // the expression has flags, which replace the predicate
    View live = {};  // one u64: the number of elements that are used, at most all; often without a buffer

    Type type() const { return in.type; }
    bool in_place() const { return !expression && overlap(in, out); }
    Input input() const { return expression ? Input(expression) : Input(in); }
    // The same on a range.
    CompactProblem on(const View& from) const {
        CompactProblem problem = *this;
        problem.in = from;
        problem.expression = nullptr;
        return problem;
    }
};

Enqueued compact(Stream& stream, const CompactProblem& problem, const Options& options);

// By a built-in predicate, or by flags. live: see CompactProblem.
Enqueued compact(Stream& stream, const Input& in, const View& out, const View& count, const Keep& keep,
                 Others others, const Options& options, const View& live = {});
Enqueued compact(Stream& stream, const Input& in, const Input& flags, const View& out, const View& count,
                 Others others, const Options& options, const View& live = {});

// 1 for each element that a built-in predicate keeps, otherwise 0, as u64. Throws invalid_argument.
ExpressionPointer kept_node(const Input& in, const Keep& keep);

// The predicates of the forms that return results.
template <class P>
concept CompactPredicate = !InputRange<P> && !std::is_same_v<P, Options>;
template <class S>
concept CompactFlags = InputRange<S> &&
    (std::is_same_v<ElementOf<S>, bool> || std::is_same_v<ElementOf<S>, u8>);

template <class In, class Out, class Count>
constexpr void check_compact_types() {
    static_assert(same_elements<In, Out>, "in and out must have the same element type");
    static_assert(std::is_same_v<typename Count::Element, u64>, "count must be of u64");
}

// By a user predicate.
template <class In, OutputRange Out, OutputRange Count, class F, class... B>
Enqueued compact_by(Stream& stream, const Input& in, const Out& out, const Count& count,
                    const Function<F, B...>& keep, Others others, const Options& options,
                    const View& live = {}) {
    using Fn = Function<F, B...>;
    using T = typename Out::Element;
    check_compact_types<In, Out, Count>();
    static_assert(Fn::free_count == 1, "the predicate must have one unbound parameter; bind the others");
    static_assert(std::is_integral_v<typename Fn::Result>, "the predicate must return an integer");
    static_assert(std::is_same_v<typename Fn::template Argument<0>, T> &&
                      std::is_same_v<std::remove_const_t<typename In::Element>, T>,
                  "in, out and the predicate's parameter must have the same type");
    const auto values = keep.packed();
    return compact(stream,
                   {.in = in.view,
                    .out = out.view(),
                    .count = count.view(),
                    .op = Fn::erased(),
                    .values = {values},
                    .host = &compact_keep<T, typename Fn::Host>,
                    .partition = others == Others::behind,
                    .expression = in.node,
                    .live = live},
                   options);
}

}  // namespace detail

/// Descriptor of compact and partition: variants and tunables.
extern const Algorithm compact_algorithm;

/// Compacts by a built-in predicate. in, out and the predicate's operand have the same type.
Enqueued compact(Stream& stream, const View& in, const View& out, const View& count, const Keep& keep,
                 const Options& options = {});
/// Partitions by a built-in predicate. in, out and the predicate's operand have the same type.
Enqueued partition(Stream& stream, const View& in, const View& out, const View& count, const Keep& keep,
                   const Options& options = {});

/// Compacts spans, arrays or expressions by a built-in predicate.
template <InputRange In, OutputRange Out, OutputRange Count>
Enqueued compact(Stream& stream, const In& in, const Out& out, const Count& count, const Keep& keep,
                 const Options& options = {}) {
    detail::check_compact_types<In, Out, Count>();
    return detail::compact(stream, detail::input_of(in), out.view(), count.view(), keep,
                           detail::Others::dropped, options);
}
/// Partitions spans, arrays or expressions by a built-in predicate.
template <InputRange In, OutputRange Out, OutputRange Count>
Enqueued partition(Stream& stream, const In& in, const Out& out, const Count& count, const Keep& keep,
                   const Options& options = {}) {
    detail::check_compact_types<In, Out, Count>();
    return detail::compact(stream, detail::input_of(in), out.view(), count.view(), keep,
                           detail::Others::behind, options);
}

/// Compacts by a predicate I(T) made with CONCORD_FUNCTION, where I is any integer type, with its further
/// parameters bound.
template <InputRange In, OutputRange Out, OutputRange Count, class F, class... B>
Enqueued compact(Stream& stream, const In& in, const Out& out, const Count& count,
                 const Function<F, B...>& keep, const Options& options = {}) {
    return detail::compact_by<In>(stream, detail::input_of(in), out, count, keep, detail::Others::dropped,
                                  options);
}
/// Partitions by a predicate I(T) made with CONCORD_FUNCTION, where I is any integer type, with its further
/// parameters bound.
template <InputRange In, OutputRange Out, OutputRange Count, class F, class... B>
Enqueued partition(Stream& stream, const In& in, const Out& out, const Count& count,
                   const Function<F, B...>& keep, const Options& options = {}) {
    return detail::compact_by<In>(stream, detail::input_of(in), out, count, keep, detail::Others::behind,
                                  options);
}

/// Compacts the elements whose flag is not 0. in and flags have the same size. flags have type bool or u8.
template <InputRange In, detail::CompactFlags Flags, OutputRange Out, OutputRange Count>
Enqueued compact(Stream& stream, const In& in, const Flags& flags, const Out& out, const Count& count,
                 const Options& options = {}) {
    detail::check_compact_types<In, Out, Count>();
    return detail::compact(stream, detail::input_of(in), detail::input_of(flags), out.view(), count.view(),
                           detail::Others::dropped, options);
}
/// Partitions by flags: elements whose flag is not 0 come first. in and flags have the same size. flags have type bool
/// or u8.
template <InputRange In, detail::CompactFlags Flags, OutputRange Out, OutputRange Count>
Enqueued partition(Stream& stream, const In& in, const Flags& flags, const Out& out, const Count& count,
                   const Options& options = {}) {
    detail::check_compact_types<In, Out, Count>();
    return detail::compact(stream, detail::input_of(in), detail::input_of(flags), out.view(), count.view(),
                           detail::Others::behind, options);
}

/// Compacts and returns a Future of the count. keep is built in, or made with CONCORD_FUNCTION.
template <InputRange In, OutputRange Out, detail::CompactPredicate Predicate>
Future<u64> compact(Stream& stream, const In& in, const Out& out, const Predicate& keep,
                    const Options& options = {}) {
    detail::check_delivers(stream, "compact");
    const Array<u64> count(stream, 1);
    compact(stream, in, out, count, keep, options);
    return Future<u64>(stream, count);
}
/// Partitions and returns a Future of the count. keep is built in, or made with CONCORD_FUNCTION.
template <InputRange In, OutputRange Out, detail::CompactPredicate Predicate>
Future<u64> partition(Stream& stream, const In& in, const Out& out, const Predicate& keep,
                      const Options& options = {}) {
    detail::check_delivers(stream, "partition");
    const Array<u64> count(stream, 1);
    partition(stream, in, out, count, keep, options);
    return Future<u64>(stream, count);
}

/// Compacts by flags of bool or u8 and returns a Future of the count.
template <InputRange In, detail::CompactFlags Flags, OutputRange Out>
Future<u64> compact(Stream& stream, const In& in, const Flags& flags, const Out& out,
                    const Options& options = {}) {
    detail::check_delivers(stream, "compact");
    const Array<u64> count(stream, 1);
    compact(stream, in, flags, out, count, options);
    return Future<u64>(stream, count);
}
/// Partitions by flags of bool or u8 and returns a Future of the count.
template <InputRange In, detail::CompactFlags Flags, OutputRange Out>
Future<u64> partition(Stream& stream, const In& in, const Flags& flags, const Out& out,
                      const Options& options = {}) {
    detail::check_delivers(stream, "partition");
    const Array<u64> count(stream, 1);
    partition(stream, in, flags, out, count, options);
    return Future<u64>(stream, count);
}

/// Compacts and returns the kept elements as a new array. keep is built in, or made with CONCORD_FUNCTION. Blocks until
/// the stream has computed their number. The array keeps the memory of n elements; clone() returns a smaller one.
template <InputRange In, detail::CompactPredicate Predicate>
[[nodiscard("the results are in a new array")]] auto compact(Stream& stream, const In& in,
                                                             const Predicate& keep,
                                                             const Options& options = {}) {
    using T = std::remove_const_t<typename In::Element>;
    const Array<T> out(stream, detail::count_in(in));
    const u64 count = compact(stream, in, out, keep, options).get();
    return Array<T>(out.buffer(), count);
}
/// Compacts by flags of bool or u8 and returns the kept elements as a new array; see the form with a predicate.
template <InputRange In, detail::CompactFlags Flags>
[[nodiscard("the results are in a new array")]] auto compact(Stream& stream, const In& in, const Flags& flags,
                                                             const Options& options = {}) {
    using T = std::remove_const_t<typename In::Element>;
    const Array<T> out(stream, detail::count_in(in));
    const u64 count = compact(stream, in, flags, out, options).get();
    return Array<T>(out.buffer(), count);
}
/// Partitions and returns the elements as a new array, with a Future of the number of kept ones, which come first. keep
/// is built in, or made with CONCORD_FUNCTION.
template <InputRange In, detail::CompactPredicate Predicate>
[[nodiscard("the results are in a new array")]] auto partition(Stream& stream, const In& in,
                                                               const Predicate& keep,
                                                               const Options& options = {}) {
    using T = std::remove_const_t<typename In::Element>;
    Array<T> out(stream, detail::count_in(in));
    Future<u64> count = partition(stream, in, out, keep, options);
    return std::pair(std::move(out), std::move(count));
}

/// Partitions by flags of bool or u8 and returns the elements as a new array, with a Future of the number of kept ones,
/// which come first.
template <InputRange In, detail::CompactFlags Flags>
[[nodiscard("the results are in a new array")]] auto partition(Stream& stream, const In& in,
                                                               const Flags& flags,
                                                               const Options& options = {}) {
    using T = std::remove_const_t<typename In::Element>;
    Array<T> out(stream, detail::count_in(in));
    Future<u64> count = partition(stream, in, flags, out, options);
    return std::pair(std::move(out), std::move(count));
}

/// Returns the number of elements that satisfy a predicate as a Future. keep is built in, or made with
/// CONCORD_FUNCTION. Reads every element once, and stores nothing, like reduce(). With a variant of compact(): traffic
/// and scratch are those of compact(), with scratch for at most 2^24 elements.
template <InputRange In, detail::CompactPredicate Predicate>
[[nodiscard]] Future<u64> count_if(Stream& stream, const In& in, const Predicate& keep,
                                   const Options& options = {}) {
    using T = std::remove_const_t<typename In::Element>;
    detail::check_delivers(stream, "count_if");
    if (options.variant == "auto") {
        detail::ExpressionPointer kept;
        if constexpr (std::is_convertible_v<Predicate, Keep>) {
            kept = detail::kept_node(detail::input_of(in), keep);
        } else {
            kept = detail::flag_node(transform(keep, in).node());
        }
        return reduce(stream, Expression<u64>(std::move(kept)), ReduceOp::sum, {.order = options.order});
    }
    constexpr u64 most = u64{1} << 24;
    const detail::InputInMemory from(stream, "count_if", detail::input_of(in), View{.type = type_of<u64>()},
                                     options);
    const Span<const T> all(from.view());
    const u64 n = all.size(), parts = detail::max_of(u64{1}, detail::divide_up(n, most));
    const Array<T> kept(stream, detail::min_of(n, most));
    const Array<u64> counts(stream, parts);
    for (u64 part = 0; part < parts; ++part) {
        const u64 first = part * most, length = detail::min_of(most, n - first);
        compact(stream, all.part(first, length), kept.span().part(0, length), counts.span().part(part, 1),
                keep, options);
    }
    if (parts == 1) return Future<u64>(stream, counts);
    return sum(stream, counts);
}

}  // namespace concord
