#include "segmented_scan_sources.hpp"

#include <concord/internal/builtin_operator.hpp>
#include <concord/internal/input.hpp>
#include <concord/internal/launch.hpp>
#include <concord/internal/row.hpp>
#include <concord/segmented_scan.hpp>
#include <concord/tuning.hpp>

#include <algorithm>

namespace concord {

namespace detail {

const HostKernel& segmented_scan_builtin(ReduceOp op, Type type);

namespace {

constexpr u32 group_size = 256;
constexpr u64 piece = 256, fan = host::scan_fan, host_tile = host::scan_tile;

constexpr Tunable scan_segment_groups{
    "segmented_scan.groups", "maximum number of groups per thread", {LaunchModel::host}, {4, 8, 16, 32, 64}};

// Work-items of a group that each scan 16 elements of a tile; single work-items take as many strips one by one.
u32 strips_of(Type type) {
    return size_of(type) == 8 ? 128 : 256;
}
u64 tile_of(Type type) {
    return strips_of(type) * fan - piece;
}

// Which elements begin a segment, and the begin of the first segment and the end of the last one.
struct Begins {
    std::shared_ptr<Buffer> buffer;
    View bits, bounds;

    // words: number of words, at least those of n elements.
    Begins(Stream& stream, u64 words) {
        bounds = {nullptr, 0, 2, Type::u64};
        buffer = stream.scratch(bounds.bytes() + words * sizeof(u32));
        bounds.buffer = buffer.get();
        bits = {buffer.get(), bounds.bytes(), words, Type::u32};
    }
};

IndexCheck check_of(const SegmentedScanProblem& p) {
    return {.call = "segmented_scan", .what = "offset", .bound = p.in.count + 1, .ascends = true};
}

// Whether segments are given by flags.
bool has_flags(const SegmentedScanProblem& p) {
    return p.begins != nullptr;
}
Input flags_of(const SegmentedScanProblem& p) {
    Input flags(View{nullptr, 0, p.in.count - 1, Type::u8});
    flags.node = p.begins;
    return flags;
}

void copy_bounds(Stream& stream, const SegmentedScanProblem& p, const Begins& to) {
    if (p.bounds.buffer != nullptr)
        stream.copy(*to.buffer, to.bounds.offset, *p.bounds.buffer, p.bounds.offset, to.bounds.bytes());
}

// Groups of a launch on CPUs: one while the input is small, because waking a thread costs more; then some per thread.
u64 host_groups(const Device& device, const SegmentedScanProblem& p, u64 bytes) {
    const u64 most = std::max<u64>(1, bytes / (min_group_kib(device.traits()) << 10));
    const TuningPoint point{p.in.type, p.in.count};
    return std::min(most, device.traits().units * tuned(device, scan_segment_groups, point, 16));
}

// --- GPUs, and CPUs with one work-item per group ---------------------------------------------------------------------

// Tiles, and the totals of the pieces of long segments and of the nodes above them.
struct Tiles {
    u64 tile, count, entries;  // entries: pieces, at the places of their first elements
    std::shared_ptr<Buffer> buffer;
    View begins, totals, marks;
    u64 places = 0;  // of pieces and nodes

