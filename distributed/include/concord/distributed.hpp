#pragma once
/// @file
/// Algorithms over ranks. Each rank holds a part of the data on its device, and all ranks make the call.
///
///     run_on_devices({gpu0, gpu1}, [&](Communicator& ranks, Stream& stream) {
///         const Array<float> part = ..., sum(stream, 1);
///         distributed_reduce(ranks, stream, part, sum);   // of both parts, on both ranks
///     });
///
/// Data: the concatenation of the parts in rank order. Parts may have different lengths, and may be empty. Ranks may
/// use devices of different backends.
///
/// Results are bitwise identical to one call on all of the data. Variants without a deterministic order are
/// unsupported where the order affects the result.
///
/// Asynchrony: all calls are collective. They block until the other ranks have made the call, and return when their
/// work is enqueued. They also wait for their own device if messages are not copies between devices; in scans, sorts,
/// u16 histograms and reductions over more than eight ranks; and occasionally to limit scratch memory.
///
/// Errors: those of the algorithm, on the rank where they occur and then on all ranks (concord/communicator.hpp).
/// invalid_argument on all ranks if they disagree about types, operators and their bound values, kinds of scan, bins,
/// or the rules of a sort. Options may differ between ranks, whose devices may support different variants.

#include <concord/communicator.hpp>
#include <concord/distributed_stencil.hpp>
#include <concord/histogram.hpp>
#include <concord/reduce.hpp>
#include <concord/scan.hpp>
#include <concord/sort.hpp>

