#include "reduce_sources.hpp"
#include "reduce_variants.hpp"

#include <concord/internal/builtin_operator.hpp>
#include <concord/internal/calibration.hpp>
#include <concord/internal/input.hpp>
#include <concord/internal/launch.hpp>

#include <algorithm>
#include <bit>
#include <iterator>

namespace concord {

namespace detail {
namespace {

constexpr u32 loads_in_flight = 8;

// --- Textbook variants and serial -----------------------------------------------------------------------------------

std::shared_ptr<Kernel> step_kernel(Device& device, const ReduceProblem& p, const char* entry) {
    return reduce_kernel(device, p, kernel_sources::reduce_steps(), entry, reduce_group);
}

// Reduces each `factor` elements to one, level by level, until one element is left. Two scratch buffers alternate.
void run_levels(Stream& stream, const ReduceProblem& p, const char* entry, u64 factor) {
    Device& device = stream.device();
    const auto step = step_kernel(device, p, entry);
    std::shared_ptr<Buffer> from, to;
    View in = p.in;
    while (true) {
        const u64 groups = divide_up(in.count, factor);
        View out = p.out;
        if (groups > 1) {
            to = stream.scratch(groups * size_of(in.type));
            out = {to.get(), 0, groups, in.type};
        }
        launch(stream, *step, LaunchShape::linear(groups, reduce_group), in, out, in.count, p.identity,
               p.values);
        if (groups == 1) return;
        in = out;
        from = std::move(to);
    }
}

void run_interleaved(Stream& stream, const ReduceProblem& p) {
    run_levels(stream, p, "reduce_interleaved", reduce_group);
}

void run_sequential(Stream& stream, const ReduceProblem& p) {
    run_levels(stream, p, "reduce_sequential", reduce_group);
}

void run_first_add(Stream& stream, const ReduceProblem& p) {
    run_levels(stream, p, "reduce_first_add", 2 * reduce_group);
}

void run_shuffle(Stream& stream, const ReduceProblem& p) {
    run_levels(stream, p, "reduce_shuffle", 2 * reduce_group);
}

void run_global_tree(Stream& stream, const ReduceProblem& p) {
    if (p.in.count == 1) return run_sequential(stream, p);  // no level of the tree would store the element
    Device& device = stream.device();
    const auto step = step_kernel(device, p, "reduce_global_step");
    const auto copy = stream.scratch(p.in.bytes());
    stream.copy(*copy, 0, *p.in.buffer, p.in.offset, p.in.bytes());
    const View x{copy.get(), 0, p.in.count, p.in.type};
    for (u64 n = p.in.count; n > 1;) {
        const u64 half = std::bit_ceil(n) / 2;
        launch_elements(stream, *step, n - half, reduce_group, p.values, x, n, half);
        n = half;
    }
    stream.copy(*p.out.buffer, p.out.offset, *copy, 0, size_of(p.in.type));
}

void run_serial(Stream& stream, const ReduceProblem& p) {
    const auto serial = host_kernel_of(stream.device(), "reduce_serial", p.host->serial);
    launch(stream, *serial, LaunchShape::linear(1, 1), p.in, p.out, p.in.count, p.identity, p.values);
}

// Built-in operators on integers do not need the order of `fixed`, whose tree takes longer than a few elements.
bool suits_serial(const Device& device, const ReduceProblem& p) {
    const u64 few_kib = tuned(device, reduce_group_kib, point_of(p), min_group_kib(device.traits()));
    if (is_float(p.type()) || p.expression || p.chunk != 0 || p.in.bytes() > few_kib << 10) return false;
    constexpr ReduceOp all[] = {ReduceOp::sum, ReduceOp::product, ReduceOp::min, ReduceOp::max};
    return std::any_of(std::begin(all), std::end(all),
                       [&](ReduceOp op) { return p.op.hash == builtin(op, p.type()).hash; });
}
bool suits_fixed_host(const Device& device, const ReduceProblem& p) {
    return !suits_serial(device, p);
}

// --- The table -------------------------------------------------------------------------------------------------------

Support supports_shuffle(const Device& device, const ReduceProblem& p) {
    const DeviceTraits& traits = device.traits();
    if (!traits.shuffles) return Support::no("{} has no sub-group shuffles", device.info().selector);
    // One sub-group reduces the sums of all sub-groups.
    constexpr u32 min_width = 16;
    static_assert(min_width * min_width == reduce_group);
    if (!std::has_single_bit(traits.sub_group_width) || traits.sub_group_width < min_width)
        return Support::no(
            "requires sub-groups of a power of two of at least {} work-items; {} has sub-groups of {}",
            min_width, device.info().selector, traits.sub_group_width);
    return supports_problem_in<reduce_group>(device, p);
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

constexpr std::string_view harris = "M. Harris, Optimizing Parallel Reduction in CUDA, 2007";

constexpr auto table = table_of<ReduceProblem>({
    {.variant = {.name = "fixed",
                 .summary = "one launch: a warp reduces a chunk (CPU: a task a run of chunks), the last "
                            "group reduces the chunks' sums",
                 .order = OperationOrder::canonical,
                 .longest_chain = canonical_depth,
                 .source = "Concord; tree after M. Harris, 2007"},
     .groups = {run_reduce_fixed, supports_problem_in<reduce_group>},
     .single_items = {run_reduce_fixed_wide, supports_problem},
     .host = {run_reduce_fixed_host, supports_problem, suits_fixed_host},
     .computes_input = true},
    {.variant = {.name = "serial",
                 .summary = "one loop on one thread",
                 .order = OperationOrder::variant_specific,
                 .longest_chain = [](u64 n) { return n; },
                 .source = "textbook"},
     .host = {run_serial, supports_problem, suits_serial}},
    {.variant = {.name = "shuffle",
                 .summary = "adds two elements at load, then uses sub-group shuffles",
                 .order = OperationOrder::unspecified,
                 .longest_chain = [](u64 n) { return levels_depth(n, 2 * reduce_group, 12); },
                 .source = "J. Luitjens, Faster Parallel Reductions on Kepler, 2014"},
     .groups = {run_shuffle, supports_shuffle},
     .single_items = {run_shuffle, supports_shuffle}},
    {.variant = {.name = "first_add",
                 .summary = "adds two elements at load, then halves the active work-items in local memory",
                 .order = OperationOrder::variant_specific,
                 .longest_chain = [](u64 n) { return levels_depth(n, 2 * reduce_group, 9); },
                 .source = harris},
     .groups = {run_first_add, supports_problem_in<reduce_group>},
     .single_items = {run_first_add, supports_problem_in<reduce_group>}},
    {.variant = {.name = "sequential",
                 .summary = "tree in local memory with contiguous active work-items",
                 .order = OperationOrder::variant_specific,
                 .longest_chain = [](u64 n) { return levels_depth(n, reduce_group, 8); },
                 .source = harris},
     .groups = {run_sequential, supports_problem_in<reduce_group>},
     .single_items = {run_sequential, supports_problem_in<reduce_group>}},
    {.variant = {.name = "interleaved",
                 .summary = "tree in local memory with divergent active work-items (index modulo stride)",
                 .order = OperationOrder::variant_specific,
                 .longest_chain = [](u64 n) { return levels_depth(n, reduce_group, 8); },
                 .source = harris},
     .groups = {run_interleaved, supports_problem_in<reduce_group>},
     .single_items = {run_interleaved, supports_problem_in<reduce_group>}},
    {.variant = {.name = "global_tree",
                 .summary = "tree in global memory on a copy of the input, one launch per level",
                 .order = OperationOrder::variant_specific,
                 .longest_chain = [](u64 n) { return static_cast<u64>(std::bit_width(n)); },
                 .source = "textbook"},
     .groups = {run_global_tree, supports_problem_in<reduce_group>},
     .single_items = {run_global_tree, supports_problem_in<reduce_group>}},
});

constexpr auto variants = variants_of(table);
constexpr const Tunable* tunables[] = {&reduce_waves, &reduce_groups, &reduce_group_kib};

// Sums of f32. A second group starts at twice the input per group.
void calibrate(Calibration& calibration) {
    auto sum = [&](u64 bytes) {
        concord::reduce(calibration.stream(), calibration.operand(0, Type::f32, bytes / sizeof(f32)),
                        calibration.operand(1, Type::f32, 1), ReduceOp::sum);
    };
    calibration.add_threshold(reduce_group_kib, sum, {}, 2048);
}

}  // namespace

std::shared_ptr<Kernel> reduce_kernel(Device& device, const ReduceProblem& p, const KernelSource& source,
                                      const char* entry, u32 group_size) {
    const Type type = p.in.type;
    return device.kernel({.source = &source,
                          .entry = entry,
                          .constants = {{"T", type},
                                        {"SIZE", size_of(type)},
                                        {"GROUP", group_size},
                                        {"UNROLL", loads_in_flight}},
                          .op = &p.op,
                          .max_group_size = group_size});
}

Enqueued reduce(Stream& stream, const ReduceProblem& p, const Options& options) {
    const Input in = p.input();
    check_input("reduce", "in", stream, in);
    check_output("reduce", "out", stream, p.out);
    if (p.out.count != 1)
        throw Error(ErrorCode::invalid_argument, "reduce",
                    "out must have 1 element, got " + std::to_string(p.out.count));
    check_same_type("reduce", {{"in", p.in.type}, {"out", p.out.type}});
    check_input_overlap("reduce", {"out", p.out}, "in", in);
    // Tables name variants for ranges.
    const Row<ReduceProblem>& row =
        in.node ? choose("reduce", table, stream.device(), p, options)
                : choose_tuned("reduce", table, stream.device(), p, point_of(p), options);
    if (p.in.count == 0) {
        // Without elements the result is the identity.
        const std::array<std::byte, 8> identity = canonical_bytes(p.identity, p.out.type);
        stream.fill(*p.out.buffer, p.out.offset, p.out.bytes(), identity.data(), size_of(p.out.type));
    } else if (in.node && !row.computes_input) {
        std::shared_ptr<Buffer> room;
        row.run(stream, p.on(materialized(stream, in, room), p.out));
    } else {
        row.run(stream, p);
    }
    return enqueued(stream, row, p);
}

Enqueued reduce_chunks(Stream& stream, const ReduceProblem& p, u64 length, const Options& options) {
    check_operand("reduce", "in", stream, p.in);
    check_output("reduce", "out", stream, p.out);
    ReduceProblem chunks = p;
    chunks.chunk = length;
    const Row<ReduceProblem>& row = choose("reduce", table, stream.device(), chunks, options);
    if (&row != &table[0])
        throw_unsupported_variant(
            "reduce", row.variant.name, stream.device(),
            Support::no("does not support an input in parts, because its partial sums do not combine to the "
                        "total"),
            {table[0].variant.name});
    if (p.in.count > 0) row.run(stream, chunks);
    return enqueued(stream, row, p);
}

ReduceProblem reduce_problem(const Input& in, const View& out, ReduceOp op) {
    check_elements("reduce", "in", in.view);
    const Type type = in.view.type;
    return {.in = in.view,
            .out = out,
            .op = builtin(op, type),
            .values = builtin_values(op, type),
            .identity = builtin_identity(op, type),
            .host = &reduce_builtin(op, type),
            .expression = in.node};
}

Enqueued reduce(Stream& stream, const Input& in, const View& out, ReduceOp op, const Options& options) {
    return reduce(stream, reduce_problem(in, out, op), options);
}

}  // namespace detail

constinit const Algorithm reduce_algorithm{.name = "reduce",
                                           .summary = "out[0] = in[0] op in[1] op ... op in[n-1]",
                                           .variants = detail::variants,
                                           .tunables = detail::tunables,
                                           .calibrate = detail::calibrate};

Enqueued reduce(Stream& stream, const View& in, const View& out, ReduceOp op, const Options& options) {
    return detail::reduce(stream, detail::Input(in), out, op, options);
}

}  // namespace concord
