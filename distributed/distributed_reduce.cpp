// Reduce over ranks. The canonical order's chunks depend on the number of elements alone: each is reduced by the rank on which
// it begins, and their results, of which there are 32768 at most, by everybody.

#include <concord/distributed.hpp>

#include "blocks.hpp"

#include <algorithm>

namespace concord {
namespace detail {

Run distributed_reduce(Communicator& ranks, Stream& stream, const View& in, const View& out,
                       const DistributedReduceCall& call, bool is_exact, const Options& options) {
    constexpr const char* name = "distributed_reduce";
    check_view(name, "in", in);
    check_view(name, "out", out);
    if (in.type != out.type || out.count != 1)
        throw Error(ErrorCode::invalid_argument, name,
                    "in is " + std::string(name_of(in.type)) + ", out " + std::to_string(out.count) + " of " +
                        std::string(name_of(out.type)) + ", not 1 of the same");
    const ReduceProblem whole = call(in, out);
    const u64 numbers[] = {in.count};
    std::vector<u64> counts;
    for (const auto& count :
         agree(ranks, name, described(in.type, whole.op, whole.values, whole.identity), numbers))
        counts.push_back(count[0]);
    const u32 size = size_of(in.type);
    u64 all = 0;
    for (const u64 count : counts)
        all += count;
    if (all == 0) return reduce(stream, whole, options);

    Run run{{}, &stream.device()};
    std::shared_ptr<Buffer> sums, block;
    u64 chunks = 0;
    auto place = [&](u64 first, u64 count) { return View{sums.get(), first * size, count, in.type}; };
    if (is_exact) {
        // An empty part would add its identity, which changes nothing.
        chunks = 1;
        sums = stream.scratch(size);
        run = reduce(stream, call(in, place(0, 1)), options);
    } else {
        // On all ranks, those without a chunk of their own included: none waits for one that refuses.
        const u64 length = canonical_chunk(all);
        run.variant = reduce_chunks(stream, call(in.part(0, 0), out), length, options);
        const Blocks blocks(counts, ranks.rank(), length);
        const View tail = collect_tail(ranks, stream, blocks, in, block);
        const u64 inner = blocks.body / length;
        chunks = inner + (blocks.tail > 0 ? 1 : 0);
        sums = stream.scratch(std::max<u64>(chunks, 1) * size);
        if (inner > 0)
            reduce_chunks(stream, call(in.part(blocks.lead, blocks.body), place(0, inner)), length, options);
        if (blocks.tail > 0) reduce_chunks(stream, call(tail, place(inner, 1)), length, options);
    }
    const auto gathered = gather_elements(ranks, stream, place(0, chunks));
    std::vector<std::byte> values;
    for (const auto& theirs : gathered)
        values.insert(values.end(), theirs.begin(), theirs.end());
    const u64 total = values.size() / size;
    if (total == 1) {
        stream.write(*out.buffer, out.offset, values.data(), size);
    } else {
        sums = stream.scratch(values.size());
        stream.write(*sums, 0, values.data(), values.size());
        // What is exact may have been computed by any variant; here there is little of it.
        reduce(stream, call(place(0, total), out), {.variant = is_exact ? "auto" : "fixed"});
    }
    stream.synchronize();  // the values are this call's
    return run;
}

}  // namespace detail

Run distributed_reduce(Communicator& ranks, Stream& stream, const View& in, const View& out, ReduceOp op,
                       const Options& options) {
    return detail::distributed_reduce(
        ranks, stream, in, out,
        [&](const View& from, const View& to) { return detail::reduce_problem(from, to, op); },
        !is_float(in.type), options);
}

}  // namespace concord
