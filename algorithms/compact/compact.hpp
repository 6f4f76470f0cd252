#pragma once
/// Compact: the elements for which a predicate holds, in order, without gaps. Partition: those first, the others
/// behind them.
///
///     compact     out[0 ... count) = the kept elements of in, in their order;        count = how many
///     partition   the same, and out[count ... n) = the others, in their order too
///
/// Shapes: in of any length n, at any element offset; out, of the same type, has room for n elements; count is one
/// u64 on the device. What lies in out past its kept elements stays as it is. Elements are moved as bits, whatever they
/// mean. Traffic: the input twice and what is stored once (`fused`), or either once (`lookback`, `two_pass`).
///
/// In place: out may be exactly in for compact (never for partition) in the variants `serial`, `two_pass` and
/// `lookback`, which read every element before any other takes its place; the other variants are unsupported then, and
/// so is the call where the device has none of the three. Any other overlap, and a count within in or out, is refused.
///
/// Predicates: built in (Keep), or a function made with CONCORD_FUNCTION of one element, the rest bound, whose result
/// is of any integer type: nonzero keeps. A predicate may be called more than once for an element.
///
/// Enqueues on the stream and returns; takes its scratch (32 KiB at most; `lookback` a thousandth of the input,
/// `scan_scatter` 8 bytes an element) from the device's pool. Errors: invalid_argument (counts, types, overlap,
/// a predicate that does not fit the elements), wrong_device, unsupported, compile_failed, out_of_memory.
///
/// Sources: D. Merrill, A. Grimshaw, Parallel Scan for Stream Architectures, 2009; D. Merrill, M. Garland, Single-pass
/// Parallel Prefix Scan with Decoupled Look-back, 2016; G. Blelloch, Prefix Sums and Their Applications, 1990.

#include <concord/algorithm.hpp>
#include <concord/compact_keep.hpp>
#include <concord/detail/compact_host.hpp>
#include <concord/operators.hpp>

namespace concord {

namespace detail {

/// The host kernels of one predicate on one type. A null one is not compiled.
struct CompactHost {
    HostKernel serial = {}, two_pass = {}, count = {}, offsets = {}, write = {};
    HostKernel flags = {}, scatter = {};  ///< the textbook's
    HostKernel lookback = {};             ///< not implemented for the host
};

/// All of them; defined in concord/compact_textbook.hpp.
template <class T, class Op>
struct CompactTextbook;

/// Those of a call: the textbook's only on request.
template <class T, class Op>
const CompactHost& compact_host() {
    using O = HostOperator<Op>;
    if constexpr (O::textbook) {
        return CompactTextbook<T, typename O::Type>::kernels;
    } else {
        static constexpr CompactHost kernels{
            .serial = host_kernel<&detail::host::compact_serial<T, Op>>(),
            .two_pass = host_kernel<&detail::host::compact_two_pass<T, Op>>(),
            .count = host_kernel<&detail::host::compact_count<T, Op>>(),
            .offsets = host_kernel<&detail::host::compact_offsets>(),
            .write = host_kernel<&detail::host::compact_write<T, Op>>()};
        return kernels;
    }
}

/// The elements for which the predicate does not hold: compact() drops them, partition() stores them behind the others.
enum class Others : u8 { dropped, behind };

/// A call with its types erased.
struct CompactProblem {
    View in, out, count;
    const Operator& op;
    ValueBytes values;        ///< the predicate's bound values
    const CompactHost* host;  ///< null: text only
    bool partition = false;

    Type type() const { return in.type; }
    bool in_place() const { return overlap(in, out); }
};

Enqueued compact(Stream& stream, const CompactProblem& problem, const Options& options);

/// For a built-in predicate.
Enqueued compact(Stream& stream, const View& in, const View& out, const View& count, const Keep& keep,
                 Others others, const Options& options);

/// For a function of the user's.
template <Range In, Range Out, Range Count, class F, class... B>
Enqueued compact(Stream& stream, const In& in, const Out& out, const Count& count,
                 const Function<F, B...>& keep, Others others, const Options& options) {
    using Fn = Function<F, B...>;
    using T = typename Out::Element;
    static_assert(Fn::free_count == 1, "the predicate takes another number of elements: bind the rest");
    static_assert(std::is_integral_v<typename Fn::Result>, "the predicate's result is no integer");
    static_assert(std::is_same_v<typename Fn::template Argument<0>, T> &&
                      std::is_same_v<std::remove_const_t<typename In::Element>, T>,
                  "in, out and the predicate have different types");
    const auto values = keep.packed();
    return compact(stream,
                   {in.view(),
                    out.view(),
                    count.view(),
                    Fn::erased(),
                    {values},
                    &compact_host<T, typename Fn::Host>(),
                    others == Others::behind},
                   options);
}

}  // namespace detail

extern const Algorithm compact_algorithm;

/// A built-in predicate; in and out of one type, which is that of the predicate's operand as well.
Enqueued compact(Stream& stream, const View& in, const View& out, const View& count, const Keep& keep,
                 const Options& options = {});
Enqueued partition(Stream& stream, const View& in, const View& out, const View& count, const Keep& keep,
                   const Options& options = {});

/// A built-in predicate on spans or arrays.
template <Range In, Range Out, Range Count>
Enqueued compact(Stream& stream, const In& in, const Out& out, const Count& count, const Keep& keep,
                 const Options& options = {}) {
    return compact(stream, View(in.view()), View(out.view()), View(count.view()), keep, options);
}
template <Range In, Range Out, Range Count>
Enqueued partition(Stream& stream, const In& in, const Out& out, const Count& count, const Keep& keep,
                   const Options& options = {}) {
    return partition(stream, View(in.view()), View(out.view()), View(count.view()), keep, options);
}

/// A predicate made with CONCORD_FUNCTION: I(T) for any integer type I, once its trailing parameters are bound.
template <Range In, Range Out, Range Count, class F, class... B>
Enqueued compact(Stream& stream, const In& in, const Out& out, const Count& count,
                 const Function<F, B...>& keep, const Options& options = {}) {
    return detail::compact(stream, in, out, count, keep, detail::Others::dropped, options);
}
template <Range In, Range Out, Range Count, class F, class... B>
Enqueued partition(Stream& stream, const In& in, const Out& out, const Count& count,
                   const Function<F, B...>& keep, const Options& options = {}) {
    return detail::compact(stream, in, out, count, keep, detail::Others::behind, options);
}

/// compact() and partition() that hand out the count when the stream has got there. The predicate is built in, or made
/// with CONCORD_FUNCTION.
template <Range In, Range Out, class Predicate>
requires(!Range<Predicate>) Future<u64> compact(Stream& stream, const In& in, const Out& out,
                                                const Predicate& keep, const Options& options = {}) {
    const Array<u64> count(stream, 1);
    compact(stream, in, out, count, keep, options);
    return Future<u64>(stream, count);
}
template <Range In, Range Out, class Predicate>
requires(!Range<Predicate>) Future<u64> partition(Stream& stream, const In& in, const Out& out,
                                                  const Predicate& keep, const Options& options = {}) {
    const Array<u64> count(stream, 1);
    partition(stream, in, out, count, keep, options);
    return Future<u64>(stream, count);
}

}  // namespace concord
