// Sort over ranks: every rank sorts its part, the ranks determine the splitters, and all keys are sent to their rank.
// GPUs merge the runs that they receive, in chunks, so that a chunk is merged while the next one arrives. Other devices
// receive all runs and sort them.

#include <concord/distributed.hpp>

#include "distributed_split.hpp"

#include <concord/internal/merge_runs.hpp>

#include <algorithm>

namespace concord {
namespace {

using Columns = detail::SortRun;

// Scratch for `count` elements of the same types.
struct Memory {
    Memory(Stream& stream, const Columns& like, u64 count)
        : keys(stream.scratch(count * size_of(like.keys.type))),
          values(like.pairs() ? stream.scratch(count * size_of(like.values.type)) : nullptr),
          columns{{keys.get(), 0, count, like.keys.type},
                  like.pairs() ? View{values.get(), 0, count, like.values.type} : View{}} {}

    std::shared_ptr<Buffer> keys, values;
    Columns columns;
};

Enqueued sort_here(Stream& stream, const Columns& in, const Columns& out, const SortBy& by,
                   const Options& options) {
    if (in.pairs()) return sort_pairs(stream, in.keys, in.values, out.keys, out.values, by, options);
    return sort(stream, in.keys, out.keys, by, options);
}

void copy_part(Stream& stream, const View& from, const View& to) {
    if (from.count > 0) stream.copy(*to.buffer, to.offset, *from.buffer, from.offset, from.bytes());
}

void check(const char* name, const Stream& stream, const Columns& in, const Columns& out) {
    const char* const keys_in = in.pairs() ? "keys_in" : "in";
    const char* const keys_out = out.pairs() ? "keys_out" : "out";
    detail::check_operand(name, keys_in, stream, in.keys);
    detail::check_output(name, keys_out, stream, out.keys);
    // A range of values without a buffer would count as a sort of keys alone.
    detail::check_operand(name, "values_in", stream, in.values);
    detail::check_output(name, "values_out", stream, out.values);
    if (in.pairs() != out.pairs())
        throw Error(ErrorCode::invalid_argument, name, "values must be given for both in and out");
    auto check_count = [&](const char* names, const View& keys, const View& values) {
        if (keys.count == values.count) return;
        throw Error(ErrorCode::invalid_argument, name,
                    std::string(names) + " must have the same element count, got " +
                        std::to_string(keys.count) + " and " + std::to_string(values.count));
    };
    detail::check_same_type(name, {{keys_in, in.keys.type}, {keys_out, out.keys.type}});
    if (!in.pairs()) return;
    detail::check_same_type(name, {{"values_in", in.values.type}, {"values_out", out.values.type}});
    check_count("keys_in and values_in", in.keys, in.values);
    check_count("keys_out and values_out", out.keys, out.values);
    detail::check_overlap(name, {keys_out, out.keys}, {"values_out", out.values});
}

std::string described(const Columns& in, const SortBy& by) {
    std::string text(name_of(in.keys.type));
    if (in.pairs()) text += " with " + std::string(name_of(in.values.type));
    text += ", " + std::string(name_of(by.order)) + ", bits " + std::to_string(by.begin_bit) + " to " +
            std::to_string(std::min(by.end_bit, 8 * size_of(in.keys.type)));
    return by.stable ? text + ", stable" : text;
}

// Parts of the ranks' results. Every rank has the same number of chunks.
struct Chunks {
    u32 each = 1;  // chunks per rank
    std::vector<std::vector<u64>>
        cuts;  // elements [cuts[k][r], cuts[k + 1][r]) of rank r belong to chunk k of all

    u64 first(u32 of, u32 rank, u32 chunk) const { return cuts[u64{of} * each + chunk][rank]; }
    // Elements of `rank` that belong to chunks [0, chunk) of rank `of`.
    u64 before(u32 of, u32 rank, u32 chunk) const { return first(of, rank, chunk) - first(of, rank, 0); }
    u64 count(u32 of, u32 rank, u32 chunk) const {
        return first(of, rank, chunk + 1) - first(of, rank, chunk);
    }
};

// The other ranks' elements of this rank's part: a run per rank, in rank order.
struct Received {
    Received(Communicator& ranks, Stream& stream, const Columns& like, const Chunks& chunks, bool with_own)
        : memory(stream, like, total(ranks, chunks, with_own)) {}

