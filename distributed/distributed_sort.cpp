// Sort over ranks: every rank sorts its part, the ranks determine the splitters, all keys are sent to their rank, and
// every rank sorts what it received.

#include <concord/distributed.hpp>

#include "distributed_split.hpp"

#include <algorithm>

namespace concord {
namespace {

// Keys, or keys and values.
struct Columns {
    View keys, values;  // keys only if values has no buffer

    bool pairs() const { return values.buffer != nullptr; }
    Columns part(u64 first, u64 count) const {
        return {keys.part(first, count), pairs() ? values.part(first, count) : View{}};
    }
};

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

void check(const char* name, const Columns& in, const Columns& out) {
    const char* const keys_in = in.pairs() ? "keys_in" : "in";
    const char* const keys_out = out.pairs() ? "keys_out" : "out";
    detail::check_view(name, keys_in, in.keys);
    detail::check_view(name, keys_out, out.keys);
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
    detail::check_view(name, "values_in", in.values);
    detail::check_view(name, "values_out", out.values);
    detail::check_same_type(name, {{"values_in", in.values.type}, {"values_out", out.values.type}});
    check_count("keys_in and values_in", in.keys, in.values);
    check_count("keys_out and values_out", out.keys, out.values);
}

std::string described(const Columns& in, const SortBy& by) {
    std::string text(name_of(in.keys.type));
    if (in.pairs()) text += " with " + std::string(name_of(in.values.type));
    text += ", " + std::string(name_of(by.order)) + ", bits " + std::to_string(by.begin_bit) + " to " +
            std::to_string(std::min(by.end_bit, 8 * size_of(in.keys.type)));
    return by.stable ? text + ", stable" : text;
}

// Sends every rank its part of the result. A rank receives contiguous runs in the order of the sending ranks.
void send_all(Communicator& ranks, Stream& stream, const std::vector<std::vector<u64>>& cuts,
              const Columns& from, const Columns& to) {
    const u32 me = ranks.rank();
    // Elements [cuts[t][r], cuts[t + 1][r]) of rank r belong to rank t.
    auto count = [&](u32 r, u32 t) { return cuts[t + 1][r] - cuts[t][r]; };
    std::vector<Message> sends, receives;
    u64 at = 0;
    for (u32 rank = 0; rank < ranks.size(); ++rank) {
        const Columns place = to.part(at, count(rank, me));
        at += place.keys.count;
        const Columns theirs = from.part(cuts[rank][me], count(me, rank));
        if (rank == me) {
            copy_part(stream, theirs.keys, place.keys);
            if (from.pairs()) copy_part(stream, theirs.values, place.values);
            continue;
        }
        if (theirs.keys.count > 0) {
            sends.push_back({rank, theirs.keys});
            if (from.pairs()) sends.push_back({rank, theirs.values});
        }
        if (place.keys.count > 0) {
            receives.push_back({rank, place.keys});
            if (from.pairs()) receives.push_back({rank, place.values});
        }
    }
    ranks.exchange(stream, sends, receives);
}

Enqueued sort_over(Communicator& ranks, Stream& stream, const char* name, const Columns& in,
                   const Columns& out, const SortBy& by, const Options& options) {
    check(name, in, out);
    const u64 numbers[] = {in.keys.count, out.keys.count};
    std::vector<u64> counts, places;
    u64 all = 0, room = 0;
    for (const auto& said : detail::agree(ranks, name, described(in, by), numbers)) {
        counts.push_back(said[0]);
        all += said[0];
        if (counts.size() > 1) places.push_back(room);
        room += said[1];
    }
    if (all != room)
        throw Error(ErrorCode::invalid_argument, name,
                    "the outs of all ranks must have room for " + std::to_string(all) + " keys, got " +
                        std::to_string(room));
    if (ranks.size() == 1) return sort_here(stream, in, out, by, options);
    ranks.prepare(stream, all * (size_of(in.keys.type) + (in.pairs() ? size_of(in.values.type) : 0)));
    const Memory sorted(stream, in, in.keys.count);
    const Enqueued run = sort_here(stream, in, sorted.columns, by, options);
    auto cuts = detail::split_sorted(ranks, stream, sorted.columns.keys, by, counts, places);
    cuts.insert(cuts.begin(), std::vector<u64>(counts.size()));
    cuts.push_back(counts);
    const Memory received(stream, in, out.keys.count);
    send_all(ranks, stream, cuts, sorted.columns, received.columns);
    sort_here(stream, received.columns, out, by, options);
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
