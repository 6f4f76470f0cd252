#include "segmented_reduce_sources.hpp"

#include <concord/internal/builtin_operator.hpp>
#include <concord/internal/input.hpp>
#include <concord/internal/launch.hpp>
#include <concord/internal/row.hpp>
#include <concord/segmented_reduce.hpp>
#include <concord/tuning.hpp>

#include <algorithm>
#include <bit>

namespace concord {

namespace detail {

const HostKernel& segmented_reduce_builtin(ReduceOp op, Type type);

namespace {

constexpr u32 group_size = 256, team = 32, one_chunk = 1024;
// The mean length up to which segments pass through local memory.
constexpr u64 longest_staged = 64;
// Work-items per segment and the elements that they hold at a time, by the mean length. Few work-items have fewest
// instructions per element, until they hold too many columns.
struct Staging {
    u64 above, up_to;
    u32 parts, width;
};
constexpr Staging stagings[] = {{0, 4, 1, 8}, {4, 16, 2, 32}, {16, longest_staged, 8, 128}};

constexpr Tunable segment_waves{"segmented_reduce.waves",
                                "maximum number of groups that reduce chunks, in waves of resident groups",
                                on_gpus,
                                {1, 2, 4, 8, 16}};
constexpr Tunable segment_groups{
    "segmented_reduce.groups", "maximum number of groups per thread", on_cpus, {4, 8, 16, 32, 64}};

TuningPoint point_of(const SegmentedReduceProblem& p) {
    return {p.in.type, p.in.count};
}

// The lists of long segments and the sums of their chunks. Without such segments: one place of each.
struct Lists {
    // Chunks and segments in the lists, each u32; and the number of all segments, u64, if only the device knows it.
    static constexpr u64 counts_bytes = 16;

    SegmentRoom room;
    std::shared_ptr<Buffer> buffer;
    View parts, wholes, sums, counts;

