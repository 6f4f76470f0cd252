#include "compact_sources.hpp"
#include "compact_table.hpp"

#include "compact_move.hpp"

#include <concord/internal/calibration.hpp>
#include <concord/internal/launch.hpp>
#include <concord/internal/lookback.hpp>
#include <concord/tuning.hpp>

namespace concord {

namespace detail {
namespace {

constexpr u32 pack_bytes = 16;
constexpr u32 rows = 4, lookback_rows = 8;
constexpr u64 most_chunks = 4096;  // limit, because one group scans the counts of all chunks

constexpr Tunable waves{.name = "compact.waves",
                        .summary = "largest number of groups in waves of resident groups, fused",
                        .used_by = {TunableUser::cuda, TunableUser::opencl},
                        .values = {1, 2, 4, 8, 16}};
constexpr Tunable groups_a_unit{.name = "compact.groups",
                                .summary = "largest number of groups per thread, fused",
                                .used_by = {TunableUser::opencl_single_item, TunableUser::host},
                                .values = {4, 8, 16, 32, 64}};
constexpr Tunable group_kib{.name = "compact.group_kib",
                            .summary = "smallest KiB of data per group",
                            .used_by = {TunableUser::opencl_single_item, TunableUser::host},
                            .values = {64, 128, 256, 512, 1024, 4096}};
constexpr Tunable resident_groups{.name = "compact.lookback_resident",
                                  .summary = "groups per unit that the register limit allows, lookback",
                                  .used_by = {TunableUser::cuda},
                                  .values = {3, 4, 5, 6, 8}};
constexpr Tunable tile_kib{.name = "compact.tile_kib",
                           .summary = "KiB per tile, two_pass",
                           .used_by = {TunableUser::host},
                           .values = {8, 16, 32, 64, 128}};
constexpr Tunable stream_kib = stream_tunable("compact.stream_kib");

TuningPoint point_of(const CompactProblem& p) {
    return {p.in.type, p.in.count};
}

const KernelSource& source(CompactSource which) {
    switch (which) {
        case CompactSource::steps:
            return kernel_sources::compact_steps();
        case CompactSource::lookback:
            return kernel_sources::compact_lookback();
        case CompactSource::wide:
            return kernel_sources::compact_wide();
        case CompactSource::fused:
            break;
    }
    return kernel_sources::compact();
}

u32 past_cache(const Device& device, const CompactProblem& p) {
    return stores_past_cache(device, stream_kib, point_of(p), p.in.bytes() + p.out.bytes());
}

// --- fused ----------------------------------------------------------------------------------------------------------

// Accesses of 16 bytes in flight per work-item. `lookback` has more of them, because they do not take registers.
u32 rows_of(CompactSource which) {
    return which == CompactSource::lookback ? lookback_rows : rows;
}

// Tiles from the 16-byte boundary at or before the input, and the number of elements from there to the input.
struct Tiles {
    u64 count;
    u32 shift;
};

Tiles tiles_of(const CompactProblem& p, CompactSource which) {
    const u64 size = size_of(p.in.type), pack = pack_bytes / size;
    const u32 shift = static_cast<u32>(p.in.offset / size % pack);
    return {divide_up(p.in.count + shift, u64{compact_group} * rows_of(which) * pack), shift};
}

// Elements per group, or tiles per group where groups have many work-items.
struct Chunks {
    u64 groups;
    u64 length;
    u32 shift = 0;
};

// One for small inputs, because waking threads costs more.
u64 most_groups(const Device& device, const CompactProblem& p) {
    const u64 least_bytes = tuned(device, group_kib, point_of(p), least_group_kib(device.traits())) << 10;
    return std::max<u64>(1, p.in.bytes() / least_bytes);
}

Chunks chunks_of(const Device& device, const CompactProblem& p, const Kernel& kernel) {
    const DeviceTraits& traits = device.traits();
    const u64 n = p.in.count;
    if (!traits.many_items) {
        // Some groups per thread.
        const u64 each = tuned(device, groups_a_unit, point_of(p), 16);
        const u64 most = std::min<u64>({most_groups(device, p), traits.units * each, most_chunks});
        const u64 length = divide_up(divide_up(n, most), 1024) * 1024;
        return {divide_up(n, length), length};
    }
    const auto [tiles, shift] = tiles_of(p, CompactSource::fused);
    // A few waves of resident groups.
    const i64 resident = kernel.attributes().groups_per_unit;
    const u64 wave = (resident > 0 ? static_cast<u64>(resident) : 8) * traits.units;
    const u64 most = wave * tuned(device, waves, point_of(p), 4);
    const u64 length = divide_up(tiles, std::min({tiles, most, most_chunks}));
    return {divide_up(tiles, length), length, shift};
}

// Launches 1 and 2: count the kept elements of each chunk, then turn the counts into offsets and their total.
void launch_offsets(Stream& stream, const CompactProblem& p, const Chunks& chunks, const View& offsets) {
    Device& device = stream.device();
    const bool many = device.traits().many_items;
    const CompactSource which = many ? CompactSource::fused : CompactSource::wide;
    const u32 group_size = many ? compact_group : 1;
    const auto count = compact_kernel(device, p, which, "compact_count", &CompactKernels::count);
    const auto sum = compact_kernel(device, p, which, "compact_offsets", &CompactKernels::offsets);
    const LaunchShape shape = LaunchShape::linear(chunks.groups, group_size);
    if (many) {
        launch(stream, *count, shape, p.in, offsets, p.in.count, chunks.shift, chunks.length, p.values);
    } else if (device.traits().compiles_source) {
        launch(stream, *count, shape, p.in, offsets, p.in.count, chunks.length, p.values);
    } else {
        launch(stream, *count, shape, p.in, offsets, p.in.count, chunks.length, size_of(p.in.type),
               compact_block_function(device, p).argument(), p.values);
    }
    launch(stream, *sum, LaunchShape::linear(1, group_size), offsets, p.count, chunks.groups);
}

void run_fused(Stream& stream, const CompactProblem& p) {
    Device& device = stream.device();
    const bool many = device.traits().many_items;
    const CompactSource which = many ? CompactSource::fused : CompactSource::wide;
    const auto write = compact_kernel(device, p, which, "compact_write", &CompactKernels::write);
    const Chunks chunks = chunks_of(device, p, *write);
    const auto buffer = stream.scratch(chunks.groups * sizeof(u64));
    const View offsets{buffer.get(), 0, chunks.groups, Type::u64};
    launch_offsets(stream, p, chunks, offsets);
    const LaunchShape shape = LaunchShape::linear(chunks.groups, many ? compact_group : 1);
    if (many) {
        launch(stream, *write, shape, p.in, p.out, offsets, p.count, p.in.count, chunks.shift, chunks.length,
               p.values);
    } else if (device.traits().compiles_source) {
        launch(stream, *write, shape, p.in, p.out, offsets, p.count, p.in.count, chunks.length,
               past_cache(device, p), p.values);
    } else {
        launch(stream, *write, shape, p.in, p.out, offsets, p.count, p.in.count, chunks.length,
               past_cache(device, p), u32{p.partition}, compact_block_function(device, p).argument(),
               p.values);
    }
}

// --- lookback -------------------------------------------------------------------------------------------------------

// Bytes of local memory for the elements of a tile: one part per warp, with room for one more pack.
constexpr u64 lookback_parts = compact_group / 32 * (u64{32} * lookback_rows + 1) * pack_bytes;

void run_lookback(Stream& stream, const CompactProblem& p) {
    Device& device = stream.device();
    const auto kernel = compact_kernel(device, p, CompactSource::lookback, "compact_lookback", nullptr);
    const auto [tiles, shift] = tiles_of(p, CompactSource::lookback);
    const Lookback lookback(stream, tiles, p.in.count >> 32 != 0 ? 8 : 4);
    launch(stream, *kernel, LaunchShape::linear(tiles, compact_group, lookback_parts), p.in, p.out, p.count,
           lookback.view, p.in.count, shift, static_cast<u32>(tiles), u32{p.in_place()}, p.values);
}

// --- On the CPU -----------------------------------------------------------------------------------------------------

void run_two_pass(Stream& stream, const CompactProblem& p) {
    Device& device = stream.device();
    const auto kernel =
        compact_kernel(device, p, CompactSource::wide, "compact_two_pass", &CompactKernels::two_pass);
    const u64 n = p.in.count, size = size_of(p.in.type);
    constexpr u64 slack = detail::host::compress_slack;
    // Two tiles fit the first-level cache. With many threads tiles are larger, because turns pass from tile to
    // tile.
    const u64 tile_bytes = tuned(device, tile_kib, point_of(p), device.traits().units <= 8 ? 16 : 64) << 10;
    const u64 tile = tile_bytes / size, tiles = divide_up(n, tile);
    const u64 groups = std::min<u64>({tiles, device.traits().units, most_groups(device, p)});
    if (p.partition) {
        const Chunks chunks = chunks_of(device, p, *kernel);
        const auto buffer = stream.scratch(chunks.groups * sizeof(u64));
        launch_offsets(stream, p, chunks, {buffer.get(), 0, chunks.groups, Type::u64});
    }
    const u64 local = (p.partition ? 2 : 1) * (tile_bytes + slack);
    launch(stream, *kernel, LaunchShape::linear(groups, 1, local), p.in, p.out, p.count, n, tile,
           past_cache(device, p), u32{p.partition}, compact_block_function(device, p).argument(), p.values);
}

void run_serial(Stream& stream, const CompactProblem& p) {
    Device& device = stream.device();
    const auto kernel =
        compact_kernel(device, p, CompactSource::wide, "compact_serial", &CompactKernels::serial);
    launch(stream, *kernel, LaunchShape::linear(1, 1), p.in, p.out, p.count, p.in.count, u32{p.partition},
           compact_block_function(device, p).argument(), p.values);
}

// --- The table ------------------------------------------------------------------------------------------------------

Support supports_fused(const Device& device, const CompactProblem& p) {
    if (Support group = supports_group(device, device.traits().many_items ? compact_group : 1); !group)
        return group;
    return supports_keep(device, p);
}

Support supports_lookback(const Device& device, const CompactProblem& p) {
    if (p.partition) return Support::no("does not support partition; use the variant 'fused'");
    if (Support waiting = supports_waiting(device); !waiting) return waiting;
    if (Support fence = supports_device_fence(device); !fence) return fence;
    if (!device.traits().many_items)
        return Support::no("requires a device that prefers many work-items per group; " +
                           device.info().selector + " prefers one");
    if (const u64 tiles = tiles_of(p, CompactSource::lookback).count; tiles > ~u32{0})
        return Support::no("supports fewer than 2^32 tiles, got " + std::to_string(tiles));
    // The parts, an exchange of 64-bit counts and one of totals between lanes, and the totals before the tile.
    if (Support local = supports_local_memory(device, lookback_parts + 16 * compact_group + 256); !local)
        return local;
    return supports_fused(device, p);
}

// Without shuffles, lanes exchange values through local memory.
bool suits_lookback(const Device& device, const CompactProblem& /*p*/) {
    return device.traits().shuffles;
}

// In one group `two_pass` reads the elements once.
bool suits_fused(const Device& device, const CompactProblem& p) {
    return !device.traits().serial_groups || most_groups(device, p) > 1;
}

struct CompactRow {
    Variant variant;
    Required<Support(const Device&, const CompactProblem&)> supports_apart;
    Required<void(Stream&, const CompactProblem&)> run;
    bool in_place = false;  // every element is read before its place is overwritten
    bool (*suits)(const Device&, const CompactProblem&) = nullptr;