    Tiles(Stream& stream, const SegmentedScanProblem& p)
        : tile(tile_of(p.in.type)),
          count(divide_up(p.in.count, tile)),
          entries(divide_up(p.in.count, piece)) {
        for (u64 nodes = entries; nodes > 0; nodes /= fan)
            places += nodes + 1;
        const u64 begins_bytes = count * sizeof(u64),
                  totals_bytes = divide_up(places * size_of(p.in.type), sizeof(u64)) * sizeof(u64);
        buffer = stream.scratch(begins_bytes + totals_bytes + places * sizeof(u32));
        begins = {buffer.get(), 0, count, Type::u64};
        totals = {buffer.get(), begins_bytes, places, p.in.type};
        marks = {buffer.get(), begins_bytes + totals_bytes, places, Type::u32};
        const u32 none = 0;
        stream.fill(*buffer, marks.offset, marks.bytes(), &none, sizeof none);
    }
    // Those of all tiles and of the piece behind the last one.
    u64 words() const { return (count * tile + piece) / 32; }
};

Begins find_begins(Stream& stream, const SegmentedScanProblem& p, u64 words, u32 group) {
    Device& device = stream.device();
    Begins to(stream, words);
    const u32 words_a_group = std::max(group, 32U), run = 4 * words_a_group;
    if (has_flags(p)) {
        const Input flags = flags_of(p);
        const auto kernel = device.kernel(
            {.source = &with_input(kernel_sources::segment_flags(), flags),
             .entry = "segment_flags",
             .constants = {{"T", Type::u8}, {"SIZE", 1U}, {"GROUP", group}, {"WORDS", words_a_group}},
             .max_group_size = group});
        InputArguments(flags).launch(stream, *kernel,
                                     LaunchShape::linear(divide_up(words, u64{words_a_group}), group),
                                     to.bits, to.bounds, p.in.count, words);
        copy_bounds(stream, p, to);
        return to;
    }
    const u32 none = 0;
    stream.fill(*to.buffer, to.bits.offset, to.bits.bytes(), &none, sizeof none);
    const auto kernel = device.kernel(
        {.source = &kernel_sources::segment_heads(),
         .entry = "segment_heads",
         .constants = {{"O", p.offsets.type}, {"GROUP", group}, {"WORDS", words_a_group}, {"RUN", run}},
         .max_group_size = group});
    const u64 groups =
        std::min(divide_up(p.offsets.count, u64{run}), u64{device.traits().units} * (group == 1 ? 16 : 64));
    InputArguments(Input(p.offsets))
        .launch(stream, *kernel, LaunchShape::linear(groups, group), to.bits, to.bounds, check_of(p),
                p.in.count, p.offsets.count);
    return to;
}

void run_groups(Stream& stream, const SegmentedScanProblem& p, u32 group) {
    Device& device = stream.device();
    const u64 n = p.in.count;
    const bool is_single = group == 1;
    if (n > u64{1} << 40)
        throw Error(ErrorCode::unsupported, "segmented_scan",
                    "supports at most 2^40 elements, got " + std::to_string(n));
    const Tiles tiles(stream, p);
    const Begins begins = find_begins(stream, p, tiles.words(), group);
    const auto last = device.kernel({.source = &kernel_sources::segment_tiles(),
                                     .entry = "segment_tiles",
                                     .constants = {{"TILE", tiles.tile}, {"GROUP", group}},
                                     .max_group_size = group});
    launch(stream, *last, LaunchShape::linear(divide_up(tiles.count, u64{group}), group), begins.bits,
           tiles.begins, tiles.count);
    if (tiles.count > 1)
        scan(stream, scan_problem(Input(tiles.begins), tiles.begins, ReduceOp::max, ScanKind::inclusive), {});

    const u32 strips = strips_of(p.in.type);
    const u32 tile_group = is_single ? 1 : strips;
    const Constants of_tiles{{"T", p.in.type},   {"SIZE", size_of(p.in.type)}, {"GROUP", tile_group},
                             {"STRIPS", strips}, {"TILE", tiles.tile},         {"RESIDENT", 0U}},
        of_nodes{{"T", p.in.type}, {"SIZE", size_of(p.in.type)}, {"GROUP", group}};
    const auto kernel = device.kernel({.source = &with_input(kernel_sources::segmented_scan(), p.input()),
                                       .entry = "segmented_scan",
                                       .constants = of_tiles,
                                       .op = &p.op,
                                       .max_group_size = tile_group});
    const InputArguments in(p.input());
    const auto run = [&](bool totals_only) {
        in.launch(stream, *kernel, LaunchShape::linear(tiles.count, tile_group), begins.bits, tiles.begins,
                  begins.bounds, tiles.totals, tiles.marks, p.out, n, tiles.entries, p.exclusive(),
                  u32{totals_only}, p.identity, p.values);
    };
    if (n > piece) {
        run(true);
        u64 from = 0, below = tiles.entries;
        for (; below >= fan; below /= fan) {
            const auto nodes = device.kernel({.source = &kernel_sources::segment_nodes(),
                                              .entry = "segment_nodes",
                                              .constants = of_nodes,
                                              .op = &p.op,
                                              .max_group_size = group});
            const u64 to = from + below + 1, count = below / fan + 1;
            launch(stream, *nodes, LaunchShape::linear(divide_up(count, u64{group}), group), tiles.totals,
                   tiles.marks, from, below + 1, to, count, p.values);
            from = to;
        }
    }
    run(false);
}
void run_many(Stream& stream, const SegmentedScanProblem& p) {
    run_groups(stream, p, group_size);
}
void run_single(Stream& stream, const SegmentedScanProblem& p) {
    run_groups(stream, p, 1);
}

// --- CPUs ------------------------------------------------------------------------------------------------------------

void run_host(Stream& stream, const SegmentedScanProblem& p) {
    Device& device = stream.device();
    const u64 n = p.in.count;
    const Begins begins(stream, divide_up(n, u64{64}) * 2);
    // Multiples of 512 elements, so that groups write words of their own.
    const auto elements_each = [&](u64 groups) { return divide_up(n, groups * 512) * 512; };
    const u64 each = elements_each(host_groups(device, p, p.in.bytes()));
    if (has_flags(p)) {
        const auto kernel = host_kernel_of(device, "segment_flags", host_kernel<&host::segment_flags>());
        InputArguments(flags_of(p))
            .launch(stream, *kernel, LaunchShape::linear(divide_up(n, each), 1), begins.bits, begins.bounds,
                    n, each);
        copy_bounds(stream, p, begins);
    } else {
        const u64 zero = 0, count = p.offsets.count,
                  own = divide_up(count, host_groups(device, p, p.offsets.bytes()));
        stream.fill(*begins.buffer, begins.bits.offset, begins.bits.bytes(), &zero, sizeof(u32));
        const auto kernel =
            host_kernel_of(device, "segment_heads", plain_host_kernel<&host::segment_heads>());
        InputArguments(Input(p.offsets))
            .launch(stream, *kernel, LaunchShape::linear(divide_up(count, own), 1), begins.bits,
                    begins.bounds, check_of(p), n, count, size_of(p.offsets.type),
                    u32{!is_unsigned(p.offsets.type)}, own);
    }

    // The list of long segments, and their totals and flags.
    const u64 longs = n / host_tile + 1, places = host::long_segment_places(n) + 17 * longs,
              list_bytes = longs * sizeof(host::LongSegment), counts_bytes = 2 * sizeof(u32),
              flags_bytes = divide_up(places, u64{2}) * sizeof(u64);
    const auto buffer = stream.scratch(list_bytes + counts_bytes + flags_bytes + places * size_of(p.in.type));
    const View list{buffer.get(), 0, list_bytes / sizeof(u64), Type::u64},
        counts{buffer.get(), list_bytes, 2, Type::u32},
        flags{buffer.get(), list_bytes + counts_bytes, places, Type::u32},
        totals{buffer.get(), list_bytes + counts_bytes + flags_bytes, places, p.in.type};
    const u32 none = 0;
    stream.fill(*buffer, counts.offset, counts_bytes + flags_bytes, &none, sizeof none);
    const InputArguments in(p.input());
    const auto kernel = host_kernel_of(device, "segmented_scan", *p.short_);
    in.launch(stream, *kernel, LaunchShape::linear(divide_up(n, each), 1), p.out, begins.bits, begins.bounds,
              list, counts, n, each, p.exclusive(), p.identity, p.values);
    if (n <= host_tile) return;
    const auto shared = host_kernel_of(device, "scan_segments", p.host->segments);
    in.launch(stream, *shared,
              LaunchShape::linear(std::min<u64>(divide_up(n, host_tile), device.traits().units), 1), p.out,
              totals, flags, list, counts, p.exclusive(), u32{0}, p.identity, p.values);
}

// Five operations per factor of 16, as scan.
u64 canonical_chain(u64 n) {
    u64 depth = 5;
    for (; n > fan; n = divide_up(n, fan))
        depth += 5;
    return depth;
}

constexpr auto table = table_of<SegmentedScanProblem>(
    {{.variant = {.name = "tiles",
                  .summary =
                      "groups scan the nodes of 256 elements that begin in a tile, and keep a tree of their "
                      "totals",
                  .order = OperationOrder::canonical,
                  .longest_chain = canonical_chain,
                  .source = "Concord; tree after J. Sklansky, 1960"},
      .groups = {run_many, supports_problem_in<group_size>},
      .single_items = {run_single, supports_problem},
      .host = {run_host, supports_problem},
      .computes_input = true}});

constexpr auto variants = variants_of(table);
constexpr const Tunable* tunables[] = {&scan_segment_groups};

}  // namespace

SegmentedScanProblem segmented_scan_problem(const Input& in, const View& offsets, const View& out,
                                            ReduceOp op, ScanKind kind) {
    return {scan_problem(in, out, op, kind), offsets, &segmented_scan_builtin(op, in.view.type)};
}

Enqueued segmented_scan(Stream& stream, const SegmentedScanProblem& p, const Options& options) {
    constexpr std::string_view call = "segmented_scan";
    const Input in = p.input();
    check_input(call, "in", stream, in);
    check_output(call, "out", stream, p.out);
    check_same_type(call, {{"in", p.in.type}, {"out", p.out.type}});
    if (p.in.count != p.out.count)
        throw Error(ErrorCode::invalid_argument, call,
                    "in and out must have the same element count, got " + std::to_string(p.in.count) +
                        " and " + std::to_string(p.out.count));
    check_input_overlap(call, {"out", p.out}, "in", in, InPlace::yes);
    u64 segments = 1;
    if (!has_flags(p)) {
        check_operand(call, "offsets", stream, p.offsets);
        check_offset_type(call, p.offsets.type);
        segments = segment_count(call, p.offsets);
        check_input_overlap(call, {"out", p.out}, "offsets", Input(p.offsets));
    }
    const Row<SegmentedScanProblem>& row = choose(call, table, stream.device(), p, options);
    if (segments > 0 && p.in.count > 0) row.run(stream, p);
    return enqueued(stream, row, p);
}

}  // namespace detail

constinit const Algorithm segmented_scan_algorithm{
    .name = "segmented_scan",
    .summary = "out[i] = in[b] op ... op in[i], where b begins the segment of i",
    .variants = detail::variants,
    .tunables = detail::tunables};

Enqueued segmented_scan(Stream& stream, const View& in, const View& offsets, const View& out, ReduceOp op,
                        ScanKind kind, const Options& options) {
    return detail::segmented_scan(
        stream, detail::segmented_scan_problem(detail::Input(in), offsets, out, op, kind), options);
}

}  // namespace concord
