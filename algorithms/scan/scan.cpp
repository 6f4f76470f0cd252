#include "scan_sources.hpp"
#include "scan_table.hpp"

#include <concord/internal/builtin_operator.hpp>
#include <concord/internal/calibration.hpp>
#include <concord/internal/launch.hpp>
#include <concord/internal/lookback.hpp>
#include <concord/tuning.hpp>

#include <algorithm>
#include <bit>
#include <iterator>

namespace concord {

namespace detail {
namespace {

constexpr u64 group_tile = u64{scan_group} * 16;
constexpr u64 wide_tile = detail::host::scan_tile;

const KernelSource& source(ScanSource from) {
    switch (from) {
        case ScanSource::tiles:
            return kernel_sources::scan();
        case ScanSource::lookback:
            return kernel_sources::scan_lookback();
        case ScanSource::fallback:
            return kernel_sources::scan_fallback();
        case ScanSource::wide:
            return kernel_sources::scan_wide();
        default:
            return kernel_sources::scan_steps();
    }
}

// Specialisation of `lookback`: tiles per group, and resident groups per multiprocessor, for which the compiler
// limits registers. Measured on an H200: many tiles per group have more loads in flight, few keep all multiprocessors
// busy.
struct LookbackShape {
    u32 tiles, resident;
};

constexpr Tunable lookback_tiles{.name = "scan.lookback_tiles",
                                 .summary = "tiles per group of lookback",
                                 .used_by = {TunableUser::cuda, TunableUser::opencl},
                                 .values = {1, 2, 4}};
constexpr Tunable lookback_resident{.name = "scan.lookback_resident",
                                    .summary = "resident groups per unit for which lookback limits registers",
                                    .used_by = {TunableUser::cuda},
                                    .values = {2, 3, 4, 6, 8}};
constexpr Tunable group_kib{.name = "scan.group_kib",
                            .summary = "minimum input per group of partitioned, in KiB",
                            .used_by = {TunableUser::opencl_single_item, TunableUser::host},
                            .values = {128, 256, 512, 1024, 2048, 4096}};
constexpr Tunable stream_kib = stream_tunable("scan.stream_kib");

TuningPoint point_of(const ScanProblem& p) {
    return {p.type(), p.in.count};
}

u32 past_cache(const Device& device, const ScanProblem& p) {
    return stores_past_cache(device, stream_kib, point_of(p), 2 * p.in.bytes());
}

LookbackShape default_shape(Type type, u64 n) {
    if (n < u64{1} << 24) return {1, 4};
    switch (size_of(type)) {
        case 1:
            return {2, 8};
        case 2:
            return {2, 6};
        case 4:
            return {4, 2};
        default:
            return {2, 2};
    }
}

// scan_kernel() with that shape. Only kernels with many work-items per group use it.
std::shared_ptr<Kernel> shaped_kernel(Device& device, const ScanProblem& p, ScanSource from,
                                      const char* entry, HostKernel ScanHost::*host,
                                      const LookbackShape& shape) {
    const Type type = p.type();
    KernelSpec spec{.source = &source(from),
                    .entry = entry,
                    .constants = {{"T", type},
                                  {"SIZE", size_of(type)},
                                  {"GROUP", scan_group},
                                  {"TILES", shape.tiles},
                                  {"RESIDENT", shape.resident}},
                    .op = &p.op,
                    .max_group_size = from == ScanSource::wide ? 1 : scan_group};
    std::string sixteen, as_type, as_bits;
    if (from == ScanSource::lookback) {
        const Type bits = bits_of_size(size_of(type));
        as_type = "as_" + std::string(opencl_name(type)) + "(x)";
        as_bits = "as_" + std::string(opencl_name(bits)) + "(x)";
        spec.constants.append(std::initializer_list<Constant>{{"B", bits},
                                                              {"AS_T(x)", std::string_view(as_type)},
                                                              {"AS_B(x)", std::string_view(as_bits)},
                                                              {"TOTAL", type},
                                                              {"JOIN(op, x, y)", "apply(op, x, y)"}});
    }
    if (from == ScanSource::wide && device.traits().compiles_source &&
        p.op.hash == builtin(ReduceOp::sum, type).hash) {
        sixteen = std::string(opencl_name(type)) + "16";
        spec.constants.push_back({"T16", std::string_view(sixteen)});
    }
    if (p.host != nullptr && host != nullptr) spec.host = p.host->*host;
    return device.kernel(spec);
}

LookbackShape lookback_shape(const Device& device, const ScanProblem& p) {
    const LookbackShape shape = default_shape(p.type(), p.in.count);
    const u64 resident = device.traits().bounds_registers
                             ? tuned(device, lookback_resident, point_of(p), shape.resident)
                             : shape.resident;
    return {static_cast<u32>(tuned(device, lookback_tiles, point_of(p), shape.tiles)),
            static_cast<u32>(resident)};
}

void run_lookback(Stream& stream, const ScanProblem& p) {
    const LookbackShape shape = lookback_shape(stream.device(), p);
    const auto scan =
        shaped_kernel(stream.device(), p, ScanSource::lookback, "scan_lookback", nullptr, shape);
    const u64 n = p.in.count, tiles = divide_up(n, group_tile);
    const u64 groups = divide_up(tiles, shape.tiles);
    const Lookback lookback(stream, tiles, size_of(p.type()));
    launch(stream, *scan, LaunchShape::linear(groups, scan_group), p.in, p.out, lookback.view, n,
           static_cast<u32>(tiles), p.exclusive(), p.identity, p.values);
}

// The totals of all levels above the tiles, and for each a flag that it is published, initially zero. At least one of
// each.
struct Totals {
    Totals(Stream& stream, u64 tiles, Type type) : count(lookback_totals(tiles) + 1) {
        total_buffer = stream.scratch(count * size_of(type));
        flag_buffer = stream.scratch(count * sizeof(u32));
        totals = {total_buffer.get(), 0, count, type};
        flags = {flag_buffer.get(), 0, count, Type::u32};
        const u32 zero = 0;
        if (tiles > 1) stream.fill(*flag_buffer, 0, flags.bytes(), &zero, sizeof zero);
    }
    u64 count;
    std::shared_ptr<Buffer> total_buffer, flag_buffer;
    View totals, flags;
};

void run_lookback_fallback(Stream& stream, const ScanProblem& p) {
    const auto scan = scan_kernel(stream.device(), p, ScanSource::fallback, "scan_fallback");
    const u64 n = p.in.count, tiles = divide_up(n, group_tile);
    const Totals above(stream, tiles, p.type());
    launch(stream, *scan, LaunchShape::linear(tiles, scan_group), p.in, p.out, above.totals, above.flags, n,
           static_cast<u32>(tiles), p.exclusive(), p.identity, p.values);
}

// Computes the tiles' totals, their exclusive scan by the same rule, and then the tiles.
void run_reduce_then_scan(Stream& stream, const ScanProblem& p) {
    Device& device = stream.device();
    const bool wide = !device.traits().many_items;
    const ScanSource from = wide ? ScanSource::wide : ScanSource::tiles;
    const u64 n = p.in.count, tiles = divide_up(n, wide ? wide_tile : group_tile);
    const LaunchShape shape = LaunchShape::linear(tiles, wide ? 1 : scan_group);
    const auto buffer = stream.scratch(tiles * size_of(p.type()));
    const View carries{buffer.get(), 0, tiles, p.type()};
    if (tiles > 1) {
        const auto totals = scan_kernel(device, p, from, "scan_totals");
        launch(stream, *totals, shape, p.in, carries, n, p.identity, p.values);
        run_reduce_then_scan(stream, {.in = carries,
                                      .out = carries,
                                      .op = p.op,
                                      .values = p.values,
                                      .identity = p.identity,
                                      .kind = ScanKind::exclusive,
                                      .host = p.host});
    }
    const auto scan = scan_kernel(device, p, from, "scan_tiles");
    if (wide) {
        launch(stream, *scan, shape, p.in, carries, p.out, n, p.exclusive(), past_cache(device, p),
               p.identity, p.values);
    } else {
        launch(stream, *scan, shape, p.in, carries, p.out, n, p.exclusive(), p.identity, p.values);
    }
}

// Groups take tiles by ticket. One group while the input is small, because waking a thread costs more.
void run_partitioned(Stream& stream, const ScanProblem& p) {
    Device& device = stream.device();
    const auto scan = scan_kernel(device, p, ScanSource::wide, "scan_partitioned", &ScanHost::partitioned);
    const u64 n = p.in.count, tiles = divide_up(n, wide_tile);
    const Totals above(stream, tiles, p.type());
    const u64 least_bytes = tuned(device, group_kib, point_of(p), 512) << 10;
    const u64 most = std::max<u64>(1, p.in.bytes() / least_bytes);
    const u64 groups = std::min<u64>({tiles, most, device.traits().units});
    launch(stream, *scan, LaunchShape::linear(groups, 1), p.in, p.out, above.totals, above.flags, n,
           p.exclusive(), past_cache(device, p), p.identity, p.values);
}

void run_serial(Stream& stream, const ScanProblem& p) {
    const auto serial = scan_kernel(stream.device(), p, ScanSource::wide, "scan_serial", &ScanHost::serial);
    launch(stream, *serial, LaunchShape::linear(1, 1), p.in, p.out, p.in.count, p.exclusive(), p.identity,
           p.values);
}

Support supports_any(const Device& device, const ScanProblem& p) {
    if (Support op = supports_operator(device, p.op, p.host); !op) return op;
    return supports_type(device, p.type());
}

// On the host these kernels are compiled on request only.
Support supports_groups(const Device& device, const ScanProblem& p) {
    if (Support group = supports_group(device, scan_group); !group) return group;
    if (Support any = supports_any(device, p); !any || p.host == nullptr) return any;
    return supports_textbook(device, "scan", p.op, p.host->step);
}

Support supports_partitioned(const Device& device, const ScanProblem& p) {
    if (device.traits().many_items)
        return Support::no("requires a device that prefers one work-item per group; " +
                           device.info().selector + " prefers many");
    if (Support waiting = supports_waiting(device); !waiting) return waiting;
    return supports_any(device, p);
}

Support supports_local(const Device& device, const ScanProblem& p, u64 bytes) {
    if (Support local = supports_local_memory(device, bytes); !local) return local;
    return supports_groups(device, p);
}

Support supports_tiles(const ScanProblem& p) {
    const u64 tiles = divide_up(p.in.count, group_tile);
    if (tiles < u64{1} << 32) return {};
    return Support::no("supports at most 2^32 - 1 tiles of " + std::to_string(group_tile) +
                       " elements, got " + std::to_string(tiles));
}

Support supports_lookback(const Device& device, const ScanProblem& p) {
    if (Support tiles = supports_tiles(p); !tiles) return tiles;
    if (!device.traits().many_items)
        return Support::no("requires a device that prefers many work-items per group; " +
                           device.info().selector + " prefers one");
    if (Support waiting = supports_waiting(device); !waiting) return waiting;
    if (Support fence = supports_device_fence(device); !fence) return fence;
    // Totals of the blocks and nodes of four tiles, an exchange between lanes, and the totals before the tiles.
    constexpr u64 room = 4 * (scan_group + 16) + scan_group + 16;
    return supports_local(device, p, room * size_of(p.type()) + 64);
}

// Elements of local memory per group: a tile, its padding, and the totals of its blocks and nodes.
constexpr u64 tile_room = group_tile / 16 * 17 + scan_group + 16;

Support supports_reduce_then_scan(const Device& device, const ScanProblem& p) {
    if (!device.traits().many_items) return supports_any(device, p);
    return supports_local(device, p, tile_room * size_of(p.type()));
}

Support supports_lookback_fallback(const Device& device, const ScanProblem& p) {
    if (overlap(p.in, p.out))
        return Support::no("does not support in-place operation; pass a distinct output");
    if (Support fence = supports_device_fence(device); !fence) return fence;
    if (Support tiles = supports_tiles(p); !tiles) return tiles;
    constexpr u64 looked_at = 128;
    const u64 room = tile_room + looked_at + scan_group + 16 + 1;
    return supports_local(device, p, room * size_of(p.type()) + (looked_at + 2) * sizeof(u32) + 64);
}

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

struct ScanRow {
    Variant variant;
    Required<Support(const Device&, const ScanProblem&)> supports;
    Required<void(Stream&, const ScanProblem&)> run;
    bool (*suits)(const Device&, const ScanProblem&) = nullptr;
};

// A large array of bytes has many tiles. If it fits the cache, reading it twice is faster than that much look-back.
// Without shuffles, lanes exchange values through local memory.
bool suits_lookback(const Device& device, const ScanProblem& p) {
    constexpr u64 many = u64{1} << 22;
    if (!device.traits().shuffles) return false;
    return size_of(p.type()) > 1 || p.in.count < many || 2 * p.in.bytes() > device.traits().cache;
}

// Built-in operators on integers do not need the order of `partitioned`, which has more to prepare.
bool suits_serial(const Device& /*device*/, const ScanProblem& p) {
    if (is_float(p.type()) || p.in_parts || p.in.count > 512 * u64{size_of(p.type())}) return false;
    constexpr ReduceOp all[] = {ReduceOp::sum, ReduceOp::product, ReduceOp::min, ReduceOp::max};
    return std::any_of(std::begin(all), std::end(all),
                       [&](ReduceOp op) { return p.op.hash == builtin(op, p.type()).hash; });
}

// On GPUs three launches cost more than the redundant work of `lookback_fallback`. A few tiles take one launch.
bool suits_reduce_then_scan(const Device& device, const ScanProblem& p) {
    constexpr u64 few = 4 * group_tile, many = u64{1} << 18;
    return !device.traits().many_items || p.in.count <= few || p.in.count > many ||
           !supports_lookback_fallback(device, p);
}

constexpr ScanRow table[] = {
    {.variant = {.name = "lookback",
                 .summary = "one launch: tiles look back on a tree of totals instead of a chain of prefixes",
                 .dialects = {Dialect::cuda, Dialect::opencl},
                 .order = OperationOrder::canonical,
                 .longest_chain = canonical_chain,
                 .source = "after D. Merrill, M. Garland, 2016; the tree is Concord's"},
     .supports = supports_lookback,
     .run = run_lookback,
     .suits = suits_lookback},
    {.variant = {.name = "serial",
                 .summary = "one loop on one thread",
                 .dialects = {Dialect::host},
                 .order = OperationOrder::variant_specific,
                 .longest_chain = [](u64 n) { return n; },
                 .source = "textbook"},
     .supports = supports_any,
     .run = run_serial,
     .suits = suits_serial},
    {.variant = {.name = "partitioned",
                 .summary = "one launch: a task reduces a tile that fits its cache, looks back, and scans it",
                 .dialects = {Dialect::opencl, Dialect::host},
                 .order = OperationOrder::canonical,
                 .longest_chain = canonical_chain,
                 .source = "after D. Merrill, M. Garland, 2016; the tree is Concord's"},
     .supports = supports_partitioned,
     .run = run_partitioned},
    {.variant = {.name = "reduce_then_scan",
                 .summary = "three steps: totals of the tiles, scan of the totals, scan of the tiles",
                 .dialects = {Dialect::cuda, Dialect::opencl},
                 .order = OperationOrder::canonical,
                 .longest_chain = canonical_chain,
                 .source = "Y. Dotsenko et al., Fast Scan Algorithms on Graphics Processors, 2008"},
     .supports = supports_reduce_then_scan,
     .run = run_reduce_then_scan,
     .suits = suits_reduce_then_scan},
    {.variant = {.name = "lookback_fallback",
                 .summary = "as lookback, but a group that waits too long computes the missing totals",
                 .dialects = {Dialect::opencl},
                 .order = OperationOrder::canonical,
                 .longest_chain = canonical_chain,
                 .source = "T. Smith, R. Levien, J. D. Owens, Decoupled Fallback, 2025"},
     .supports = supports_lookback_fallback,
     .run = run_lookback_fallback},
    {.variant = {.name = "recursive_vector",
                 .summary = "as recursive, eight elements per work-item in registers",
                 .dialects = {Dialect::cuda, Dialect::opencl, Dialect::host},
                 .order = OperationOrder::variant_specific,
                 .longest_chain = [](u64 n) { return blocks_chain(n, 8 * scan_group, 8 + 8 + 1); },
                 .source = "M. Harris, S. Sengupta, J. Owens, GPU Gems 3, 2007"},
     .supports = supports_groups,
     .run = run_scan_recursive_vector},
    {.variant = {.name = "conflict_free",
                 .summary = "as recursive, with padding against bank conflicts",
                 .dialects = {Dialect::cuda, Dialect::opencl},
                 .order = OperationOrder::variant_specific,
                 .longest_chain = [](u64 n) { return blocks_chain(n, 2 * scan_group, 2 * 9 + 1); },
                 .source = "M. Harris, S. Sengupta, J. Owens, GPU Gems 3, 2007"},
     .supports = supports_groups,
     .run = run_scan_conflict_free},
    {.variant = {.name = "recursive",
                 .summary =
                     "scans blocks with a tree in local memory, their sums recursively, then adds offsets",
                 .dialects = {Dialect::cuda, Dialect::opencl, Dialect::host},
                 .order = OperationOrder::variant_specific,
                 .longest_chain = [](u64 n) { return blocks_chain(n, 2 * scan_group, 2 * 9 + 1); },
                 .source = "M. Harris, S. Sengupta, J. Owens, GPU Gems 3, 2007"},
     .supports = supports_groups,
     .run = run_scan_recursive},
    {.variant = {.name = "brent_kung",
                 .summary = "scans blocks with an upward and a downward tree, their sums recursively",
                 .dialects = {Dialect::cuda, Dialect::opencl, Dialect::host},
                 .order = OperationOrder::variant_specific,
                 .longest_chain = [](u64 n) { return blocks_chain(n, 2 * scan_group, 2 * 9); },
                 .source = "R. P. Brent, H. T. Kung, A Regular Layout for Parallel Adders, 1982"},
     .supports = supports_groups,
     .run = run_scan_brent_kung},
    {.variant = {.name = "kogge_stone",
                 .summary = "scans blocks in log n steps of all work-items, their sums recursively",
                 .dialects = {Dialect::cuda, Dialect::opencl, Dialect::host},
                 .order = OperationOrder::variant_specific,
                 .longest_chain = [](u64 n) { return blocks_chain(n, scan_group, 8); },
                 .source = "P. M. Kogge, H. S. Stone, 1973"},
     .supports = supports_groups,
     .run = run_scan_kogge_stone},
    {.variant = {.name = "blelloch",
                 .summary = "up-sweep and down-sweep in global memory, one launch per level",
                 .dialects = {Dialect::cuda, Dialect::opencl, Dialect::host},
                 .order = OperationOrder::variant_specific,
                 .longest_chain = [](u64 n) { return 2 * log2_up(n) + 1; },
                 .source = "G. Blelloch, Prefix Sums and Their Applications, 1990"},
     .supports = supports_groups,
     .run = run_scan_blelloch},
    {.variant = {.name = "hillis_steele",
                 .summary = "log n passes over global memory",
                 .dialects = {Dialect::cuda, Dialect::opencl, Dialect::host},
                 .order = OperationOrder::variant_specific,
                 .longest_chain = [](u64 n) { return log2_up(n); },
                 .source = "W. D. Hillis, G. L. Steele, Data Parallel Algorithms, 1986"},
     .supports = supports_groups,
     .run = run_scan_hillis_steele},
};

constexpr auto variants = variants_of(table);
constexpr const Tunable* tunables[] = {&lookback_tiles, &lookback_resident, &group_kib, &stream_kib};

// Sums of f32. A second group starts at twice the input per group.
void calibrate(Calibration& calibration) {
    auto sum = [&](u64 bytes) {
        const u64 n = bytes / sizeof(f32);
        concord::scan(calibration.stream(), calibration.operand(0, Type::f32, n),
                      calibration.operand(1, Type::f32, n));
    };
    calibration.add_threshold(group_kib, sum, {}, 2048);
    calibration.add_threshold(stream_kib, [&](u64 bytes) { sum(bytes / 2); });
}

}  // namespace

std::shared_ptr<Kernel> scan_kernel(Device& device, const ScanProblem& p, ScanSource from, const char* entry,
                                    HostKernel ScanHost::*host) {
    const u64 n = from == ScanSource::tiles ? p.in.count : 0;
    return shaped_kernel(device, p, from, entry, host, default_shape(p.type(), n));
}

Enqueued scan(Stream& stream, const ScanProblem& p, const Options& options) {
    check_operand("scan", "in", stream, p.in);
    check_output("scan", "out", stream, p.out);
    if (p.in.count != p.out.count)
        throw Error(ErrorCode::invalid_argument, "scan",
                    "in and out must have the same element count, got " + std::to_string(p.in.count) +
                        " and " + std::to_string(p.out.count));
    check_same_type("scan", {{"in", p.in.type}, {"out", p.out.type}});
    check_overlap("scan", {"out", p.out}, {"in", p.in}, InPlace::yes);
    const ScanRow& row = choose_tuned("scan", table, stream.device(), p, point_of(p), options);
    if (p.in.count > 0) row.run(stream, p);
    return enqueued(stream, row, p);
}

u64 scan_tile(const Device& device) {
    return device.traits().many_items ? group_tile : wide_tile;
}

void scan_totals(Stream& stream, const ScanProblem& p) {
    const bool wide = !stream.device().traits().many_items;
    const auto totals = scan_kernel(stream.device(), p, wide ? ScanSource::wide : ScanSource::tiles,
                                    "scan_totals", &ScanHost::totals);
    launch(stream, *totals,
           LaunchShape::linear(divide_up(p.in.count, scan_tile(stream.device())), wide ? 1 : scan_group),
           p.in, p.out, p.in.count, p.identity, p.values);
}

Enqueued scan_in_parts(Stream& stream, const ScanProblem& p, const Options& options) {
    ScanProblem part = p;
    part.in_parts = true;
    const ScanRow& row = choose("scan", table, stream.device(), part, options);
    if (row.variant.order != OperationOrder::canonical)
        throw_unsupported_variant(
            "scan", row.variant.name, stream.device(),
            "does not support an input in parts, because its partial scans do not combine to the whole scan",
            {choose("scan", table, stream.device(), part, {}).variant.name});
    return enqueued(stream, row, part);
}

ScanProblem scan_problem(const View& in, const View& out, ReduceOp op, ScanKind kind) {
    return {.in = in,
            .out = out,
            .op = builtin(op, in.type),
            .values = builtin_values(op, in.type),
            .identity = builtin_identity(op, in.type),
            .kind = kind,
            .host = &scan_builtin(op, in.type)};
}

ScanBefore scan_before(Type type, ReduceOp op) {
    return visit_type(type, [&](auto tag) {
        using T = typename decltype(tag)::type;
        return scan_before(static_cast<Wrapping<T>>(identity_of<T>(op)),
                           SelectedOp{.op = op, .is_signed = std::is_signed_v<T>});
    });
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