    Lists(Stream& stream, const SegmentedReduceProblem& p) {
        const u64 n = p.in.count;
        // A segment of more than 1024 elements has at most 2 chunks per 1024 of them, and for each 2^20 elements at
        // most 32 places more.
        const u64 places = 1 + 2 * (n / one_chunk) + 32 * (n >> 20), longs = 1 + n / one_chunk;
        if (places >= u64{1} << 32)
            throw Error(ErrorCode::unsupported, "segmented_reduce",
                        "supports at most 2^40 elements, got " + std::to_string(n));
        room = {static_cast<u32>(places), static_cast<u32>(longs)};
        const u64 parts_bytes = places * sizeof(SegmentPart), wholes_bytes = longs * sizeof(SegmentWhole);
        buffer = stream.scratch(parts_bytes + wholes_bytes + counts_bytes + places * size_of(p.in.type));
        parts = {buffer.get(), 0, places * 2, Type::u64};
        wholes = {buffer.get(), parts_bytes, longs * 3, Type::u64};
        counts = {buffer.get(), parts_bytes + wholes_bytes, counts_bytes / sizeof(u32), Type::u32};
        sums = {buffer.get(), parts_bytes + wholes_bytes + counts_bytes, places, p.in.type};
        const u64 none = 0;
        stream.fill(*buffer, counts.offset, counts.bytes(), &none, sizeof none);
        if (p.is_live())
            stream.copy(*buffer, counts.offset + sizeof none, *p.live.buffer, p.live.offset, sizeof none);
    }
    bool may_have_long(const SegmentedReduceProblem& p) const { return p.in.count > one_chunk; }
};

IndexCheck check_of(const SegmentedReduceProblem& p) {
    return {.call = "segmented_reduce", .what = "offset", .bound = p.in.count + 1, .ascends = true};
}

ValueBytes bytes_of(const SegmentRoom& room) {
    return {std::as_bytes(std::span(&room, 1))};
}

// The kernel `entry` with the constants that all have in common.
std::shared_ptr<Kernel> kernel_of(Device& device, const SegmentedReduceProblem& p, const KernelSource& source,
                                  const char* entry, u32 group, std::initializer_list<Constant> more) {
    Constants constants{
        {"T", p.in.type}, {"SIZE", size_of(p.in.type)}, {"GROUP", group}, {"LIVE", u32{p.is_live()}}};
    for (const Constant& constant : more)
        constants.push_back(constant);
    return device.kernel(
        {.source = &source, .entry = entry, .constants = constants, .op = &p.op, .max_group_size = group});
}

// Whether the operator is a built-in one: combining with its identity changes no element.
bool is_builtin(const SegmentedReduceProblem& p) {
    constexpr ReduceOp all[] = {ReduceOp::sum, ReduceOp::product, ReduceOp::min, ReduceOp::max};
    return std::any_of(std::begin(all), std::end(all),
                       [&](ReduceOp op) { return p.op.hash == builtin(op, p.type()).hash; });
}

void run_groups(Stream& stream, const SegmentedReduceProblem& p) {
    Device& device = stream.device();
    const u64 n = p.in.count, segments = p.out.count;
    const Lists lists(stream, p);
    const InputArguments in(p.input());
    const Constant neutral{"NEUTRAL", u32{is_builtin(p)}}, offsets{"O", p.offsets.type};
    const u64 most_groups = u64{device.traits().units} * 16;
    const auto run = [&](const KernelSource& source, const char* entry, u64 each,
                         std::initializer_list<Constant> constants) {
        const auto kernel = kernel_of(device, p, with_input(source, p.input()), entry, group_size, constants);
        const u64 all = divide_up(segments, each), launched = p.is_live() ? std::min(all, most_groups) : all;
        in.launch(stream, *kernel, LaunchShape::linear(launched, group_size), p.offsets, p.out, lists.parts,
                  lists.wholes, lists.counts, check_of(p), n, segments, each, bytes_of(lists.room),
                  p.identity, p.values);
    };
    // If only the device knows their number, all of these are launched. Each compares the mean length with its bounds
    // on the device, and all but one return at once.
    const u64 mean = p.is_live() ? 0 : divide_up(n, segments);
    if (mean > longest_staged || p.is_live()) {
        const u64 each = std::clamp<u64>(divide_up(segments, most_groups), 8, 64);
        run(kernel_sources::segmented_middle(), "segmented_middle", each,
            {offsets,
             neutral,
             {"STAGED", longest_staged},
             {"UNROLL", mean > 0 && mean < 512 ? 2U : 4U},
             {"RESIDENT", 8U}});
    }
    // Elements that a group stages: 32 KiB of local memory suffice.
    const u64 tile = size_of(p.in.type) == 8 ? 1536 : 4096;
    for (const Staging& staging : stagings) {
        if (!p.is_live() && (mean <= staging.above || mean > staging.up_to)) continue;
        run(kernel_sources::segmented_short(), "segmented_short",
            std::clamp<u64>(tile / std::max<u64>(mean, 1), 64, 4096),
            {offsets,
             neutral,
             {"ABOVE", staging.above},
             {"STAGED", staging.up_to},
             {"TILE", tile + one_chunk},
             {"LOADS", 16U},
             {"RESIDENT", 6U},
             {"PARTS", staging.parts},
             {"WIDTH", staging.width}});
    }
    if (!lists.may_have_long(p)) return;
    const u64 waves = tuned(device, segment_waves, point_of(p), 8);
    const auto groups = [&](u64 units, const Kernel& kernel) {
        const i64 resident = std::max<i64>(kernel.attributes().groups_per_unit, 1);
        return std::min(divide_up(units, group_size / team),
                        waves * static_cast<u64>(resident) * device.traits().units);
    };
    const auto chunks =
        kernel_of(device, p, with_input(kernel_sources::segmented_parts(), p.input()), "segmented_parts",
                  group_size, {{"UNROLL", 8U}, {"RESIDENT", 1U}, {"PACK", 1U}});
    in.launch(stream, *chunks, LaunchShape::linear(groups(lists.room.parts, *chunks), group_size),
              lists.parts, lists.sums, lists.counts, n, bytes_of(lists.room), p.identity, p.values);
    const auto upper = kernel_of(device, p, kernel_sources::segmented_upper(), "segmented_upper", group_size,
                                 {{"UNROLL", 8U}});
    launch(stream, *upper, LaunchShape::linear(groups(lists.room.wholes, *upper), group_size), lists.sums,
           lists.wholes, lists.counts, p.out, segments, bytes_of(lists.room), p.identity, p.values);
}

// Segments per group: one group while the input is small, because waking a thread costs more.
u64 segments_per_group(const Device& device, const SegmentedReduceProblem& p) {
    const u64 segments = p.out.count, bytes = p.in.bytes() + p.offsets.bytes(),
              most = std::max<u64>(1, bytes / (min_group_kib(device.traits()) << 10)),
              each = tuned(device, segment_groups, point_of(p), 16);
    return divide_up(segments, std::min({segments, most, device.traits().units * each}));
}
// Groups of the launches that share the lists.
u64 list_groups(const Device& device, const SegmentedReduceProblem& p, u64 units) {
    const u64 most = std::max<u64>(1, p.in.bytes() / (min_group_kib(device.traits()) << 10));
    return std::min<u64>({units, most, u64{device.traits().units} * 16});
}

void run_wide(Stream& stream, const SegmentedReduceProblem& p) {
    Device& device = stream.device();
    const u64 n = p.in.count, segments = p.out.count, each = segments_per_group(device, p);
    const Lists lists(stream, p);
    const InputArguments in(p.input());
    const KernelSource& source = with_input(kernel_sources::segmented_reduce_wide(), p.input());
    const std::initializer_list<Constant> offsets = {{"O", p.offsets.type}};
    const auto short_ones = kernel_of(device, p, source, "segmented_short", 1, offsets);
    in.launch(stream, *short_ones, LaunchShape::linear(divide_up(segments, each), 1), p.offsets, p.out,
              lists.parts, lists.wholes, lists.counts, check_of(p), n, segments, each, bytes_of(lists.room),
              p.identity, p.values);
    if (!lists.may_have_long(p)) return;
    const auto chunks = kernel_of(device, p, source, "segmented_parts", 1, offsets);
    in.launch(stream, *chunks, LaunchShape::linear(list_groups(device, p, lists.room.parts), 1), lists.parts,
              lists.sums, lists.counts, n, bytes_of(lists.room), p.identity, p.values);
    const auto upper =
        kernel_of(device, p, kernel_sources::segmented_reduce_wide(), "segmented_upper", 1, offsets);
    launch(stream, *upper, LaunchShape::linear(list_groups(device, p, lists.room.wholes), 1), lists.sums,
           lists.wholes, lists.counts, p.out, segments, bytes_of(lists.room), p.identity, p.values);
}

void run_host(Stream& stream, const SegmentedReduceProblem& p) {
    Device& device = stream.device();
    const u64 n = p.in.count, segments = p.out.count, each = segments_per_group(device, p);
    const Lists lists(stream, p);
    const InputArguments in(p.input());
    const auto kernel = host_kernel_of(device, "segmented_reduce", *p.host);
    const auto run = [&](detail::host::SegmentStage stage, u64 groups) {
        in.launch(stream, *kernel, LaunchShape::linear(groups, 1), p.offsets, p.out, lists.parts,
                  lists.wholes, lists.counts, check_of(p), lists.sums, static_cast<u32>(stage),
                  size_of(p.offsets.type), u32{!is_unsigned(p.offsets.type)}, u32{p.is_live()}, n, segments,
                  each, bytes_of(lists.room), p.identity, p.values);
    };
    run(detail::host::SegmentStage::segments, divide_up(segments, each));
    if (n <= detail::host::own_chunks * one_chunk) return;
    run(detail::host::SegmentStage::parts, list_groups(device, p, lists.room.parts));
    run(detail::host::SegmentStage::wholes, list_groups(device, p, lists.room.wholes));
}

constexpr auto table = table_of<SegmentedReduceProblem>(
    {{.variant = {.name = "fixed",
                  .summary =
                      "short segments through local memory, chunks of long ones from a list by a warp each",
                  .order = OperationOrder::canonical,
                  .longest_chain = canonical_depth,
                  .source = "Concord; tree after M. Harris, 2007"},
      .groups = {run_groups, supports_problem_in<group_size>},
      .single_items = {run_wide, supports_problem},
      .host = {run_host, supports_problem},
      .computes_input = true}});

constexpr auto variants = variants_of(table);
constexpr const Tunable* tunables[] = {&segment_waves, &segment_groups};

}  // namespace

u64 segment_count(std::string_view call, const View& offsets) {
    if (offsets.count == 0)
        throw Error(ErrorCode::invalid_argument, call,
                    "offsets must have 1 element more than there are segments, got 0");
    return offsets.count - 1;
}

void check_offset_type(std::string_view call, Type type) {
    if (is_float(type) || size_of(type) < 4)
        throw Error(ErrorCode::invalid_argument, call,
                    error_message("offsets must have type u32, u64, i32 or i64", name_of(type)));
}

void OffsetsCheck::add(std::span<const std::byte> offsets, Type type) {
    visit_type(type, [&]<class T>(TypeTag<T>) {
        for (u64 at = 0; at < offsets.size(); at += sizeof(T), ++index_) {
            T value;
            std::memcpy(&value, offsets.data() + at, sizeof value);
            const auto refuse = [&](const std::string& why) {
                throw Error(
                    ErrorCode::invalid_argument, call_,
                    "offset " + std::to_string(value) + " at index " + std::to_string(index_) + " " + why);
            };
            if (value < T(0)) refuse("is negative");
            const auto offset = static_cast<u64>(value);
            if (offset < before_) refuse("is less than the one before it, " + std::to_string(before_));
            if (offset > n_) refuse("exceeds the " + std::to_string(n_) + " elements");
            if (index_ == 0) first_ = offset;
            before_ = offset;
        }
    });
}

void OffsetsCheck::check_covers() const {
    const auto refuse = [&](const std::string& which, u64 offset, u64 expected) {
        throw Error(ErrorCode::invalid_argument, call_,
                    "the " + which + " offset must be " + std::to_string(expected) + ", got " +
                        std::to_string(offset) + "; each element must be in a segment");
    };
    if (first_ != 0) refuse("first", first_, 0);
    if (before_ != n_) refuse("last", before_, n_);
}

SegmentedReduceProblem segmented_reduce_problem(const Input& in, const View& offsets, const View& out,
                                                ReduceOp op) {
    const Type type = in.view.type;
    return {.in = in.view,
            .offsets = offsets,
            .out = out,
            .op = builtin(op, type),
            .values = builtin_values(op, type),
            .identity = builtin_identity(op, type),
            .host = &segmented_reduce_builtin(op, type),
            .expression = in.node};
}

Enqueued segmented_reduce(Stream& stream, const SegmentedReduceProblem& p, const Options& options) {
    constexpr std::string_view call = "segmented_reduce";
    const Input in = p.input();
    check_input(call, "in", stream, in);
    check_operand(call, "offsets", stream, p.offsets);
    check_output(call, "out", stream, p.out);
    check_same_type(call, {{"in", p.in.type}, {"out", p.out.type}});
    check_offset_type(call, p.offsets.type);
    if (const u64 segments = segment_count(call, p.offsets); p.out.count != segments)
        throw Error(ErrorCode::invalid_argument, call,
                    "out must have " + std::to_string(segments) + " elements, one less than offsets, got " +
                        std::to_string(p.out.count));
    check_input_overlap(call, {"out", p.out}, "in", in);
    check_input_overlap(call, {"out", p.out}, "offsets", Input(p.offsets));
    const Row<SegmentedReduceProblem>& row = choose(call, table, stream.device(), p, options);
    if (p.out.count > 0) {
        if (p.in.count == 0) {
            // Without elements the results are the identity.
            const std::array<std::byte, 8> identity = canonical_bytes(p.identity, p.out.type);
            stream.fill(*p.out.buffer, p.out.offset, p.out.bytes(), identity.data(), size_of(p.out.type));
        } else {
            row.run(stream, p);
        }
    }
    return enqueued(stream, row, p);
}

Enqueued segmented_reduce(Stream& stream, const Input& in, const View& offsets, const View& out, ReduceOp op,
                          const Options& options) {
    check_elements("segmented_reduce", "in", in.view);
    return segmented_reduce(stream, segmented_reduce_problem(in, offsets, out, op), options);
}

}  // namespace detail

constinit const Algorithm segmented_reduce_algorithm{
    .name = "segmented_reduce",
    .summary = "out[s] = the elements from offsets[s] to offsets[s + 1] combined by op",
    .variants = detail::variants,
    .tunables = detail::tunables};

Enqueued segmented_reduce(Stream& stream, const View& in, const View& offsets, const View& out, ReduceOp op,
                          const Options& options) {
    return detail::segmented_reduce(stream, detail::Input(in), offsets, out, op, options);
}

}  // namespace concord