    Support supports(const Device& device, const CompactProblem& p) const {
        if (p.in_place() && !in_place)
            return Support::no("does not support in-place operation; pass a distinct output");
        return supports_apart(device, p);
    }
};

constexpr CompactRow table[] = {
    {.variant =
         {.name = "lookback",
          .summary = "one pass: each tile is ranked in its group, decoupled look-back gives its offset",
          .dialects = {Dialect::cuda, Dialect::opencl},
          .order = OperationOrder::canonical,
          .source =
              "D. Merrill, M. Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, 2016"},
     .supports_apart = supports_lookback,
     .run = run_lookback,
     .in_place = true,
     .suits = suits_lookback},
    {.variant = {.name = "fused",
                 .summary = "count, scan, write: three launches; flags stay in registers",
                 .dialects = {Dialect::cuda, Dialect::opencl, Dialect::host},
                 .order = OperationOrder::canonical,
                 .source = "D. Merrill, A. Grimshaw, Parallel Scan for Stream Architectures, 2009"},
     .supports_apart = supports_fused,
     .run = run_fused,
     .suits = suits_fused},
    // Faster than `fused` in one group, and in more groups if every thread has a core, but then far slower if a thread
    // is descheduled during its turn.
    {.variant =
         {.name = "two_pass",
          .summary =
              "one pass: each thread compresses a tile into private memory, then stores it in tile order",
          .dialects = {Dialect::host},
          .order = OperationOrder::canonical,
          .source = "Concord; after D. Merrill, M. Garland, 2016"},
     .supports_apart = supports_keep,
     .run = run_two_pass,
     .in_place = true},
    {.variant = {.name = "scan_scatter",
                 .summary = "flags, their exclusive scan, scatter; one launch each",
                 .dialects = {Dialect::cuda, Dialect::opencl, Dialect::host},
                 .order = OperationOrder::canonical,
                 .source = "G. Blelloch, Prefix Sums and Their Applications, 1990"},
     .supports_apart = supports_scan_scatter,
     .run = run_compact_scan_scatter},
    {.variant = {.name = "serial",
                 .summary = "one loop on one thread",
                 .dialects = {Dialect::host},
                 .order = OperationOrder::canonical,
                 .source = "textbook"},
     .supports_apart = supports_keep,
     .run = run_serial,
     .in_place = true},
};

constexpr auto variants = variants_of(table);
constexpr const Tunable* tunables[] = {&waves,           &groups_a_unit, &group_kib,
                                       &resident_groups, &tile_kib,      &stream_kib};

// Keeps all of f32. A second group starts at twice the input per group.
void calibrate(Calibration& calibration) {
    auto keep = [&](u64 bytes) {
        const u64 n = bytes / sizeof(f32);
        concord::compact(calibration.stream(), calibration.operand(0, Type::f32, n),
                         calibration.operand(1, Type::f32, n), calibration.operand(2, Type::u64, 1),
                         Keep::less(f32{1}));
    };
    calibration.add_threshold(group_kib, keep, {}, 2048);
    calibration.add_threshold(stream_kib, [&](u64 bytes) { keep(bytes / 2); });
}

void check(const char* call, Stream& stream, const CompactProblem& p) {
    check_operand(call, "in", stream, p.in);
    check_output(call, "out", stream, p.out);
    check_output(call, "count", stream, p.count);
    auto refuse = [call](const std::string& what) { throw Error(ErrorCode::invalid_argument, call, what); };
    check_same_type(call, {{"in", p.in.type}, {"out", p.out.type}});
    if (p.out.count < p.in.count)
        refuse("out is too short, got " + std::to_string(p.out.count) + " elements for " +
               std::to_string(p.in.count) + " of in; pass at least as many");
    if (p.count.type != Type::u64 || p.count.count != 1)
        refuse("count must be one u64, got " + std::to_string(p.count.count) + " elements of " +
               std::string(name_of(p.count.type)));
    check_overlap(call, {"out", p.out}, {"in", p.in}, p.partition ? InPlace::no : InPlace::yes);
    check_overlap(call, {"count", p.count}, {"in", p.in});
    check_overlap(call, {"count", p.count}, {"out", p.out});
}

// `auto` would give the reason of the first variant, which may be another one.
void check_in_place(const Device& device, const CompactProblem& p) {
    for (const CompactRow& row : table) {
        if (row.in_place && supports_dialect(device, row.variant) && row.supports(device, p)) return;
    }
    throw Error(
        ErrorCode::unsupported, "compact",
        "no variant supports in-place operation on " + device.info().selector + "; pass a distinct output");
}

}  // namespace

Support supports_keep(const Device& device, const CompactProblem& p) {
    if (Support op = supports_operator(device, p.op, p.host); !op) return op;
    return supports_type(device, p.in.type);
}

std::shared_ptr<Kernel> compact_kernel(Device& device, const CompactProblem& p, CompactSource which,
                                       const char* entry, HostKernel CompactKernels::*host) {
    // A kernel that does not access the elements, or does not call the predicate, is compiled once with a built-in
    // predicate.
    const bool of_counts = host == &CompactKernels::offsets;
    const bool of_flags = host == &CompactKernels::scatter;
    const Type type = of_counts ? Type::u32 : of_flags ? bits_of_size(size_of(p.in.type)) : p.in.type;
    const Operator& op = of_counts || of_flags ? builtin(KeepRule::nonzero, type) : p.op;
    // Constants that only some sources use.
    const bool partition = p.partition && host == &CompactKernels::write;
    const bool counts_far = p.in.count >> 32 != 0 && which == CompactSource::lookback;
    const u64 resident = which == CompactSource::lookback && device.traits().bounds_registers
                             ? tuned(device, resident_groups, point_of(p), 6)
                             : 1;
    const std::string as_type = "as_" + std::string(opencl_name(type)) + "(x)";
    KernelSpec spec{.source = &source(which),
                    .entry = entry,
                    .constants = {{"T", type},
                                  {"B", bits_of_size(size_of(type))},
                                  {"AS_T(x)", std::string_view(as_type)},
                                  {"SIZE", size_of(type)},
                                  {"GROUP", compact_group},
                                  {"PACK", pack_bytes / size_of(type)},
                                  {"ROWS", rows_of(which)},
                                  {"PARTITION", partition},
                                  {"RESIDENT", resident},
                                  {"COUNT", counts_far ? Type::u64 : Type::u32}},
                    .op = &op,
                    .max_group_size = which == CompactSource::wide ? 1 : compact_group};
    if (which == CompactSource::lookback)
        spec.constants.append(std::initializer_list<Constant>{
            {"TILES", 1}, {"TOTAL", counts_far ? Type::u64 : Type::u32}, {"JOIN(op, x, y)", "((x) + (y))"}});
    if (host != nullptr) spec.host = compact_kernels(size_of(p.in.type)).*host;
    return device.kernel(spec);
}

host::BlockFunction compact_block_function(const Device& device, const CompactProblem& p) {
    const HostIsa isa = device.traits().host_isa;
    return {.entry = p.host->entry(isa), .isa = isa};
}

Enqueued compact(Stream& stream, const CompactProblem& p, const Options& options) {
    const char* call = p.partition ? "partition" : "compact";
    check(call, stream, p);
    if (p.in_place() && options.variant == "auto") check_in_place(stream.device(), p);
    const CompactRow& row = choose_tuned(call, table, stream.device(), p, point_of(p), options);
    if (p.in.count == 0) {
        const u64 none = 0;
        stream.fill(*p.count.buffer, p.count.offset, sizeof none, &none, sizeof none);
    } else {
        row.run(stream, p);
    }
    return enqueued(stream, row, p);
}

Enqueued compact(Stream& stream, const View& in, const View& out, const View& count, const Keep& keep,
                 Others others, const Options& options) {
    const bool partition = others == Others::behind;
    const char* call = partition ? "partition" : "compact";
    const std::string rule(name_of(keep.rule)), type(name_of(in.type));
    if (is_float(in.type) && (keep.rule == KeepRule::even || keep.rule == KeepRule::odd))
        throw Error(ErrorCode::invalid_argument, call, "rule '" + rule + "' requires integers, got " + type);
    if (has_operand(keep.rule) && keep.operand_type != in.type)
        throw Error(ErrorCode::invalid_argument, call,
                    "rule '" + rule + "' requires an operand of " + type + ", got " +
                        (keep.operand_type ? std::string(name_of(*keep.operand_type)) : "none"));
    return visit_type(in.type, [&](auto tag) {
        using T = typename decltype(tag)::type;
        T limit;
        std::memcpy(&limit, keep.operand.data(), sizeof limit);
        const auto bound = static_cast<detail::host::keep::Operand<T>>(limit);
        static constexpr std::array<std::byte, 4> no_values{};
        const ValueBytes values{has_operand(keep.rule) ? std::as_bytes(std::span(&bound, 1))
                                                       : std::span<const std::byte>(no_values)};
        return compact(stream,
                       {.in = in,
                        .out = out,
                        .count = count,
                        .op = builtin(keep.rule, in.type),
                        .values = values,
                        .host = compact_builtin_host(keep.rule, in.type),
                        .partition = partition},
                       options);
    });
}

}  // namespace detail

constinit const Algorithm compact_algorithm{
    .name = "compact",
    .summary = "out = the elements of in for which a predicate holds, in order",
    .variants = detail::variants,
    .tunables = detail::tunables,
    .calibrate = detail::calibrate};

Enqueued compact(Stream& stream, const View& in, const View& out, const View& count, const Keep& keep,
                 const Options& options) {
    return detail::compact(stream, in, out, count, keep, detail::Others::dropped, options);
}

Enqueued partition(Stream& stream, const View& in, const View& out, const View& count, const Keep& keep,
                   const Options& options) {
    return detail::compact(stream, in, out, count, keep, detail::Others::behind, options);
}

}  // namespace concord
