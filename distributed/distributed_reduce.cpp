// Reduce over ranks. The chunks of the canonical order depend only on the number of elements. The rank on which a
// chunk begins reduces it. All ranks then reduce the chunks' results, at most 32768.

#include <concord/distributed.hpp>

#include "blocks.hpp"
#include "small_gather.hpp"

#include <utility>

namespace concord {
namespace detail {

// Up to this many ranks exchange their results directly, without host synchronisation. More ranks gather them on the
// hosts, in fewer messages.
constexpr u32 max_direct = 8;

Enqueued distributed_reduce(Communicator& ranks, Stream& stream, const ReduceProblem& call,
                            OrderDependence dependence, const Options& options) {
    constexpr const char* name = "distributed_reduce";
    const View &in = call.in, &out = call.out;
    const bool is_exact = dependence == OrderDependence::none;
    check_operand(name, "in", stream, in);
    check_output(name, "out", stream, out);
    if (in.type != out.type || out.count != 1)
        throw Error(ErrorCode::invalid_argument, name,
                    "out must be 1 element of " + std::string(name_of(in.type)) + " like in, got " +
                        std::to_string(out.count) + " of " + std::string(name_of(out.type)));
    check_overlap(name, {"out", out}, {"in", in});
    const u64 numbers[] = {in.count, SmallGather::is_usable(ranks, stream) ? u64{1} : u64{0}};
    std::vector<u64> counts;
    bool may_gather = true;
    for (const auto& said :
         agree(ranks, name, described(in.type, call.op, call.values, call.identity), numbers)) {
        counts.push_back(said[0]);
        may_gather = may_gather && said[1] != 0;
    }
    ranks.prepare(stream, 0);  // its messages are short
    const u32 size = size_of(in.type);
    u64 all = 0;
    for (const u64 count : counts)
        all += count;
    if (all == 0) return reduce(stream, call, options);

    Enqueued run;
    std::vector<Blocks> blocks;
    // If the order does not matter, every part is one chunk. An empty part gives the identity.
    std::vector<u64> chunks(ranks.size(), 1);
    const u64 length = canonical_chunk(all);
    if (!is_exact) {
        // Checks the call on all ranks, also on those without a chunk, so that all of them throw.
        run = reduce_chunks(stream, call.on(in.part(0, 0), out), length, options);
        for (u32 rank = 0; rank < ranks.size(); ++rank) {
            blocks.emplace_back(counts, rank, length);
            chunks[rank] = blocks[rank].body / length + (blocks[rank].tail > 0 ? 1 : 0);
        }
    }
    u64 total = 0;
    std::vector<u64> first;
    first.reserve(chunks.size());
    for (const u64 count : chunks)
        first.push_back(std::exchange(total, total + count));
    SmallGather* const gather = may_gather ? SmallGather::of(ranks, stream, total * size) : nullptr;
    std::shared_ptr<Buffer> memory;
    if (gather == nullptr) memory = stream.scratch(total * size);
    const View sums =
        gather != nullptr ? gather->begin(stream, total, in.type) : View{memory.get(), 0, total, in.type};
    const View mine = sums.part(first[ranks.rank()], chunks[ranks.rank()]);
    std::shared_ptr<Buffer> block;
    if (is_exact) {
        run = reduce(stream, call.on(in, mine), options);
    } else {
        const Blocks& own = blocks[ranks.rank()];
        const View tail = collect_tail(ranks, stream, own, in, block);
        const u64 inner = own.body / length;
        if (inner > 0)
            reduce_chunks(stream, call.on(in.part(own.lead, own.body), mine.part(0, inner)), length, options);
        if (own.tail > 0) reduce_chunks(stream, call.on(tail, mine.part(inner, 1)), length, options);
    }
    if (gather != nullptr) {
        gather->exchange(stream, mine, first[ranks.rank()]);
    } else if (ranks.size() <= max_direct) {
        std::vector<Message> sends, receives;
        for (u32 rank = 0; rank < ranks.size(); ++rank) {
            if (rank == ranks.rank()) continue;
            if (mine.count > 0) sends.push_back({rank, mine});
            if (chunks[rank] > 0) receives.push_back({rank, sums.part(first[rank], chunks[rank])});
        }
        bound_outstanding_scratch(ranks, stream, memory->size());
        ranks.exchange(stream, sends, receives);
    } else {
        std::vector<std::byte> values;
        for (const auto& theirs : gather_elements(ranks, stream, mine))
            values.insert(values.end(), theirs.begin(), theirs.end());
        stream.write(*memory, 0, values.data(), values.size());
        stream.synchronize();  // `values` ends with this block
    }
    if (total == 1) {
        stream.copy(*out.buffer, out.offset, *sums.buffer, 0, size);
    } else {
        // The variant that reduces chunks. Options::order does not select it for user operators on integers.
        reduce(stream, call.on(sums, out),
               is_exact ? Options{} : Options{.variant = std::string(run.variant)});
    }
    if (gather != nullptr) gather->end(stream);
    return run;
}

}  // namespace detail

Enqueued distributed_reduce(Communicator& ranks, Stream& stream, const View& in, const View& out, ReduceOp op,
                            const Options& options) {
    return detail::distributed_reduce(
        ranks, stream, detail::reduce_problem(in, out, op),
        is_float(in.type) ? detail::OrderDependence::rounds : detail::OrderDependence::none, options);
}

}  // namespace concord
