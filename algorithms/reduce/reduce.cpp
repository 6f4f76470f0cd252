#include "reduce_sources.hpp"
#include "reduce_table.hpp"

#include <concord/internal/builtin_operator.hpp>
#include <concord/internal/calibration.hpp>
#include <concord/internal/launch.hpp>
#include <concord/stream_memory.hpp>
#include <concord/tuning.hpp>

#include <bit>

namespace concord {

namespace detail {
namespace {

constexpr u32 loads_in_flight = 8;

constexpr Tunable waves{.name = "reduce.waves",
                        .summary = "maximum number of groups, in waves of resident groups",
                        .used_by = {TunableUser::cuda, TunableUser::opencl},
                        .values = {1, 2, 4, 8, 16, 1 << 20}};
constexpr Tunable groups_a_unit{.name = "reduce.groups",
                                .summary = "maximum number of groups per thread",
                                .used_by = {TunableUser::opencl_single_item, TunableUser::host},
                                .values = {4, 8, 16, 32, 64}};
constexpr Tunable group_kib{.name = "reduce.group_kib",
                            .summary = "minimum input per group, in KiB",
                            .used_by = {TunableUser::opencl_single_item, TunableUser::host},
                            .values = {64, 128, 256, 512, 1024, 4096}};

TuningPoint point_of(const ReduceProblem& p) {
    return {p.in.type, p.in.count};
}

const KernelSource& source(ReduceSource from) {
    return from == ReduceSource::steps  ? kernel_sources::reduce_steps()
           : from == ReduceSource::wide ? kernel_sources::reduce_wide()
                                        : kernel_sources::reduce();
}

// Which levels of the tree a call reduces.
enum class Levels { all, first };

// The first level: reduces chunks of `length` elements to their sums. The buffer of sums has room for the second
// level, which follows if all levels are reduced.
struct ReduceLevel {
    u64 length, chunks, upper;
    Levels levels;
    std::shared_ptr<Buffer> buffer;
    View sums;

