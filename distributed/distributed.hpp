#pragma once
/// Algorithms over ranks: each has a part of the data on its device, and all of them call.
///
///     concord::run_on_devices({gpu0, gpu1}, [&](concord::Communicator& ranks, concord::Stream& stream) {
///         const concord::Array<float> part = ..., sum(stream, 1);
///         concord::distributed_reduce(ranks, stream, part, sum);   // on both, the sum of all
///     });
///
/// The parts, in the order of the ranks, are the data; their lengths may differ and be 0, and ranks may sit on devices of
/// different backends. Results are those of one call on all of the data: to the bit, but where the variant asked for keeps no
/// fixed order, which is therefore unsupported where it would show. All calls are collective; they return when their work is
/// enqueued, and wait for the ranks before. For their own device they wait where messages are no copies between devices; a
/// scan, a sort, a histogram of u16 and a reduce over more than eight ranks always do, and any call now and then.
///
/// Errors: what the algorithm throws, on the rank concerned, and then on all (concord/communicator.hpp); invalid_argument, on
/// all ranks alike, where they differ in types, operators and their values, kinds of scan, bins, or the rules of a sort.
/// Options are each rank's own, whose device may have other variants.

#include <concord/communicator.hpp>
#include <concord/distributed_stencil.hpp>
#include <concord/histogram.hpp>
#include <concord/reduce.hpp>
#include <concord/scan.hpp>
#include <concord/sort.hpp>

