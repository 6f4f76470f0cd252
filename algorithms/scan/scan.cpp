#include "scan_sources.hpp"
#include "scan_variants.hpp"

#include <concord/internal/builtin_operator.hpp>
#include <concord/internal/input.hpp>
#include <concord/internal/launch.hpp>

#include <algorithm>
#include <bit>
#include <iterator>

namespace concord {

namespace detail {
namespace {

// --- Textbook variants and serial -----------------------------------------------------------------------------------

std::shared_ptr<Kernel> step_kernel(Device& device, const ScanProblem& p, const char* entry) {
    return scan_kernel(device, p, kernel_sources::scan_steps(), entry, scan_group);
}

// The first `count` elements of a scratch buffer, in the problem's type.
View elements(const std::shared_ptr<Buffer>& buffer, u64 count, const ScanProblem& p) {
    return {buffer.get(), 0, count, p.type()};
}

// Scans blocks of `block` elements, then the blocks' sums by the same kernels, and combines each block with its
// carry.
void run_blocks(Stream& stream, const ScanProblem& p, const char* entry, u64 block) {
    Device& device = stream.device();
    const auto scan = step_kernel(device, p, entry);
    const u64 n = p.in.count, groups = divide_up(n, block);
    const auto buffer = stream.scratch(groups * size_of(p.type()));
    const View sums = elements(buffer, groups, p);
    launch(stream, *scan, LaunchShape::linear(groups, scan_group), p.in, p.out, sums, n, p.exclusive(),
           p.identity, p.values);
    if (groups == 1) return;
    run_blocks(stream,
               {.in = sums,
                .out = sums,
                .op = p.op,
                .values = p.values,
                .identity = p.identity,
                .kind = ScanKind::exclusive,
                .host = p.host},
               entry, block);
    const auto offsets = step_kernel(device, p, "scan_offsets");
    launch_elements(stream, *offsets, n, scan_group, p.values, p.out, sums, n, block);
}

void run_hillis_steele(Stream& stream, const ScanProblem& p) {
    Device& device = stream.device();
    const auto step = step_kernel(device, p, "scan_step");
    const u64 n = p.in.count;
    View x = p.in;
    std::shared_ptr<Buffer> from, to;  // alternate
    u64 distance = 1;
    do {  // at least once: the step stores canonical NaNs
        if (!to) to = stream.scratch(p.in.bytes());
        const View y = elements(to, n, p);
        launch_elements(stream, *step, n, scan_group, p.values, x, y, n, distance);
        x = y;
        std::swap(from, to);
        distance *= 2;
    } while (distance < n);
    if (p.kind == ScanKind::exclusive) {
        const auto shift = step_kernel(device, p, "scan_shift");
        launch_elements(stream, *shift, n, scan_group, p.values, x, p.out, n, p.identity);
    } else {
        stream.copy(*p.out.buffer, p.out.offset, *x.buffer, x.offset, x.bytes());
    }
}

void run_blelloch(Stream& stream, const ScanProblem& p) {
    Device& device = stream.device();
    const u64 n = p.in.count, whole = std::bit_ceil(n);
    const u32 size = size_of(p.type());
    const auto up = step_kernel(device, p, "scan_up_sweep");
    const auto down = step_kernel(device, p, "scan_down_sweep");
    const auto buffer = stream.scratch(whole * size);
    const View x = elements(buffer, whole, p);
    stream.copy(*buffer, 0, *p.in.buffer, p.in.offset, p.in.bytes());
    if (whole > n) stream.fill(*buffer, n * size, (whole - n) * size, p.identity.bytes.data(), size);
    for (u64 distance = 1; distance < whole; distance *= 2) {
        const u64 nodes = whole / (2 * distance);
        launch_elements(stream, *up, nodes, scan_group, p.values, x, nodes, distance);
    }
    const std::array<std::byte, 8> root = canonical_bytes(p.identity, p.type());
    stream.fill(*buffer, (whole - 1) * size, size, root.data(), size);
    for (u64 distance = whole / 2; distance > 0; distance /= 2) {
        const u64 nodes = whole / (2 * distance);
        launch_elements(stream, *down, nodes, scan_group, p.values, x, nodes, distance);
    }
    if (p.kind == ScanKind::exclusive) {
        stream.copy(*p.out.buffer, p.out.offset, *buffer, 0, p.out.bytes());
    } else {
        const auto join = step_kernel(device, p, "scan_join");
        launch_elements(stream, *join, n, scan_group, p.values, x, p.in, p.out, n);
    }
}

void run_kogge_stone(Stream& stream, const ScanProblem& p) {
    run_blocks(stream, p, "scan_kogge_stone", scan_group);
}

void run_brent_kung(Stream& stream, const ScanProblem& p) {
    run_blocks(stream, p, "scan_brent_kung", 2 * scan_group);
}

void run_recursive(Stream& stream, const ScanProblem& p) {
    run_blocks(stream, p, "scan_recursive", 2 * scan_group);
}

void run_conflict_free(Stream& stream, const ScanProblem& p) {
    run_blocks(stream, p, "scan_conflict_free", 2 * scan_group);
}

void run_recursive_vector(Stream& stream, const ScanProblem& p) {
    run_blocks(stream, p, "scan_recursive_vector", 8 * scan_group);
}

void run_serial(Stream& stream, const ScanProblem& p) {
    const auto serial = host_kernel_of(stream.device(), "scan_serial", p.host->serial);
    launch(stream, *serial, LaunchShape::linear(1, 1), p.in, p.out, p.in.count, p.exclusive(), p.identity,
           p.values);
}

// Built-in operators on integers do not need the order of `partitioned`. On elements of 4 and 8 bytes its single group
// reads the input twice. On smaller ones it has more to prepare.
bool suits_serial(const Device& device, const ScanProblem& p) {
    constexpr u64 few = 4096;
    if (is_float(p.type()) || p.in_parts || p.expression) return false;
    const bool is_small =
        size_of(p.type()) < 4 ? p.in.count <= few : p.in.bytes() < 2 * scan_group_bytes(device, p);
    if (!is_small) return false;
    constexpr ReduceOp all[] = {ReduceOp::sum, ReduceOp::product, ReduceOp::min, ReduceOp::max};
    return std::any_of(std::begin(all), std::end(all),
                       [&](ReduceOp op) { return p.op.hash == builtin(op, p.type()).hash; });
}

// --- The table -------------------------------------------------------------------------------------------------------

// Five operations per factor of 16: four in the network and one with the carry.
u64 canonical_chain(u64 n) {
    u64 depth = 5;
    for (; n > 16; n = divide_up(n, 16))
        depth += 5;
    return depth;
}

// Blocks of `block` elements with a chain of `depth` operations each, and one more operation per level to combine.
u64 blocks_chain(u64 n, u64 block, u64 depth) {
    u64 total = depth;
    for (; n > block; n = divide_up(n, block))
        total += depth + 1;
    return total;
}

u64 log2_up(u64 n) {
    return static_cast<u64>(std::bit_width(std::max<u64>(n, 1) - 1));
}

constexpr auto table = table_of<ScanProblem>({
    {.variant = {.name = "lookback",
                 .summary = "one launch: tiles look back on a tree of totals instead of a chain of prefixes",
                 .order = OperationOrder::canonical,
                 .longest_chain = canonical_chain,
                 .source = "after D. Merrill, M. Garland, 2016; the tree is Concord's"},
     .groups = {run_scan_lookback, supports_scan_lookback, suits_scan_lookback},
     .computes_input = true},
    {.variant = {.name = "serial",
                 .summary = "one loop on one thread",
                 .order = OperationOrder::variant_specific,
                 .longest_chain = [](u64 n) { return n; },
                 .source = "textbook"},
     .host = {run_serial, supports_problem, suits_serial}},
    {.variant = {.name = "partitioned",
                 .summary = "one launch: a task reduces a tile that fits its cache, looks back, and scans it",
                 .order = OperationOrder::canonical,
                 .longest_chain = canonical_chain,
                 .source = "after D. Merrill, M. Garland, 2016; the tree is Concord's"},
     .single_items = {run_scan_partitioned, supports_scan_partitioned},
     .host = {run_scan_partitioned_host, supports_scan_partitioned},
     .computes_input = true},
    {.variant = {.name = "reduce_then_scan",
                 .summary = "three steps: totals of the tiles, scan of the totals, scan of the tiles",
                 .order = OperationOrder::canonical,
                 .longest_chain = canonical_chain,
                 .source = "Y. Dotsenko et al., Fast Scan Algorithms on Graphics Processors, 2008"},
     .groups = {run_scan_reduce_then_scan, supports_scan_reduce_then_scan, suits_scan_reduce_then_scan},
     .single_items = {run_scan_reduce_then_scan_wide, supports_problem},
     .computes_input = true},
    {.variant = {.name = "lookback_fallback",
                 .summary = "as lookback, but a group that waits too long computes the missing totals",
                 .dialects = {Dialect::opencl},
                 .order = OperationOrder::canonical,
                 .longest_chain = canonical_chain,
                 .source = "T. Smith, R. Levien, J. D. Owens, Decoupled Fallback, 2025"},
     .groups = {run_scan_lookback_fallback, supports_scan_lookback_fallback},
     .single_items = {run_scan_lookback_fallback, supports_scan_lookback_fallback}},
    {.variant = {.name = "recursive_vector",
                 .summary = "as recursive, eight elements per work-item in registers",
                 .order = OperationOrder::variant_specific,
                 .longest_chain = [](u64 n) { return blocks_chain(n, 8 * scan_group, 8 + 8 + 1); },
                 .source = "M. Harris, S. Sengupta, J. Owens, GPU Gems 3, 2007"},
     .groups = {run_recursive_vector, supports_problem_in<scan_group>},
     .single_items = {run_recursive_vector, supports_problem_in<scan_group>}},
    {.variant = {.name = "conflict_free",
                 .summary = "as recursive, with padding against bank conflicts",
                 .order = OperationOrder::variant_specific,
                 .longest_chain = [](u64 n) { return blocks_chain(n, 2 * scan_group, 2 * 9 + 1); },
                 .source = "M. Harris, S. Sengupta, J. Owens, GPU Gems 3, 2007"},
     .groups = {run_conflict_free, supports_problem_in<scan_group>},
     .single_items = {run_conflict_free, supports_problem_in<scan_group>}},
    {.variant = {.name = "recursive",
                 .summary =
                     "scans blocks with a tree in local memory, their sums recursively, then adds offsets",
                 .order = OperationOrder::variant_specific,
                 .longest_chain = [](u64 n) { return blocks_chain(n, 2 * scan_group, 2 * 9 + 1); },
                 .source = "M. Harris, S. Sengupta, J. Owens, GPU Gems 3, 2007"},
     .groups = {run_recursive, supports_problem_in<scan_group>},
     .single_items = {run_recursive, supports_problem_in<scan_group>}},
    {.variant = {.name = "brent_kung",
                 .summary = "scans blocks with an upward and a downward tree, their sums recursively",
                 .order = OperationOrder::variant_specific,
                 .longest_chain = [](u64 n) { return blocks_chain(n, 2 * scan_group, 2 * 9); },
                 .source = "R. P. Brent, H. T. Kung, A Regular Layout for Parallel Adders, 1982"},
     .groups = {run_brent_kung, supports_problem_in<scan_group>},
     .single_items = {run_brent_kung, supports_problem_in<scan_group>}},
    {.variant = {.name = "kogge_stone",
                 .summary = "scans blocks in log n steps of all work-items, their sums recursively",
                 .order = OperationOrder::variant_specific,
                 .longest_chain = [](u64 n) { return blocks_chain(n, scan_group, 8); },
                 .source = "P. M. Kogge, H. S. Stone, 1973"},
     .groups = {run_kogge_stone, supports_problem_in<scan_group>},
     .single_items = {run_kogge_stone, supports_problem_in<scan_group>}},
    {.variant = {.name = "blelloch",
                 .summary = "up-sweep and down-sweep in global memory, one launch per level",
                 .order = OperationOrder::variant_specific,
                 .longest_chain = [](u64 n) { return 2 * log2_up(n) + 1; },
                 .source = "G. Blelloch, Prefix Sums and Their Applications, 1990"},
     .groups = {run_blelloch, supports_problem_in<scan_group>},
     .single_items = {run_blelloch, supports_problem_in<scan_group>}},
    {.variant = {.name = "hillis_steele",
                 .summary = "log n passes over global memory",
                 .order = OperationOrder::variant_specific,
                 .longest_chain = [](u64 n) { return log2_up(n); },
                 .source = "W. D. Hillis, G. L. Steele, Data Parallel Algorithms, 1986"},
     .groups = {run_hillis_steele, supports_problem_in<scan_group>},
     .single_items = {run_hillis_steele, supports_problem_in<scan_group>}},
});

constexpr auto variants = variants_of(table);
constexpr const Tunable* tunables[] = {&scan_lookback_tiles, &scan_lookback_resident, &scan_group_kib,
                                       &scan_stream_kib};

// Sums of f32. A second group starts at twice the input per group.
void calibrate(Calibration& calibration) {
    auto sum = [&](u64 bytes) {
        const u64 n = bytes / sizeof(f32);
        concord::scan(calibration.stream(), calibration.operand(0, Type::f32, n),
                      calibration.operand(1, Type::f32, n));
    };
    calibration.add_threshold(scan_group_kib, sum, {}, 2048);
    calibration.add_threshold(scan_stream_kib, [&](u64 bytes) { sum(bytes / 2); });
}

}  // namespace

std::shared_ptr<Kernel> scan_kernel(Device& device, const ScanProblem& p, const KernelSource& source,
                                    const char* entry, u32 group_size, const Constants& constants) {
    KernelSpec spec{.source = &with_input(source, p.input()),
                    .entry = entry,
                    .constants = {{"T", p.type()}, {"SIZE", size_of(p.type())}, {"GROUP", group_size}},
                    .op = &p.op,
                    .max_group_size = group_size};
    spec.constants.append(constants);
    return device.kernel(spec);
}

std::shared_ptr<Kernel> scan_group_kernel(Device& device, const ScanProblem& p, const KernelSource& source,
                                          const char* entry, u64 tiles, u64 resident) {
    const Type type = p.type(), bits = bits_of_size(size_of(type));
    const std::string as_type = "as_" + std::string(opencl_name(type)) + "(x)",
                      as_bits = "as_" + std::string(opencl_name(bits)) + "(x)";
    return scan_kernel(device, p, source, entry, scan_group,
                       {{"TILES", tiles},
                        {"RESIDENT", resident},
                        {"B", bits},
                        {"AS_T(x)", as_type},
                        {"AS_B(x)", as_bits},
                        {"TOTAL", type},
                        {"JOIN(op, x, y)", "apply(op, x, y)"}});
}

std::shared_ptr<Kernel> scan_wide_kernel(Device& device, const ScanProblem& p, const char* entry) {
    const std::string sixteen = std::string(opencl_name(p.type())) + "16";
    Constants constants;
    if (p.op.hash == builtin(ReduceOp::sum, p.type()).hash) constants.push_back({"T16", sixteen});
    return scan_kernel(device, p, kernel_sources::scan_wide(), entry, 1, constants);
}

Enqueued scan(Stream& stream, const ScanProblem& p, const Options& options) {
    const Input in = p.input();
    check_input("scan", "in", stream, in);
    check_output("scan", "out", stream, p.out);
    if (p.in.count != p.out.count)
        throw Error(ErrorCode::invalid_argument, "scan",
                    "in and out must have the same element count, got " + std::to_string(p.in.count) +
                        " and " + std::to_string(p.out.count));
    check_same_type("scan", {{"in", p.in.type}, {"out", p.out.type}});
    check_input_overlap("scan", {"out", p.out}, "in", in, InPlace::yes);
    // Tables name variants for ranges.
    const Row<ScanProblem>& row = in.node
                                      ? choose("scan", table, stream.device(), p, options)
                                      : choose_tuned("scan", table, stream.device(), p, point_of(p), options);
    if (p.in.count == 0) return enqueued(stream, row, p);
    if (in.node && !row.computes_input) {
        std::shared_ptr<Buffer> room;
        row.run(stream, p.on(materialized(stream, in, room), p.out));
    } else {
        row.run(stream, p);
    }
    return enqueued(stream, row, p);
}

Enqueued scan_in_parts(Stream& stream, const ScanProblem& p, const Options& options) {
    ScanProblem part = p;
    part.in_parts = true;
    const Row<ScanProblem>& row = choose("scan", table, stream.device(), part, options);
    if (row.variant.order != OperationOrder::canonical)
        throw_unsupported_variant(
            "scan", row.variant.name, stream.device(),
            Support::no("does not support an input in parts, because its partial scans do not combine to the "
                        "whole scan"),
            {choose("scan", table, stream.device(), part, {}).variant.name});
    return enqueued(stream, row, part);
}

ScanProblem scan_problem(const Input& in, const View& out, ReduceOp op, ScanKind kind) {
    check_elements("scan", "in", in.view);
    const Type type = in.view.type;
    return {.in = in.view,
            .out = out,
            .op = builtin(op, type),
            .values = builtin_values(op, type),
            .identity = builtin_identity(op, type),
            .kind = kind,
            .host = &scan_builtin(type),
            .expression = in.node};
}

}  // namespace detail

std::string_view name_of(ScanKind kind) {
    return kind == ScanKind::inclusive ? "inclusive" : "exclusive";
}

constinit const Algorithm scan_algorithm{.name = "scan",
                                         .summary = "out[i] = in[0] op in[1] op ... op in[i]",
                                         .variants = detail::variants,
                                         .tunables = detail::tunables,
                                         .calibrate = detail::calibrate};

Enqueued scan(Stream& stream, const View& in, const View& out, ReduceOp op, ScanKind kind,
              const Options& options) {
    return detail::scan(stream, detail::scan_problem(in, out, op, kind), options);
}

}  // namespace concord
