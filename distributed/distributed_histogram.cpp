// Histogram over ranks: every rank counts its part, then the counters are added up.

#include <concord/distributed.hpp>

#include "small_gather.hpp"

#include <algorithm>

namespace concord {
namespace detail {
namespace {

std::string bound(const HistogramBound& b) {
    return b.name();
}

std::string bins_described(const HistogramBins& bins) {
    switch (bins.kind()) {
        case HistogramBins::Kind::modulo:
            return "modulo";
        case HistogramBins::Kind::identity:
            return "identity";
        case HistogramBins::Kind::edges: {
            // The same edges have the same bytes.
            const auto& bytes = bins.edges()->bytes;
            const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
            return "edges of " + std::string(name_of(bins.edges()->type)) + " with the hash " +
                   std::to_string(std::hash<std::string_view>()(text));
        }
        case HistogramBins::Kind::exact:
            return (bins.single() ? "exact f32 from " : "exact from ") + bound(bins.lo()) + " to " +
                   bound(bins.hi());
        default:
            return "even from " + bound(bins.lo()) + " to " + bound(bins.hi());
    }
}

}  // namespace

Enqueued distributed_histogram(Communicator& ranks, Stream& stream, const View& in, const View& counters,
                               const std::string& bins, const DistributedHistogramCall& call) {
    constexpr const char* name = "distributed_histogram";
    check_operand(name, "in", stream, in);
    check_output(name, "counters", stream, counters);
    check_counter_type(name, counters.type);
    check_overlap(name, {"counters", counters}, {"in", in});
    const bool may_gather =
        SmallGather::all_usable(ranks, stream, name,
                                std::string(name_of(in.type)) + " to " + std::to_string(counters.count) +
                                    " counters of " + std::string(name_of(counters.type)) + ", " + bins);
    ranks.prepare(stream, 0);  // combine_all() announces long messages
    if (counters.type != Type::u16) {
        const Enqueued run = call(in, counters);
        combine_all(ranks, stream, counters, ReduceOp::sum, may_gather);
        return run;
    }
    // Saturated u16 counters cannot be added: count in u64 and saturate at the end.
    const auto memory = stream.scratch(counters.count * sizeof(u64));
    const View wide{memory.get(), 0, counters.count, Type::u64};
    const Enqueued run = call(in, wide);
    combine_all(ranks, stream, wide, ReduceOp::sum, may_gather);
    std::vector<u64> counts(counters.count);
    stream.read(counts.data(), *memory, 0, wide.bytes());
    stream.synchronize();
    std::vector<u16> narrow(counts.size());
    std::transform(counts.begin(), counts.end(), narrow.begin(),
                   [](u64 count) { return static_cast<u16>(std::min<u64>(count, 65535)); });
    stream.write(*counters.buffer, counters.offset, narrow.data(), counters.bytes());
    stream.synchronize();
    return run;
}

}  // namespace detail

Enqueued distributed_histogram(Communicator& ranks, Stream& stream, const View& in, const View& counters,
                               const HistogramBins& bins, const Options& options) {
    return detail::distributed_histogram(
        ranks, stream, in, counters, detail::bins_described(bins),
        [&](const View& from, const View& to) { return histogram(stream, from, to, bins, options); });
}

}  // namespace concord
