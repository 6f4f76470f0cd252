// Collectives on device data, made of point-to-point messages and map.

#include <concord/distributed.hpp>

#include <concord/internal/operands.hpp>
#include <concord/map.hpp>

#include "small_gather.hpp"

#include <algorithm>
#include <array>

namespace concord {
namespace {

std::string type_name(const View& view) {
    return std::string(name_of(view.type));
}

void copy(Stream& stream, const View& from, const View& to) {
    if (from.count == 0) return;
    stream.copy(*to.buffer, to.offset, *from.buffer, from.offset, from.bytes());
}

// out[i] = a[i] op b[i].
void combine(Stream& stream, const View& a, const View& b, const View& out, ReduceOp op) {
    static constexpr std::array<std::byte, 4> no_values{};
    detail::map(stream,
                {.algorithm = "all_reduce",
                 .a = a,
                 .b = b,
                 .out = out,
                 .op = detail::builtin(op, a.type),
                 .values = {no_values},
                 .host = detail::map_builtin_host(op, a.type)},
                {});
}

// Gathers the elements of all ranks on the ranks first_target to last_target.
void gather_to(Communicator& ranks, Stream& stream, const char* call, const View& mine, const View& all,
               u32 first_target, u32 last_target) {
    const u32 me = ranks.rank();
    const bool is_target = first_target <= me && me <= last_target;
    detail::check_movable(call, "mine", stream, mine);
    if (is_target) {
        detail::check_movable(call, "all", stream, all);
        detail::check_writable(call, "all", all);
        detail::check_overlap(call, {"all", all}, {"mine", mine});
    }
    const u64 numbers[] = {mine.count};
    const auto counts = detail::agree(
        ranks, call,
        type_name(mine) + " to ranks " + std::to_string(first_target) + " to " + std::to_string(last_target),
        numbers);
    u64 sum = 0;
    for (const auto& count : counts)
        sum += count[0];
    ranks.prepare(stream, sum * size_of(mine.type) * (last_target - first_target + 1));
    std::vector<Message> sends, receives;
    if (is_target) {
        if (all.type != mine.type || all.count != sum)
            throw Error(ErrorCode::invalid_argument, call,
                        "all must have the " + std::to_string(sum) + " elements of " + type_name(mine) +
                            " of all ranks, got " + std::to_string(all.count) + " of " + type_name(all));
        u64 at = 0;
        for (u32 rank = 0; rank < ranks.size(); ++rank) {
            const View place = all.part(at, counts[rank][0]);
            at += place.count;
            if (rank == me) {
                copy(stream, mine, place);
            } else if (place.count > 0) {
                receives.push_back({rank, place});
            }
        }
    }
    for (u32 rank = first_target; rank <= last_target; ++rank) {
        if (rank != me && mine.count > 0) sends.push_back({rank, mine});
    }
    ranks.exchange(stream, sends, receives);
}

}  // namespace

namespace detail {

namespace {

// Every rank combines the data of all ranks in their order, in place. `gathered` has a place for each.
void combine_gathered(Communicator& ranks, Stream& stream, SmallGather& gather, const View& data,
                      ReduceOp op) {
    const u32 me = ranks.rank();
    const View gathered = gather.begin(stream, data.count * ranks.size(), data.type);
    gather.exchange(stream, data, data.count * me);
    auto place = [&](u32 rank) { return gathered.part(data.count * rank, data.count); };
    // The first combination overwrites the data, which the ranks after the second need once more.
    if (me >= 2) copy(stream, data, place(me));
    auto operand = [&](u32 rank) { return rank == me && me < 2 ? data : place(rank); };
    for (u32 rank = 1; rank < ranks.size(); ++rank)
        combine(stream, rank == 1 ? operand(0) : data, operand(rank), data, op);
    gather.end(stream);
}

}  // namespace

// Long data: reduce-scatter, then all-gather; every rank combines one part. Short data: every rank combines all of
// it.
void combine_all(Communicator& ranks, Stream& stream, const View& data, ReduceOp op, bool may_gather) {
    constexpr u64 short_bytes = u64{1} << 18;  // limit of short data, of all ranks together
    if (data.count == 0) return;
    if (ranks.size() == 1) {
        // The result of a single rank has canonical NaNs too. The minimum of x and x is x.
        if (is_float(data.type)) combine(stream, data, data, data, ReduceOp::min);
        return;
    }
    const u32 me = ranks.rank();
    const bool is_short = data.bytes() <= short_bytes / ranks.size();
    auto part = [&](u32 rank) {
        const Part p = is_short ? Part{0, data.count} : part_of(data.count, rank, ranks.size());
        return data.part(p.first, p.count);
    };
    if (is_short && may_gather) {
        if (SmallGather* const gather = SmallGather::of(ranks, stream, data.bytes() * ranks.size()))
            return combine_gathered(ranks, stream, *gather, data, op);
    }
    ranks.prepare(stream, data.bytes() * (ranks.size() - 1));
    const View mine = part(me);
    const auto theirs = stream.scratch(mine.bytes() * ranks.size());
    bound_outstanding_scratch(ranks, stream, mine.bytes() * ranks.size());
    auto place = [&](u32 rank) { return View{theirs.get(), mine.bytes() * rank, mine.count, data.type}; };
    std::vector<Message> sends, receives;
    for (u32 rank = 0; rank < ranks.size(); ++rank) {
        if (rank == me) continue;
        if (part(rank).count > 0) sends.push_back({rank, part(rank)});
        if (mine.count > 0) receives.push_back({rank, place(rank)});
    }
    ranks.exchange(stream, sends, receives);
    if (mine.count > 0) {
        copy(stream, mine, place(me));
        for (u32 rank = 1; rank < ranks.size(); ++rank)
            combine(stream, rank == 1 ? place(0) : mine, place(rank), mine, op);
    }
    if (is_short) return;
    sends.clear();
    receives.clear();
    for (u32 rank = 0; rank < ranks.size(); ++rank) {
        if (rank == me) continue;
        if (mine.count > 0) sends.push_back({rank, mine});
        if (part(rank).count > 0) receives.push_back({rank, part(rank)});
    }
    ranks.exchange(stream, sends, receives);
}

}  // namespace detail

void all_reduce(Communicator& ranks, Stream& stream, const View& data, ReduceOp op) {
    detail::check_output("all_reduce", "data", stream, data);
    const bool may_gather = detail::SmallGather::all_usable(
        ranks, stream, "all_reduce",
        std::to_string(data.count) + " " + type_name(data) + " by " + std::string(name_of(op)));
    ranks.prepare(stream, 0);  // combine_all() announces long messages
    detail::combine_all(ranks, stream, data, op, may_gather);
}

void broadcast(Communicator& ranks, Stream& stream, const View& data, u32 root) {
    constexpr const char* call = "broadcast";
    detail::check_rank(call, "root", root, ranks.size());
    detail::check_movable(call, "data", stream, data);
    if (ranks.rank() != root) detail::check_writable(call, "data", data);
    detail::agree(ranks, call,
                  std::to_string(data.count) + " " + type_name(data) + " of rank " + std::to_string(root),
                  {});
    if (data.count == 0) return;
    ranks.prepare(stream, data.bytes() * (ranks.size() - 1));
    std::vector<Message> sends, receives;
    if (ranks.rank() != root) receives.push_back({root, data});
    for (u32 rank = 0; ranks.rank() == root && rank < ranks.size(); ++rank) {
        if (rank != root) sends.push_back({rank, data});
    }
    ranks.exchange(stream, sends, receives);
}

void gather(Communicator& ranks, Stream& stream, const View& mine, const View& all, u32 root) {
    detail::check_rank("gather", "root", root, ranks.size());
    gather_to(ranks, stream, "gather", mine, all, root, root);
}

void all_gather(Communicator& ranks, Stream& stream, const View& mine, const View& all) {
    gather_to(ranks, stream, "all_gather", mine, all, 0, ranks.size() - 1);
}

}  // namespace concord