namespace concord {

// --- Collectives ----------------------------------------------------------------------------------------------------

/// Combines arrays of one length elementwise: data[i] becomes data[i] of rank 0 op data[i] of rank 1 op ... on all
/// ranks. The operations are in rank order, so floats are bitwise identical on all ranks and for the same number of
/// ranks. Traffic: every rank sends and receives at most twice the bytes of data; if all data together have at most
/// 256 KiB, every rank sends its data once to every other rank. Throws invalid_argument if types, lengths or
/// operators differ between ranks.
void all_reduce(Communicator& ranks, Stream& stream, const View& data, ReduceOp op = ReduceOp::sum);
/// Copies data of the root to data of all other ranks. Types and lengths must agree.
void broadcast(Communicator& ranks, Stream& stream, const View& data, u32 root = 0);
/// Concatenates `mine` of all ranks in rank order to `all` of the root, which must have exactly that length. The
/// other ranks' `all` is ignored. Lengths may differ; types must agree.
void gather(Communicator& ranks, Stream& stream, const View& mine, const View& all, u32 root = 0);
/// Concatenates `mine` of all ranks in rank order to `all` of every rank.
void all_gather(Communicator& ranks, Stream& stream, const View& mine, const View& all);

namespace detail {

// Collective. Returns the numbers of all ranks. Throws invalid_argument on all ranks if `what` differs between ranks.
std::vector<std::vector<u64>> agree(Communicator& ranks, const char* call, const std::string& what,
                                    std::span<const u64> mine);
// "f32 by f (1f00...)": what ranks must have in common in an operator, including the hash of its source and its bound
// values.
std::string described(Type type, const Operator& op, const ValueBytes& values, const ValueBytes& identity);
// all_reduce() after the check that ranks agree. `may_gather`: whether all ranks may use SmallGather.
void combine_all(Communicator& ranks, Stream& stream, const View& data, ReduceOp op, bool may_gather);

// Whether results depend on the order of operations.
enum class OrderDependence { none, rounds };

Enqueued distributed_reduce(Communicator& ranks, Stream& stream, const ReduceProblem& call,
                            OrderDependence dependence, const Options& options);

// total: enqueues the reduction of a part to one element; null if results depend on the order of operations.
Enqueued distributed_scan(Communicator& ranks, Stream& stream, const ScanProblem& call,
                          const std::function<void(const View& in, const View& out)>& total,
                          const Options& options);

using DistributedHistogramCall = std::function<Enqueued(const View& in, const View& counters)>;
Enqueued distributed_histogram(Communicator& ranks, Stream& stream, const View& in, const View& counters,
                               const std::string& bins, const DistributedHistogramCall& call);

}  // namespace detail

/// Reduces all parts to out[0], on all ranks. Bitwise identical to reduce() in its canonical order on all of the
/// data. Traffic: that of reduce(). For floats and user operators, elements of a chunk (canonical_chunk()) that
/// begins on another rank are sent there: less than one chunk per rank. Variants: those of reduce(); floats and user
/// operators only those of canonical order.
Enqueued distributed_reduce(Communicator& ranks, Stream& stream, const View& in, const View& out,
                            ReduceOp op = ReduceOp::sum, const Options& options = {});

/// Scans all parts. out has as many elements as in and is this rank's part of the result, bitwise identical to scan()
/// in its canonical order on all of the data. Supports in-place operation. Traffic: integers are read twice and
/// written once; others as in scan(), plus one read for the totals of the tiles, which are gathered on all hosts. For
/// floats and user operators, elements of a tile of 65536 (4096 if all devices are GPUs) that begins on another rank
/// are sent there, and their results come back. Variants: those of canonical order.
Enqueued distributed_scan(Communicator& ranks, Stream& stream, const View& in, const View& out,
                          ReduceOp op = ReduceOp::sum, ScanKind kind = ScanKind::inclusive,
                          const Options& options = {});

/// Counts the samples of all parts in counters, on all ranks, by the rules of histogram(): u16 saturates at 65535,
/// u32 wraps. Traffic: that of histogram() on the part and of all_reduce() on the counters. u16 counters are combined
/// as u64, in scratch.
Enqueued distributed_histogram(Communicator& ranks, Stream& stream, const View& in, const View& counters,
                               const HistogramBins& bins, const Options& options = {});

/// Sorts the keys of all parts. out is this rank's part of the result. The lengths of all outs determine the
/// distribution and must add up to the number of keys; part_of(n, ranks) balances it for any keys. Supports in-place
/// operation.
///
/// Each rank sorts its part. The ranks then determine the keys at the borders of the result parts, a few bits at a
/// time, and for equal keys how many of each rank belong before the border, so that the parts have exactly the
/// requested lengths. Each rank sends the other ranks their keys, every key at most once. GPUs merge what they receive
/// if all bits of the keys count; if all ranks are GPUs, in chunks, while the next chunk arrives. Otherwise ranks sort
/// it. Traffic: that of a sort, and one read and write per element for each doubling of the ranks, or that of two
/// sorts. Scratch: that of sort(), plus twice the keys (and values), and a chunk for each doubling of the ranks.
/// Sources: E. Solomonik, L. Kale, Highly scalable parallel sorting, 2010 (splitters by histogramming; here they are
/// exact); S. Odeh et al., Merge Path - Parallel Merging Made Simple, 2012.
Enqueued distributed_sort(Communicator& ranks, Stream& stream, const View& in, const View& out,
                          const SortBy& by = {}, const Options& options = {});
/// Sorts keys and moves the values with their keys. Keys and values of a rank have the same length. Equal keys are in
/// rank order, and within a rank in input order if the variant is stable (SortBy::stable requires that). The result
/// is then bitwise identical to one stable sort.
Enqueued distributed_sort_pairs(Communicator& ranks, Stream& stream, const View& keys_in,
                                const View& values_in, const View& keys_out, const View& values_out,
                                const SortBy& by = {}, const Options& options = {});

// --- Spans and arrays -----------------------------------------------------------------------------------------------

/// Reduces spans or arrays over ranks.
template <Range In, OutputRange Out>
Enqueued distributed_reduce(Communicator& ranks, Stream& stream, const In& in, const Out& out,
                            ReduceOp op = ReduceOp::sum, const Options& options = {}) {
    static_assert(detail::same_elements<In, Out>,
                  "distributed_reduce: in and out must have the same element type");
    return distributed_reduce(ranks, stream, View(in.view()), View(out.view()), op, options);
}
/// Scans spans or arrays over ranks.
template <Range In, OutputRange Out>
Enqueued distributed_scan(Communicator& ranks, Stream& stream, const In& in, const Out& out,
                          ReduceOp op = ReduceOp::sum, ScanKind kind = ScanKind::inclusive,
                          const Options& options = {}) {
    static_assert(detail::same_elements<In, Out>,
                  "distributed_scan: in and out must have the same element type");
    return distributed_scan(ranks, stream, View(in.view()), View(out.view()), op, kind, options);
}
/// Counts the samples of spans or arrays over ranks.
template <Range In, OutputRange Out>
Enqueued distributed_histogram(Communicator& ranks, Stream& stream, const In& in, const Out& counters,
                               const HistogramBins& bins, const Options& options = {}) {
    detail::check_counters<Out>();
    return distributed_histogram(ranks, stream, View(in.view()), View(counters.view()), bins, options);
}
/// Sorts spans or arrays over ranks.
template <Range In, OutputRange Out>
Enqueued distributed_sort(Communicator& ranks, Stream& stream, const In& in, const Out& out,
                          const SortBy& by = {}, const Options& options = {}) {
    static_assert(detail::same_elements<In, Out>,
                  "distributed_sort: in and out must have the same element type");
    return distributed_sort(ranks, stream, View(in.view()), View(out.view()), by, options);
}

// --- User operators ------------------------------------------------------------------------------------------------

/// Reduces over ranks with a user operator made by CONCORD_FUNCTION.
template <Range In, OutputRange Out, class F, class... B>
Enqueued distributed_reduce(Communicator& ranks, Stream& stream, const In& in, const Out& out,
                            const Function<F, B...>& op, typename In::Element identity,
                            const Options& options = {}) {
    using Fn = Function<F, B...>;
    using T = typename Out::Element;
    detail::check_combines<In, Out, Fn>();
    const auto values = op.packed();
    const T start = identity;
    detail::check_identity("distributed_reduce", op, start, options.order);
    return detail::distributed_reduce(ranks, stream,
                                      detail::reduce_problem<Fn>(in.view(), out.view(), values, start),
                                      detail::OrderDependence::rounds, options);
}

/// Scans over ranks with a user operator made by CONCORD_FUNCTION.
template <Range In, OutputRange Out, class F, class... B>
Enqueued distributed_scan(Communicator& ranks, Stream& stream, const In& in, const Out& out,
                          const Function<F, B...>& op, typename In::Element identity,
                          ScanKind kind = ScanKind::inclusive, const Options& options = {}) {
    using Fn = Function<F, B...>;
    using T = typename Out::Element;
    detail::check_combines<In, Out, Fn>();
    const auto values = op.packed();
    const T start = identity;
    detail::check_identity("distributed_scan", op, start, options.order);
    return detail::distributed_scan(ranks, stream,
                                    detail::scan_problem<Fn>(in.view(), out.view(), values, start, kind),
                                    nullptr, options);
}

/// Counts over ranks; `bin` is a user function from a sample to its bin, made by CONCORD_FUNCTION.
template <Range In, OutputRange Out, class F, class... B>
Enqueued distributed_histogram(Communicator& ranks, Stream& stream, const In& in, const Out& counters,
                               const Function<F, B...>& bin, const Options& options = {}) {
    detail::check_counters<Out>();
    using T = std::remove_const_t<typename In::Element>;
    const auto values = bin.packed();
    return detail::distributed_histogram(
        ranks, stream, in.view(), counters.view(),
        detail::described(type_of<T>(), bin.erased(), {values}, {}), [&](const View& from, const View& to) {
            return to.type == Type::u32 ? histogram(stream, Span<const T>(from), Span<u32>(to), bin, options)
                                        : histogram(stream, Span<const T>(from), Span<u64>(to), bin, options);
        });
}

}  // namespace concord