    ReduceLevel(Stream& stream, const ReduceProblem& p, u64 length, Levels levels)
        : length(length),
          chunks(std::max<u64>(1, divide_up(p.in.count, length))),
          upper(canonical_chunk(chunks)),
          levels(levels) {
        const u64 room = chunks + divide_up(chunks, upper);
        buffer = stream.scratch(room * size_of(p.in.type));
        sums = {buffer.get(), 0, room, p.in.type};
    }
    // Whether the last group of the launch reduces the upper levels. A single group always does.
    bool finish(const DeviceTraits& traits, u64 groups) const {
        return groups == 1 || (traits.device_fence && levels == Levels::all);
    }
    // Whether the upper levels need a launch of their own.
    bool needs_upper(bool finish) const { return !finish && levels == Levels::all; }
};

// Reduces the upper levels in a launch of their own, for devices without a fence between groups.
void run_upper(Stream& stream, const ReduceProblem& p, ReduceSource from, u32 group_size,
               const ReduceLevel& level) {
    const auto upper = reduce_kernel(stream.device(), p, from, "reduce_upper", &ReduceHost::fixed);
    launch(stream, *upper, LaunchShape::linear(1, group_size), level.sums, p.out, level.chunks, level.upper,
           p.identity, p.values);
}

// One work-item per group, which reduces a run of consecutive chunks.
void run_wide(Stream& stream, const ReduceProblem& p, const ReduceLevel& level) {
    Device& device = stream.device();
    const DeviceTraits& traits = device.traits();
    const auto wide = reduce_kernel(device, p, ReduceSource::wide, "reduce_wide", &ReduceHost::fixed);
    const u64 n = p.in.count, chunks = level.chunks;
    // One group while the input is small, because waking a thread costs more. Then a few groups per thread.
    const u64 least_bytes = tuned(device, group_kib, point_of(p), least_group_kib(traits)) << 10,
              each = tuned(device, groups_a_unit, point_of(p), 16);
    const u64 most = std::max<u64>(1, p.in.bytes() / least_bytes);
    const u64 run = divide_up(chunks, std::min<u64>({chunks, most, traits.units * each}));
    const u64 groups = divide_up(chunks, run);
    const View ticket{&zero_counters(stream), 0, 1, Type::u32};
    const bool finish = level.finish(traits, groups);
    launch(stream, *wide, LaunchShape::linear(groups, 1), p.in, p.out, level.sums, ticket, n, level.length,
           level.upper, run, u32{finish}, p.identity, p.values);
    if (level.needs_upper(finish)) run_upper(stream, p, ReduceSource::wide, 1, level);
}

void run_level(Stream& stream, const ReduceProblem& p, const ReduceLevel& level) {
    Device& device = stream.device();
    const DeviceTraits& traits = device.traits();
    if (!traits.many_items) return run_wide(stream, p, level);
    const auto fixed = reduce_kernel(device, p, ReduceSource::fixed, "reduce_fixed", &ReduceHost::fixed);
    const u64 n = p.in.count, chunks = level.chunks;
    // One wave of resident groups that share the chunks evenly. With work for more than 8 waves, each warp reduces one
    // chunk, and the hardware balances the load.
    const u64 all = divide_up(chunks, reduce_group / 32);
    const i64 resident = fixed->attributes().groups_per_unit;
    const u64 wave = resident > 0 ? static_cast<u64>(resident) * traits.units : all;
    const u64 some = tuned(device, waves, point_of(p), all > 8 * wave ? 1 << 20 : 1);
    const u64 groups = std::min(all, wave * some);
    const View ticket{&zero_counters(stream), 0, 1, Type::u32};
    const LaunchShape shape = LaunchShape::linear(groups, reduce_group);
    const bool finish = level.finish(traits, groups);
    launch(stream, *fixed, shape, p.in, p.out, level.sums, ticket, n, level.length, level.upper, u32{finish},
           p.identity, p.values);
    if (level.needs_upper(finish)) run_upper(stream, p, ReduceSource::fixed, reduce_group, level);
}

void run_fixed(Stream& stream, const ReduceProblem& p) {
    run_level(stream, p, ReduceLevel(stream, p, canonical_chunk(p.in.count), Levels::all));
}

Support supports_any(const Device& device, const ReduceProblem& p) {
    if (Support op = supports_operator(device, p.op, p.host); !op) return op;
    return supports_type(device, p.in.type);
}

// On the host these kernels are compiled on request only.
Support supports_steps(const Device& device, const ReduceProblem& p) {
    if (Support group = supports_group(device, reduce_group); !group) return group;
    if (Support any = supports_any(device, p); !any || p.host == nullptr) return any;
    return supports_textbook(device, "reduce", p.op, p.host->first_add);
}

Support supports_fixed(const Device& device, const ReduceProblem& p) {
    return device.traits().many_items ? supports_steps(device, p) : supports_any(device, p);
}

Support supports_shuffle(const Device& device, const ReduceProblem& p) {
    const DeviceTraits& traits = device.traits();
    if (!traits.shuffles) return Support::no(device.info().selector + " has no sub-group shuffles");
    // One sub-group reduces the sums of all sub-groups.
    constexpr u32 min_width = 16;
    static_assert(min_width * min_width == reduce_group);
    if (!std::has_single_bit(traits.sub_group_width) || traits.sub_group_width < min_width)
        return Support::no("requires sub-groups of a power of two of at least " + std::to_string(min_width) +
                           " work-items; " + device.info().selector + " has sub-groups of " +
                           std::to_string(traits.sub_group_width));
    return supports_steps(device, p);
}

// The longest chain of a variant in which a group reduces `factor` elements with a chain of `depth` operations.
u64 levels_depth(u64 n, u64 factor, u64 depth) {
    u64 total = 0;
    do {
        n = std::max<u64>(1, divide_up(n, factor));
        total += depth;
    } while (n > 1);
    return total;
}

struct ReduceRow {
    Variant variant;
    Required<Support(const Device&, const ReduceProblem&)> supports;
    Required<void(Stream&, const ReduceProblem&)> run;
};

constexpr std::string_view harris = "M. Harris, Optimizing Parallel Reduction in CUDA, 2007";

constexpr ReduceRow table[] = {
    {.variant = {.name = "fixed",
                 .summary = "one launch: a warp reduces a chunk (CPU: a task a run of chunks), the last "
                            "group reduces the chunks' sums",
                 .dialects = {Dialect::cuda, Dialect::opencl, Dialect::host},
                 .order = OperationOrder::canonical,
                 .longest_chain = canonical_depth,
                 .source = "Concord; tree after M. Harris, 2007"},
     .supports = supports_fixed,
     .run = run_fixed},
    {.variant = {.name = "shuffle",
                 .summary = "adds two elements at load, then uses sub-group shuffles",
                 .dialects = {Dialect::cuda, Dialect::opencl},
                 .order = OperationOrder::unspecified,
                 .longest_chain = [](u64 n) { return levels_depth(n, 2 * reduce_group, 12); },
                 .source = "J. Luitjens, Faster Parallel Reductions on Kepler, 2014"},
     .supports = supports_shuffle,
     .run = run_reduce_shuffle},
    {.variant = {.name = "first_add",
                 .summary = "adds two elements at load, then halves the active work-items in local memory",
                 .dialects = {Dialect::cuda, Dialect::opencl, Dialect::host},
                 .order = OperationOrder::variant_specific,
                 .longest_chain = [](u64 n) { return levels_depth(n, 2 * reduce_group, 9); },
                 .source = harris},
     .supports = supports_steps,
     .run = run_reduce_first_add},
    {.variant = {.name = "sequential",
                 .summary = "tree in local memory with contiguous active work-items",
                 .dialects = {Dialect::cuda, Dialect::opencl, Dialect::host},
                 .order = OperationOrder::variant_specific,
                 .longest_chain = [](u64 n) { return levels_depth(n, reduce_group, 8); },
                 .source = harris},
     .supports = supports_steps,
     .run = run_reduce_sequential},
    {.variant = {.name = "interleaved",
                 .summary = "tree in local memory with divergent active work-items (index modulo stride)",
                 .dialects = {Dialect::cuda, Dialect::opencl, Dialect::host},
                 .order = OperationOrder::variant_specific,
                 .longest_chain = [](u64 n) { return levels_depth(n, reduce_group, 8); },
                 .source = harris},
     .supports = supports_steps,
     .run = run_reduce_interleaved},
    {.variant = {.name = "global_tree",
                 .summary = "tree in global memory on a copy of the input, one launch per level",
                 .dialects = {Dialect::cuda, Dialect::opencl, Dialect::host},
                 .order = OperationOrder::variant_specific,
                 .longest_chain = [](u64 n) { return static_cast<u64>(std::bit_width(n)); },
                 .source = "textbook"},
     .supports = supports_steps,
     .run = run_reduce_global_tree},
    {.variant = {.name = "serial",
                 .summary = "one loop on one thread",
                 .dialects = {Dialect::host},
                 .order = OperationOrder::variant_specific,
                 .longest_chain = [](u64 n) { return n; },
                 .source = "textbook"},
     .supports = supports_any,
     .run = run_reduce_serial},
};

constexpr auto variants = variants_of(table);
constexpr const Tunable* tunables[] = {&waves, &groups_a_unit, &group_kib};

// Sums of f32. A second group starts at twice the input per group.
void calibrate(Calibration& calibration) {
    auto sum = [&](u64 bytes) {
        concord::reduce(calibration.stream(), calibration.operand(0, Type::f32, bytes / sizeof(f32)),
                        calibration.operand(1, Type::f32, 1), ReduceOp::sum);
    };
    calibration.add_threshold(group_kib, sum, {}, 2048);
}

}  // namespace

std::shared_ptr<Kernel> reduce_kernel(Device& device, const ReduceProblem& p, ReduceSource from,
                                      const char* entry, HostKernel ReduceHost::*host) {
    const Type type = p.in.type;
    KernelSpec spec{.source = &source(from),
                    .entry = entry,
                    .constants = {{"T", type},
                                  {"SIZE", size_of(type)},
                                  {"GROUP", reduce_group},
                                  {"UNROLL", loads_in_flight}},
                    .op = &p.op,
                    .max_group_size = from == ReduceSource::wide ? 1 : reduce_group};
    if (p.host != nullptr) spec.host = p.host->*host;
    return device.kernel(spec);
}

Enqueued reduce(Stream& stream, const ReduceProblem& p, const Options& options) {
    check_operand("reduce", "in", stream, p.in);
    check_output("reduce", "out", stream, p.out);
    if (p.out.count != 1)
        throw Error(ErrorCode::invalid_argument, "reduce",
                    "out must have 1 element, got " + std::to_string(p.out.count));
    check_same_type("reduce", {{"in", p.in.type}, {"out", p.out.type}});
    check_overlap("reduce", {"out", p.out}, {"in", p.in});
    const ReduceRow& row = choose_tuned("reduce", table, stream.device(), p, point_of(p), options);
    if (p.in.count == 0) {
        // Without elements the result is the identity.
        u64 identity = 0;
        std::memcpy(&identity, p.identity.bytes.data(), p.identity.bytes.size());
        stream.fill(*p.out.buffer, p.out.offset, p.out.bytes(), &identity, size_of(p.out.type));
    } else {
        row.run(stream, p);
    }
    return enqueued(stream, row, p);
}

Enqueued reduce_chunks(Stream& stream, const ReduceProblem& p, u64 length, const Options& options) {
    check_operand("reduce", "in", stream, p.in);
    check_output("reduce", "out", stream, p.out);
    const ReduceRow& row = choose("reduce", table, stream.device(), p, options);
    if (&row != &table[0])
        throw_unsupported_variant(
            "reduce", row.variant.name, stream.device(),
            "does not support an input in parts, because its partial sums do not combine to the total",
            {table[0].variant.name});
    if (p.in.count == 0) return enqueued(stream, row, p);
    const ReduceLevel level(stream, p, length, Levels::first);
    ReduceProblem one = p;
    one.out.count = 1;
    run_level(stream, one, level);
    if (level.chunks > 1)
        stream.copy(*p.out.buffer, p.out.offset, *level.buffer, 0, level.chunks * size_of(p.in.type));
    return enqueued(stream, row, p);
}

ReduceProblem reduce_problem(const View& in, const View& out, ReduceOp op) {
    return {.in = in,
            .out = out,
            .op = builtin(op, in.type),
            .values = builtin_values(op, in.type),
            .identity = builtin_identity(op, in.type),
            .host = &reduce_builtin(op, in.type)};
}

}  // namespace detail

constinit const Algorithm reduce_algorithm{.name = "reduce",
                                           .summary = "out[0] = in[0] op in[1] op ... op in[n-1]",
                                           .variants = detail::variants,
                                           .tunables = detail::tunables,
                                           .calibrate = detail::calibrate};

Enqueued reduce(Stream& stream, const View& in, const View& out, ReduceOp op, const Options& options) {
    return detail::reduce(stream, detail::reduce_problem(in, out, op), options);
}

}  // namespace concord