namespace concord {

// What ranks have, put together. Views have one type on all ranks.

/// data[i] becomes data[i] of rank 0 op that of rank 1 op ... on all ranks; one length on all of them. The order of the ranks
/// is the order of the operations, so that floats have the same bits on all, and for the same number of ranks. Traffic: each
/// rank sends and receives twice data's bytes at most; where data are short (256 KiB of all ranks), once to and from every other rank.
void all_reduce(Communicator& ranks, Stream& stream, const View& data, ReduceOp op = ReduceOp::sum);
/// data of the root to all others.
void broadcast(Communicator& ranks, Stream& stream, const View& data, u32 root = 0);
/// Everybody's elements, in the order of the ranks, to `all` of the root, which has room for exactly them; `all` of others is
/// not looked at. Lengths may differ.
void gather(Communicator& ranks, Stream& stream, const View& mine, const View& all, u32 root = 0);
/// The same to all ranks.
void all_gather(Communicator& ranks, Stream& stream, const View& mine, const View& all);

namespace detail {

/// Collective: everybody's numbers. Throws invalid_argument, on all ranks alike, where ranks differ in `what`.
std::vector<std::vector<u64>> agree(Communicator& ranks, const char* call, const std::string& what,
                                    std::span<const u64> mine);
/// "f32 by f (1f00...)": what ranks must have in common of an operator, its text's hash and its values included.
std::string described(Type type, const Operator& op, const ValueBytes& values, const ValueBytes& identity);
/// all_reduce() of ranks that are known to agree.
void combine_all(Communicator& ranks, Stream& stream, const View& data, ReduceOp op);

using DistributedReduceCall = std::function<ReduceProblem(const View& in, const View& out)>;
/// is_exact: results do not depend on the order.
Enqueued distributed_reduce(Communicator& ranks, Stream& stream, const View& in, const View& out,
                            const DistributedReduceCall& call, bool is_exact, const Options& options);

using DistributedScanCall = std::function<ScanProblem(const View& in, const View& out)>;
/// total: enqueues what makes one element of all of a part, where the order does not matter; null: it does.
Enqueued distributed_scan(Communicator& ranks, Stream& stream, const View& in, const View& out,
                          const DistributedScanCall& call, const ScanBefore& before,
                          const std::function<void(const View& in, const View& out)>& total,
                          const Options& options);

using DistributedHistogramCall = std::function<Enqueued(const View& in, const View& counters)>;
Enqueued distributed_histogram(Communicator& ranks, Stream& stream, const View& in, const View& counters,
                               const std::string& bins, const DistributedHistogramCall& call);

}  // namespace detail

/// out[0], on all ranks, is all elements of all parts combined, with the bits that reduce() gives in its canonical order.
/// Floats, and elements for a user's operator, that are of a chunk that begins on another rank (canonical_chunk) go there:
/// fewer than a chunk a rank. Variants: as reduce(), but floats and user's operators take `fixed` only.
Enqueued distributed_reduce(Communicator& ranks, Stream& stream, const View& in, const View& out,
                            ReduceOp op = ReduceOp::sum, const Options& options = {});

/// out, of as many elements as in, is this rank's part of the scan of all parts, with the bits that scan() gives in its
/// canonical order; out may be in. Floats, and elements for a user's operator, that are of a tile of 65536 (4096 among GPUs)
/// that begins on another rank go there and come back as results. Traffic: integers are read twice and written once; others as
/// in scan(), and read once more for the totals of the tiles, which come to all hosts. Variants: those of canonical order.
Enqueued distributed_scan(Communicator& ranks, Stream& stream, const View& in, const View& out,
                          ReduceOp op = ReduceOp::sum, ScanKind kind = ScanKind::inclusive,
                          const Options& options = {});

/// counters, on all ranks, are the counts over all parts, by the rules of histogram(): u16 stops at 65535, u32 wraps. Traffic:
/// as histogram(), and the counters as in all_reduce(), as u64 where they are u16, which takes scratch of that size.
Enqueued distributed_histogram(Communicator& ranks, Stream& stream, const View& in, const View& counters,
                               const HistogramBins& bins, const Options& options = {});

/// out is this rank's part of all keys in order: the lengths of out, which all together are those of in, say how the result
/// is spread; part_of(n, ranks) balances it whatever the keys. out may be in.
///
/// Each rank sorts its part; all of them find, a few bits of the key at a time, the keys at which the result is cut, and of
/// equal keys how many of each rank lie before the cut, so that the parts are exactly as long as asked for; each sends every
/// other one what is its own, and sorts again what it receives. Traffic: that of two sorts, and every key is sent at most
/// once. Scratch: that of sort(), and twice the keys (and values). Source: E. Solomonik, L. Kale, Highly scalable parallel
/// sorting, 2010 (splitters by histogramming); here they are exact.
Enqueued distributed_sort(Communicator& ranks, Stream& stream, const View& in, const View& out,
                          const SortBy& by = {}, const Options& options = {});
/// The same with values that go where their keys go, keys and values of a rank being of one length. Equal keys keep the order
/// of the ranks, and within a rank their order if the variant is stable (SortBy::stable asks for one): then the result has
/// the bits of one stable sort.
Enqueued distributed_sort_pairs(Communicator& ranks, Stream& stream, const View& keys_in,
                                const View& values_in, const View& keys_out, const View& values_out,
                                const SortBy& by = {}, const Options& options = {});

// On spans and arrays.

template <Range In, Range Out>
Enqueued distributed_reduce(Communicator& ranks, Stream& stream, const In& in, const Out& out,
                            ReduceOp op = ReduceOp::sum, const Options& options = {}) {
    return distributed_reduce(ranks, stream, View(in.view()), View(out.view()), op, options);
}
template <Range In, Range Out>
Enqueued distributed_scan(Communicator& ranks, Stream& stream, const In& in, const Out& out,
                          ReduceOp op = ReduceOp::sum, ScanKind kind = ScanKind::inclusive,
                          const Options& options = {}) {
    return distributed_scan(ranks, stream, View(in.view()), View(out.view()), op, kind, options);
}
template <Range In, Range Out>
Enqueued distributed_histogram(Communicator& ranks, Stream& stream, const In& in, const Out& counters,
                               const HistogramBins& bins, const Options& options = {}) {
    return distributed_histogram(ranks, stream, View(in.view()), View(counters.view()), bins, options);
}
template <Range In, Range Out>
Enqueued distributed_sort(Communicator& ranks, Stream& stream, const In& in, const Out& out,
                          const SortBy& by = {}, const Options& options = {}) {
    return distributed_sort(ranks, stream, View(in.view()), View(out.view()), by, options);
}

// Operators made with CONCORD_FUNCTION.

template <Range In, Range Out, class F, class... B>
Enqueued distributed_reduce(Communicator& ranks, Stream& stream, const In& in, const Out& out,
                            const Function<F, B...>& op, typename In::Element identity,
                            const Options& options = {}) {
    using Fn = Function<F, B...>;
    using T = typename Out::Element;
    detail::check_combines<In, Out, Fn>();
    const auto values = op.packed();
    const T start = identity;
    return detail::distributed_reduce(
        ranks, stream, in.view(), out.view(),
        [&](const View& from, const View& to) {
            return detail::ReduceProblem{from,
                                         to,
                                         Fn::erased(),
                                         {values},
                                         {std::as_bytes(std::span(&start, 1))},
                                         &detail::reduce_host<T, typename Fn::Host>()};
        },
        false, options);
}

template <Range In, Range Out, class F, class... B>
Enqueued distributed_scan(Communicator& ranks, Stream& stream, const In& in, const Out& out,
                          const Function<F, B...>& op, typename In::Element identity,
                          ScanKind kind = ScanKind::inclusive, const Options& options = {}) {
    using Fn = Function<F, B...>;
    using T = typename Out::Element;
    detail::check_combines<In, Out, Fn>();
    const auto values = op.packed();
    const T start = identity;
    return detail::distributed_scan(
        ranks, stream, in.view(), out.view(),
        [&](const View& from, const View& to) {
            return detail::ScanProblem{from,
                                       to,
                                       Fn::erased(),
                                       {values},
                                       {std::as_bytes(std::span(&start, 1))},
                                       kind,
                                       &detail::scan_parts_host<T, typename Fn::Host>()};
        },
        detail::scan_before(start, op), nullptr, options);
}

template <Range In, Range Out, class F, class... B>
Enqueued distributed_histogram(Communicator& ranks, Stream& stream, const In& in, const Out& counters,
                               const Function<F, B...>& bin, const Options& options = {}) {
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
