// Scan over ranks. The totals of all tiles are gathered on all hosts. Every host combines the totals before its part
// by the canonical tree. Each node of the tree, or the beginning of one, is then scanned from that carry, as in a
// pipeline's segments.

#include <concord/distributed.hpp>

#include "blocks.hpp"

#include <concord/internal/scan_carry.hpp>

#include <algorithm>
#include <array>

namespace concord {
namespace detail {
namespace {

constexpr u64 fan = 16;

// Scans the tiles of one rank.
class Tiles {
  public:
    Tiles(Stream& stream, const ScanProblem& call, ScanCarry& before, const Options& options)
        : stream_(stream), call_(call), before_(before), options_(options) {}

    // Scans a range, starting from the carry of the elements before it.
    void scan_on(const View& in, const View& out) {
        ScanProblem problem = call_.on(in, out);
        std::array<std::byte, 8> carry{};
        before_.carry(carry.data());
        problem.identity = {std::span(carry).first(size_of(in.type))};
        problem.in_parts = true;
        scan(stream_, problem, options_);
    }

    // Scans whole tiles that begin at global element `first`; the last one may be the partial tile at the end.
    // totals: total of every tile, on the host.
    void scan_nodes(const View& in, const View& out, u64 first, const std::byte* totals, u64 tile,
                    u32 level) {
        for (u64 done = 0; done < in.count;) {
            // The largest node of the tree that begins here.
            u64 node = tile;
            while ((first + done) % (node * fan) == 0 && node * fan <= in.count - done)
                node *= fan;
            const u64 count = std::min(node, in.count - done);
            scan_on(in.part(done, count), out.part(done, count));
            before_.push(totals + done / tile * size_of(in.type), divide_up(count, tile), level);
            done += count;
        }
    }

  private:
    Stream& stream_;
    const ScanProblem& call_;
    ScanCarry& before_;
    const Options& options_;
};

void check(Stream& stream, const View& in, const View& out) {
    constexpr const char* name = "distributed_scan";
    check_operand(name, "in", stream, in);
    check_output(name, "out", stream, out);
    if (in.type != out.type || in.count != out.count)
        throw Error(ErrorCode::invalid_argument, name,
                    "out must have " + std::to_string(in.count) + " elements of " +
                        std::string(name_of(in.type)) + " like in, got " + std::to_string(out.count) +
                        " of " + std::string(name_of(out.type)));
    check_overlap(name, {"out", out}, {"in", in}, InPlace::yes);
}

// Exact operators: one total per rank suffices.
void scan_exact(Communicator& ranks, Stream& stream, const View& in, const View& out, Tiles& tiles,
                ScanCarry& before, const std::function<void(const View&, const View&)>& total) {
    const auto memory = stream.scratch(size_of(in.type));
    const View sum{memory.get(), 0, 1, in.type};
    total(in, sum);
    const auto sums = gather_elements(ranks, stream, sum);
    for (u32 rank = 0; rank < ranks.rank(); ++rank)
        before.push(sums[rank].data(), 1, 0);
    if (in.count > 0) tiles.scan_on(in, out);
}

}  // namespace

Enqueued distributed_scan(Communicator& ranks, Stream& stream, const ScanProblem& call,
                          const std::function<void(const View& in, const View& out)>& total,
                          const Options& options) {
    const View &in = call.in, &out = call.out;
    check(stream, in, out);
    const u64 tile = scan_tile(stream.device()), numbers[] = {in.count, tile};
    const std::string what =
        std::string(name_of(call.kind)) + " " + described(in.type, call.op, call.values, call.identity);
    const auto said = agree(ranks, "distributed_scan", what, numbers);
    ranks.prepare(stream, 0);  // its messages are short
    const Enqueued run = scan_in_parts(stream, call, options);
    ScanCarry before(call);
    Tiles tiles(stream, call, before, options);
    if (total) {
        scan_exact(ranks, stream, in, out, tiles, before, total);
        return run;
    }
    // Devices may have two tile sizes. The parts are cut at multiples of the larger one; levels count from the
    // smaller one.
    std::vector<u64> counts;
    u64 smallest = ~u64{0}, largest = 0;
    for (const auto& numbers_of : said) {
        counts.push_back(numbers_of[0]);
        smallest = std::min(smallest, numbers_of[1]);
        largest = std::max(largest, numbers_of[1]);
    }
    auto level_of = [&](u32 rank) {
        u32 level = 0;
        for (u64 node = smallest; node < said[rank][1]; node *= fan)
            ++level;
        return level;
    };

    const Blocks blocks(counts, ranks.rank(), largest);
    std::shared_ptr<Buffer> tail_memory, tail_results;
    const View tail = collect_tail(ranks, stream, blocks, in, tail_memory);
    const View body = in.part(blocks.lead, blocks.body), body_out = out.part(blocks.lead, blocks.body);
    View tail_out = out.part(blocks.lead + blocks.body, blocks.rest);
    if (tail_memory) {
        tail_results = stream.scratch(tail.bytes());
        tail_out = {tail_results.get(), 0, tail.count, tail.type};
    }
    const u32 size = size_of(in.type);
    const u64 body_tiles = blocks.body / tile, tail_tiles = divide_up(blocks.tail, tile);
    const auto memory = stream.scratch(std::max<u64>(body_tiles + tail_tiles, 1) * size);
    const View totals{memory.get(), 0, body_tiles + tail_tiles, in.type};
    if (body_tiles > 0) scan_totals(stream, call.on(body, totals.part(0, body_tiles)));
    if (tail_tiles > 0) scan_totals(stream, call.on(tail, totals.part(body_tiles, tail_tiles)));
    const auto all = gather_elements(ranks, stream, totals);
    for (u32 rank = 0; rank < ranks.rank(); ++rank) {
        if (!all[rank].empty()) before.push(all[rank].data(), all[rank].size() / size, level_of(rank));
    }
    const std::byte* own = all[ranks.rank()].data();
    const u32 level = level_of(ranks.rank());
    tiles.scan_nodes(body, body_out, blocks.begin(), own, tile, level);
    tiles.scan_nodes(tail, tail_out, blocks.begin() + blocks.body, own + body_tiles * size, tile, level);
    return_tail(ranks, stream, blocks, tail_out, out);
    return run;
}

}  // namespace detail

Enqueued distributed_scan(Communicator& ranks, Stream& stream, const View& in, const View& out, ReduceOp op,
                          ScanKind kind, const Options& options) {
    std::function<void(const View&, const View&)> total;
    if (!is_float(in.type)) total = [&](const View& from, const View& to) { reduce(stream, from, to, op); };
    return detail::distributed_scan(ranks, stream, detail::scan_problem(in, out, op, kind), total, options);
}

}  // namespace concord