    u64 total(Communicator& ranks, const Chunks& chunks, bool with_own) {
        const u32 me = ranks.rank();
        u64 at = 0;
        for (u32 rank = 0; rank < ranks.size(); ++rank) {
            starts.push_back(at);
            if (rank != me || with_own) at += chunks.before(me, rank, chunks.each);
        }
        return at;
    }
    Columns run(u32 me, u32 rank, const Chunks& chunks, u32 chunk) const {
        return memory.columns.part(starts[rank] + chunks.before(me, rank, chunk),
                                   chunks.count(me, rank, chunk));
    }

    std::vector<u64> starts;  // before `memory`, which needs their end
    Memory memory;
};

// Sends every rank its elements of a chunk, and receives those of this rank.
void send_chunk(Communicator& ranks, Stream& stream, const Chunks& chunks, u32 chunk, const Columns& from,
                const Received& to) {
    const u32 me = ranks.rank();
    std::vector<Message> sends, receives;
    for (u32 rank = 0; rank < ranks.size(); ++rank) {
        if (rank == me) continue;
        const Columns mine = from.part(chunks.first(rank, me, chunk), chunks.count(rank, me, chunk)),
                      place = to.run(me, rank, chunks, chunk);
        if (mine.keys.count > 0) {
            sends.push_back({rank, mine.keys});
            if (from.pairs()) sends.push_back({rank, mine.values});
        }
        if (place.keys.count > 0) {
            receives.push_back({rank, place.keys});
            if (from.pairs()) receives.push_back({rank, place.values});
        }
    }
    ranks.exchange(stream, sends, receives);
}

// Merges runs in their order into `out`, neighbours first.
void merge_all(Stream& stream, std::vector<Columns> runs, const Columns& out, const SortBy& by) {
    std::erase_if(runs, [](const Columns& run) { return run.keys.count == 0; });
    if (runs.size() == 1) {
        copy_part(stream, runs[0].keys, out.keys);
        if (out.pairs()) copy_part(stream, runs[0].values, out.values);
    }
    std::vector<Memory> levels;
    while (runs.size() > 1) {
        const bool is_last = runs.size() == 2;
        if (!is_last) levels.emplace_back(stream, out, out.keys.count);
        const Columns& to = is_last ? out : levels.back().columns;
        std::vector<Columns> merged;
        u64 at = 0;
        for (std::size_t i = 0; i + 1 < runs.size(); i += 2) {
            const Columns place = to.part(at, runs[i].keys.count + runs[i + 1].keys.count);
            detail::merge_runs(stream, runs[i], runs[i + 1], place, by);
            merged.push_back(place);
            at += place.keys.count;
        }
        if (runs.size() % 2 != 0) merged.push_back(runs.back());
        if (is_last) return;
        runs = std::move(merged);
    }
}

// Receives and merges chunk by chunk. Messages have a stream of their own.
void merge_received(Communicator& ranks, Stream& stream, const Chunks& chunks, const Columns& sorted,
                    const Columns& out, const SortBy& by) {
    const u32 me = ranks.rank();
    const Received received(ranks, stream, sorted, chunks, false);
    const auto messages = stream.device().create_stream();
    const auto sorted_event = stream.device().create_event(), arrived = stream.device().create_event();
    stream.record(*sorted_event);
    messages->wait(*sorted_event);
    u64 at = 0;
    for (u32 chunk = 0; chunk < chunks.each; ++chunk) {
        send_chunk(ranks, *messages, chunks, chunk, sorted, received);
        messages->record(*arrived);
        stream.wait(*arrived);
        std::vector<Columns> runs;
        u64 count = 0;
        for (u32 rank = 0; rank < ranks.size(); ++rank) {
            runs.push_back(rank == me ? sorted.part(chunks.first(me, me, chunk), chunks.count(me, me, chunk))
                                      : received.run(me, rank, chunks, chunk));
            count += runs.back().keys.count;
        }
        if (count > 0) merge_all(stream, std::move(runs), out.part(at, count), by);
        at += count;
    }
}

// Receives all runs and sorts them.
void sort_received(Communicator& ranks, Stream& stream, const Chunks& chunks, const Columns& sorted,
                   const Columns& out, const SortBy& by, const Options& options) {
    const u32 me = ranks.rank();
    const Received received(ranks, stream, sorted, chunks, true);
    for (u32 chunk = 0; chunk < chunks.each; ++chunk) {
        send_chunk(ranks, stream, chunks, chunk, sorted, received);
        const Columns own = sorted.part(chunks.first(me, me, chunk), chunks.count(me, me, chunk)),
                      place = received.run(me, me, chunks, chunk);
        copy_part(stream, own.keys, place.keys);
        if (own.pairs()) copy_part(stream, own.values, place.values);
    }
    sort_here(stream, received.memory.columns, out, by, options);
}

// Chunks of the result per rank: 32 MiB or more each.
u32 chunks_per_rank(u64 bytes, u32 ranks) {
    constexpr u64 min_bytes = u64{32} << 20, most = 16;
    return static_cast<u32>(std::clamp<u64>(bytes / ranks / min_bytes, 1, most));
}

Enqueued sort_over(Communicator& ranks, Stream& stream, const char* name, const Columns& in,
                   const Columns& out, const SortBy& by, const Options& options) {
    check(name, stream, in, out);
    if (by.nan != NanOrder::total)
        throw Error(ErrorCode::unsupported, name,
                    "NaN last is not supported over ranks; pass NanOrder::total");
    const bool merges = detail::supports_merge_runs(stream.device(), in.keys.type, by);
    const u64 numbers[] = {in.keys.count, out.keys.count, merges ? u64{1} : u64{0}};
    std::vector<u64> counts, rooms;
    u64 all = 0, room = 0;
    bool all_merge = true;
    for (const auto& theirs : detail::agree(ranks, name, described(in, by), numbers)) {
        counts.push_back(theirs[0]);
        rooms.push_back(theirs[1]);
        all += theirs[0];
        room += theirs[1];
        all_merge = all_merge && theirs[2] != 0;
    }
    if (all != room)
        throw Error(ErrorCode::invalid_argument, name,
                    "the outs of all ranks must have room for " + std::to_string(all) + " keys, got " +
                        std::to_string(room));
    if (ranks.size() == 1) return sort_here(stream, in, out, by, options);
    const u64 bytes = all * (size_of(in.keys.type) + (in.pairs() ? size_of(in.values.type) : 0));
    ranks.prepare(stream, bytes);
    const Memory sorted(stream, in, in.keys.count);
    const Enqueued run = sort_here(stream, in, sorted.columns, by, options);
    Chunks chunks{.each = all_merge ? chunks_per_rank(bytes, ranks.size()) : 1, .cuts = {}};
    if (const u32 tested = detail::tested_sort_chunks; tested > 0) chunks.each = tested;
    // Places of the first element of each chunk but the first one of all.
    std::vector<u64> places;
    u64 at = 0;
    for (const u64 of_rank : rooms) {
        for (u32 chunk = 0; chunk < chunks.each; ++chunk)
            places.push_back(at + part_of(of_rank, chunk, chunks.each).first);
        at += of_rank;
    }
    places.erase(places.begin());
    chunks.cuts = detail::split_sorted(ranks, stream, sorted.columns.keys, by, counts, places);
    chunks.cuts.insert(chunks.cuts.begin(), std::vector<u64>(counts.size()));
    chunks.cuts.push_back(counts);
    if (merges) {
        merge_received(ranks, stream, chunks, sorted.columns, out, by);
    } else {
        sort_received(ranks, stream, chunks, sorted.columns, out, by, options);
    }
    return run;
}

}  // namespace

Enqueued distributed_sort(Communicator& ranks, Stream& stream, const View& in, const View& out,
                          const SortBy& by, const Options& options) {
    return sort_over(ranks, stream, "distributed_sort", {in, {}}, {out, {}}, by, options);
}

Enqueued distributed_sort_pairs(Communicator& ranks, Stream& stream, const View& keys_in,
                                const View& values_in, const View& keys_out, const View& values_out,
                                const SortBy& by, const Options& options) {
    return sort_over(ranks, stream, "distributed_sort_pairs", {keys_in, values_in}, {keys_out, values_out},
                     by, options);
}

}  // namespace concord
