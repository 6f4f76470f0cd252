#include "transpose_sources.hpp"
#include "transpose_table.hpp"

#include <concord/internal/launch.hpp>
#include <concord/internal/shape.hpp>
#include <concord/map.hpp>
#include <concord/tuning.hpp>

#include <bit>
#include <string>

namespace concord {

namespace detail {
namespace {

// Sizes and pitches of in and out in row-major layout.
struct TransposeShape {
    u64 rows, columns, in_pitch, out_pitch;
};

// A call as the kernels see it: in and out have an unsigned type, pitches are not 0.
struct TransposeProblem {
    View in, out;
    TransposeShape shape;
    bool in_place = false;

    Type type() const { return in.type; }
    u32 size() const { return size_of(in.type); }
};

constexpr u32 pack_bytes = 16;

constexpr Tunable band{.name = "transpose.band",
                       .summary = "rows of tiles per band of vectorized; groups go through a band together",
                       .used_by = {TunableUser::cuda, TunableUser::opencl},
                       .values = {1, 2, 4, 8, 16, 32}};
constexpr Tunable groups_a_unit{.name = "transpose.groups",
                                .summary = "largest number of groups per thread, blocked",
                                .used_by = {TunableUser::opencl_single_item, TunableUser::host},
                                .values = {4, 8, 16, 32, 64}};
constexpr Tunable group_kib{.name = "transpose.group_kib",
                            .summary = "smallest KiB of data per group, blocked",
                            .used_by = {TunableUser::opencl_single_item, TunableUser::host},
                            .values = {64, 128, 256, 512, 1024}};
constexpr Tunable tile_side{.name = "transpose.side",
                            .summary = "largest side of a tile in elements, blocked",
                            .used_by = {TunableUser::opencl_single_item, TunableUser::host},
                            .values = {64, 128, 256}};

TuningPoint point_of(const TransposeProblem& p) {
    const TransposeShape& s = p.shape;
    const bool oblong = s.rows / 4 > s.columns || s.columns / 4 > s.rows;
    return {p.in.type, s.rows * s.columns, oblong ? 1U : 0U};
}

// --- Kernels ---------------------------------------------------------------------------------------------------------

enum class TransposeSource { steps, vectorized, shifted, thin, wide };

const KernelSource& source(TransposeSource which) {
    switch (which) {
        case TransposeSource::steps:
            return kernel_sources::transpose_steps();
        case TransposeSource::vectorized:
            return kernel_sources::transpose();
        case TransposeSource::shifted:
            return kernel_sources::transpose_shifted();
        case TransposeSource::thin:
            return kernel_sources::transpose_thin();
        case TransposeSource::wide:
            break;
    }
    return kernel_sources::transpose_wide();
}

// The tiles of a kernel with many work-items per group.
struct Tiles {
    u32 side = 1;        // elements
    u32 pad = 0;         // elements of padding after each row in local memory
    u32 group_size = 1;  // work-items
    u32 width = 1;       // packs per row
};

constexpr u64 wide_stage = u64{84} << 10;  // bytes per stage on CPUs, with the gaps between rows
constexpr u32 thin_stage = 16 << 10;       // bytes of local memory per group for a thin matrix
constexpr u32 thin_group_size = 256;
constexpr u32 shifted_group_size = 256;

std::shared_ptr<Kernel> transpose_kernel(Device& device, const TransposeProblem& p, TransposeSource which,
                                         const char* entry, const Tiles& tiles,
                                         HostKernel TransposeHost::*host) {
    const u32 size = p.size(), pack = pack_bytes / size;
    constexpr const char* vectors[] = {"uchar16", "ushort8", "uint4", "ulong2"};
    KernelSpec spec{
        .source = &source(which),
        .entry = entry,
        .constants = {{"B", p.type()}, {"SIZE", size}, {"PACK", pack}, {"GROUP", tiles.group_size}},
        .host = host != nullptr ? transpose_host(size).*host : HostKernel{},
        .max_group_size = tiles.group_size};
    switch (which) {
        case TransposeSource::steps:
        case TransposeSource::shifted:
            spec.constants.append(Constants{{"TILE", tiles.side}, {"PAD", tiles.pad}});
            break;
        case TransposeSource::vectorized:
            spec.constants.append(Constants{{"TILE", tiles.side}, {"WIDTH", tiles.width}});
            break;
        case TransposeSource::thin:
            spec.constants.append(
                Constants{{"WORD", size == 8 ? Type::u64 : Type::u32}, {"STAGE", thin_stage}});
            break;
        case TransposeSource::wide:
            spec.constants.append(
                Constants{{"VECTOR", vectors[std::countr_zero(size)]}, {"STAGE", wide_stage}});
            break;
    }
    return device.kernel(spec);
}

// --- Groups of many work-items ---------------------------------------------------------------------------------------

constexpr u32 row_major = 1;
// See transpose_tile.cu.
u32 band_of(const Device& device, const TransposeProblem& p) {
    return static_cast<u32>(tuned(device, band, point_of(p), 8));
}

u32 tiles_in(u64 length, u64 side) {
    return static_cast<u32>(divide_up(length, side));
}

// Kernels count groups in 32 bits.
Support supports_tiles(const Device& device, const TransposeProblem& p, u64 rows, u64 columns) {
    if (device.traits().serial_groups) return {};
    return supports_group_count({divide_up(p.shape.rows, rows), divide_up(p.shape.columns, columns)});
}

// Launches one group per tile, with the kernel's last arguments.
template <class... A>
void launch_tiles(Stream& stream, const TransposeProblem& p, const Kernel& kernel, const Tiles& tiles,
                  u32 rows, u32 columns, u32 band, const A&... last) {
    const u32 down = tiles_in(p.shape.rows, rows), across = tiles_in(p.shape.columns, columns);
    launch(stream, kernel, LaunchShape::linear(u64{down} * across, tiles.group_size), p.in, p.out,
           p.shape.rows, p.shape.columns, p.shape.in_pitch, p.shape.out_pitch, down, across,
           std::min(band, down), last...);
}

// Launches one group per pair of tiles, with the kernel's last arguments.
template <class... A>
void launch_pairs(Stream& stream, const TransposeProblem& p, const Kernel& kernel, const Tiles& tiles,
                  const A&... last) {
    const u64 side = divide_up(p.shape.rows, tiles.side);
    launch(stream, kernel, LaunchShape::linear(side * (side + 1) / 2, tiles.group_size), p.out, p.shape.rows,
           p.shape.in_pitch, static_cast<u32>(side), last...);
}

// --- Textbook steps --------------------------------------------------------------------------------------------------

constexpr u32 step_group_size = 256, step_tile = 32;
constexpr u64 host_group = u64{1} << 14;  // elements per group on the CPU

void run_serial(Stream& stream, const TransposeProblem& p) {
    const auto kernel = transpose_kernel(stream.device(), p, TransposeSource::steps, "transpose_serial", {},
                                         &TransposeHost::serial);
    const TransposeShape& s = p.shape;
    launch(stream, *kernel, LaunchShape::linear(1, 1), p.in, p.out, s.rows, s.columns, s.in_pitch,
           s.out_pitch);
}

void run_naive(Stream& stream, const TransposeProblem& p) {
    const Tiles tiles{.side = step_tile, .group_size = step_group_size};
    const auto kernel = transpose_kernel(stream.device(), p, TransposeSource::steps, "transpose_naive", tiles,
                                         &TransposeHost::naive);
    const TransposeShape& s = p.shape;
    if (!stream.device().traits().serial_groups)
        return launch_tiles(stream, p, *kernel, tiles, step_group_size / 32, 32, row_major);
    const u64 strip = std::max<u64>(1, host_group / s.columns);
    launch(stream, *kernel, LaunchShape::linear(divide_up(s.rows, strip), 1), p.in, p.out, s.rows, s.columns,
           s.in_pitch, s.out_pitch, strip);
}

// Elements of padding after a row in local memory: one word, or one element if it is larger.
u32 padding(const TransposeProblem& p) {
    return std::max(1U, 4 / p.size());
}

void run_tiled_with(Stream& stream, const TransposeProblem& p, u32 pad) {
    const Tiles tiles{.side = step_tile, .pad = pad, .group_size = step_group_size};
    const bool host = stream.device().traits().serial_groups;
    const auto kernel = transpose_kernel(stream.device(), p, TransposeSource::steps,
                                         p.in_place && !host ? "transpose_exchange" : "transpose_tiled",
                                         tiles, &TransposeHost::tiled);
    const TransposeShape& s = p.shape;
    if (!host) {
        if (p.in_place) return launch_pairs(stream, p, *kernel, tiles);
        return launch_tiles(stream, p, *kernel, tiles, step_tile, step_tile, row_major);
    }
    const u64 across = divide_up(s.columns, step_tile), count = divide_up(s.rows, step_tile) * across,
              each = host_group / (step_tile * step_tile);
    launch(stream, *kernel, LaunchShape::linear(divide_up(count, each), 1), p.in, p.out, s.rows, s.columns,
           s.in_pitch, s.out_pitch, count, across, each);
}

void run_tiled(Stream& stream, const TransposeProblem& p) {
    run_tiled_with(stream, p, 0);
}
void run_tiled_padded(Stream& stream, const TransposeProblem& p) {
    run_tiled_with(stream, p, padding(p));
}

// --- A copy ----------------------------------------------------------------------------------------------------------

// Whether the transpose is a copy: of one row or column whose elements are contiguous in in and out.
bool is_copy(const TransposeShape& s) {
    return (s.rows == 1 && (s.out_pitch == 1 || s.columns == 1)) ||
           (s.columns == 1 && (s.in_pitch == 1 || s.rows == 1));
}

void run_copy(Stream& stream, const TransposeProblem& p) {
    const u64 n = p.shape.rows * p.shape.columns;
    map(stream, p.in.part(0, n), p.out.part(0, n), MapFunction::copy);
}

// --- vectorized ------------------------------------------------------------------------------------------------------

// Rows of 128 bytes for small elements, because their blocks take many registers; 256 bytes for others.
Tiles vectorized_tiles(const TransposeProblem& p) {
    const u32 width = p.size() <= 2 ? 8 : 16;
    return {.side = width * pack_bytes / p.size(), .group_size = width * width, .width = width};
}

// Whether packs are aligned in every row of a view.
bool is_aligned(const View& view, u64 pitch) {
    return view.offset % pack_bytes == 0 && pitch * size_of(view.type) % pack_bytes == 0;
}

// Whether one side of the matrix fills at most half a tile.
bool is_thin(const TransposeProblem& p) {
    return std::min(p.shape.rows, p.shape.columns) <= vectorized_tiles(p).side / 2;
}

void run_thin(Stream& stream, const TransposeProblem& p) {
    const TransposeShape& s = p.shape;
    const bool few_columns = s.columns <= s.rows;
    const u64 thin = std::min(s.rows, s.columns), length = std::max(s.rows, s.columns);
    // log2 of the lines per group.
    const u32 shift = static_cast<u32>(std::bit_width(thin_stage / p.size() / thin)) - 1;
    const Tiles tiles{.group_size = thin_group_size};
    const auto kernel =
        transpose_kernel(stream.device(), p, TransposeSource::thin,
                         few_columns ? "transpose_few_columns" : "transpose_few_rows", tiles, nullptr);
    const View &short_rows = few_columns ? p.in : p.out, &long_rows = few_columns ? p.out : p.in;
    const u64 short_pitch = few_columns ? s.in_pitch : s.out_pitch,
              long_pitch = few_columns ? s.out_pitch : s.in_pitch;
    const u32 whole = short_pitch == thin && short_rows.offset % pack_bytes == 0 ? 1 : 0;
    const u32 aligned = is_aligned(long_rows, long_pitch) ? 1 : 0;
    launch(stream, *kernel, LaunchShape::linear(divide_up(length, u64{1} << shift), thin_group_size), p.in,
           p.out, s.rows, s.columns, s.in_pitch, s.out_pitch, shift, few_columns ? whole : aligned,
           few_columns ? aligned : whole);
}

// A group stores pieces of rows that begin up to one sector before its tile, so down a column there may be one tile
// more.
void run_shifted(Stream& stream, const TransposeProblem& p) {
    constexpr u32 sector_bytes = 32;
    const Tiles tiles{.side = vectorized_tiles(p).side, .group_size = shifted_group_size};
    const auto kernel =
        transpose_kernel(stream.device(), p, TransposeSource::shifted, "transpose_shifted", tiles, nullptr);
    const TransposeShape& s = p.shape;
    const u32 down = tiles_in(s.rows + sector_bytes / p.size() - 1, tiles.side),
              across = tiles_in(s.columns, tiles.side);
    launch(stream, *kernel, LaunchShape::linear(u64{down} * across, tiles.group_size), p.in, p.out, s.rows,
           s.columns, s.in_pitch, s.out_pitch, down, across, std::min(band_of(stream.device(), p), down));
}

void run_vectorized(Stream& stream, const TransposeProblem& p) {
    const TransposeShape& s = p.shape;
    const Tiles tiles = vectorized_tiles(p);
    if (p.in_place) {
        const auto kernel = transpose_kernel(stream.device(), p, TransposeSource::vectorized,
                                             "transpose_vectorized_exchange", tiles, nullptr);
        return launch_pairs(stream, p, *kernel, tiles, u32{is_aligned(p.out, s.out_pitch)});
    }
    if (is_copy(s)) return run_copy(stream, p);
    if (is_thin(p)) return run_thin(stream, p);
    if (!is_aligned(p.out, s.out_pitch)) return run_shifted(stream, p);
    const auto kernel = transpose_kernel(stream.device(), p, TransposeSource::vectorized,
                                         "transpose_vectorized", tiles, nullptr);
    launch_tiles(stream, p, *kernel, tiles, tiles.side, tiles.side, band_of(stream.device(), p),
                 u32{is_aligned(p.in, s.in_pitch)});
}

// --- blocked ---------------------------------------------------------------------------------------------------------

u64 round_up(u64 n, u64 multiple) {
    return divide_up(n, multiple) * multiple;
}

// Square tiles whose rows are a few cache lines long. Thin matrices get longer tiles, as large as the stages allow.
// turned: number of tiles in the second stage.
detail::host::Tiling tiling_of(const Device& device, const TransposeProblem& p, u64 turned) {
    const TransposeShape& s = p.shape;
    const u64 size = p.size(), side = pack_bytes / size, line = 64 / size;
    const u64 largest = size == 1 ? 256 : size <= 4 ? 128 : 64;  // largest tile that a stage holds
    const u64 square = std::min(largest, tuned(device, tile_side, point_of(p), largest));
    // The number of whole lines of `across` elements that a stage holds.
    auto longest = [&](u64 across) {
        const u64 room = (wide_stage / size - side) / (round_up(across, side) + line);
        return std::max(square, room / line * line);
    };
    detail::host::Tiling t;
    t.rows = std::min(s.rows, s.columns < square ? longest(s.columns) : square);
    t.columns = std::min(s.columns, s.rows < square ? longest(s.rows) : square);
    t.from_whole = t.columns == s.columns && s.in_pitch == s.columns && !p.in_place ? 1 : 0;
    t.to_whole = t.rows == s.rows && s.out_pitch == s.rows && !p.in_place ? 1 : 0;
    // A vector between rows, so that rows are not a power of two apart.
    t.from_pitch = t.from_whole != 0 ? t.columns : round_up(t.columns, side) + side;
    t.to_pitch = t.to_whole != 0 ? t.rows : round_up(t.rows, side) + line;
    t.tile_rows = divide_up(s.rows, t.rows);
    t.tiles = divide_up(s.columns, t.columns) * t.tile_rows;
    t.to_begin = round_up(round_up(t.rows, side) * t.from_pitch + side, line) + line;
    t.elements = t.to_begin + turned * round_up(round_up(t.columns, side) * t.to_pitch + side, line);
    return t;
}

// Number of groups: one for small inputs, because waking threads costs more; then some per thread.
u64 groups_of(const Device& device, const TransposeProblem& p) {
    const u64 least_bytes = tuned(device, group_kib, point_of(p), least_group_kib(device.traits())) << 10,
              most = device.traits().units * tuned(device, groups_a_unit, point_of(p), 16);
    return std::clamp<u64>(p.shape.rows * p.shape.columns * p.size() / least_bytes, 1, most);
}

u64 tiles_each(const Device& device, const TransposeProblem& p, u64 tiles) {
    return divide_up(tiles, std::min(groups_of(device, p), tiles));
}

bool exceeds_cache(const Device& device, const TransposeProblem& p) {
    return 2 * p.shape.rows * p.shape.columns * p.size() > device.traits().cache;
}

// The tiles of the direct kernel in bytes: rows of cache lines that are read in one go if the data fit the caches, and
// pieces of rows of out that are several lines long if they do not.
constexpr u64 cached_row = 1024, far_row = 256, far_column = 512;
constexpr u64 staged_bytes = u64{16} << 10;  // largest matrix whose stages fit the L1 cache

// Whether the direct kernel is faster than tiles with stages. A small matrix is read and written faster in the order
// of its elements. Data that exceed the caches require whole lines.
bool suits_direct(const Device& device, const TransposeProblem& p) {
    const TransposeShape& s = p.shape;
    if (p.in_place || device.traits().compiles_source || s.rows * s.columns * p.size() <= staged_bytes)
        return false;
    const u64 line = 64 / p.size();
    if (!exceeds_cache(device, p)) return s.rows >= line && s.columns >= line;
    return device.traits().host_isa == HostIsa::avx512 && transpose_host(p.size()).wide_bytes == 64 &&
           s.rows >= far_column / p.size() && s.columns >= far_row / p.size() && p.out.offset % 64 == 0 &&
           s.out_pitch % line == 0;
}

void run_direct(Stream& stream, const TransposeProblem& p) {
    Device& device = stream.device();
    const TransposeShape& s = p.shape;
    const bool far = exceeds_cache(device, p);
    detail::host::TransposeParts parts;
    parts.tile_rows = (far ? far_column : 64) / p.size();
    parts.tile_columns = (far ? far_row : cached_row) / p.size();
    parts.past_cache = far ? 1 : 0;
    // Parts of whole tiles, along columns only if there are too few rows.
    const u64 groups = groups_of(device, p), down = std::min(groups, divide_up(s.rows, parts.tile_rows));
    parts.rows = round_up(divide_up(s.rows, down), parts.tile_rows);
    parts.down = std::max<u64>(1, s.rows / parts.rows);
    parts.columns = round_up(divide_up(s.columns, divide_up(groups, parts.down)), parts.tile_columns);
    parts.across = std::max<u64>(1, s.columns / parts.columns);
    const auto kernel =
        transpose_kernel(device, p, TransposeSource::wide, "transpose_direct", {}, &TransposeHost::direct);
    launch(stream, *kernel, LaunchShape::linear(parts.down * parts.across, 1), p.in, p.out, s.rows, s.columns,
           s.in_pitch, s.out_pitch, ValueBytes{std::as_bytes(std::span(&parts, 1))});
}

void run_blocked(Stream& stream, const TransposeProblem& p) {
    Device& device = stream.device();
    const TransposeShape& s = p.shape;
    if (!p.in_place && is_copy(s)) return run_copy(stream, p);
    if (suits_direct(device, p)) return run_direct(stream, p);
    const bool host = !device.traits().compiles_source;
    const detail::host::Tiling t = tiling_of(device, p, p.in_place ? 2 : 1);
    const u64 each = tiles_each(device, p, t.tiles), local = host ? t.elements * p.size() : 0;
    const LaunchShape shape = LaunchShape::linear(divide_up(t.tiles, each), 1, local);
    const ValueBytes tiling{std::as_bytes(std::span(&t, 1))};
    if (p.in_place) {
        const auto kernel = transpose_kernel(device, p, TransposeSource::wide, "transpose_exchange_blocked",
                                             {}, &TransposeHost::exchange);
        if (host) return launch(stream, *kernel, shape, p.out, s.rows, s.in_pitch, each, tiling);
        return launch(stream, *kernel, shape, p.out, s.rows, s.in_pitch, each, t.tiles, t.tile_rows, t.rows,
                      t.from_pitch, t.to_pitch);
    }
    const u32 past_cache = exceeds_cache(device, p) ? 1 : 0;
    const auto kernel =
        transpose_kernel(device, p, TransposeSource::wide, "transpose_blocked", {}, &TransposeHost::blocked);
    if (host)
        return launch(stream, *kernel, shape, p.in, p.out, s.rows, s.columns, s.in_pitch, s.out_pitch, each,
                      past_cache, tiling);
    launch(stream, *kernel, shape, p.in, p.out, s.rows, s.columns, s.in_pitch, s.out_pitch, each, past_cache,
           t.tiles, t.tile_rows, t.rows, t.columns, t.from_pitch, t.to_pitch, t.from_whole | t.to_whole << 1);
}

// --- The table -------------------------------------------------------------------------------------------------------

Support supports_any(const Device&, const TransposeProblem&) {
    return {};
}

Support supports_naive(const Device& device, const TransposeProblem& p) {
    if (p.in_place) return Support::no("does not support in-place operation; pass a distinct output");
    if (Support group = supports_group(device, step_group_size); !group) return group;
    return supports_tiles(device, p, step_group_size / 32, 32);
}

Support supports_tiled(const Device& device, const TransposeProblem& p) {
    if (Support group = supports_group(device, step_group_size); !group) return group;
    return supports_tiles(device, p, step_tile, step_tile);
}

Support supports_vectorized(const Device& device, const TransposeProblem& p) {
    if (!device.traits().many_items)
        return Support::no("requires many work-items per group; " + device.info().selector +
                           " runs groups of one");
    if (Support group = supports_group(
            device, std::max({thin_group_size, shifted_group_size, vectorized_tiles(p).group_size}));
        !group)
        return group;
    // Shifted tiles may have one row of tiles more; see run_shifted().
    const u32 side = vectorized_tiles(p).side;
    return is_thin(p) ? Support{} : supports_tiles(device, p, side / 2, side);
}

Support supports_blocked(const Device& device, const TransposeProblem&) {
    if (device.traits().many_items)
        return Support::no("requires one work-item per group; " + device.info().selector +
                           " runs groups of many");
    return {};
}

struct TransposeRow {
    Variant variant;
    Required<Support(const Device&, const TransposeProblem&)> supports;
    Required<void(Stream&, const TransposeProblem&)> run;
};

constexpr char ruetsch[] = "G. Ruetsch, P. Micikevicius, Optimizing Matrix Transpose in CUDA, 2009";

constexpr TransposeRow table[] = {
    {.variant = {.name = "blocked",
                 .summary =
                     "tiles of whole cache lines, blocks transposed in registers, non-temporal stores; one "
                     "work-item per group",
                 .dialects = {Dialect::opencl, Dialect::host},
                 .order = OperationOrder::canonical,
                 .source = "J. O. Eklundh, A Fast Computer Method for Matrix Transposing, 1972"},
     .supports = supports_blocked,
     .run = run_blocked},
    {.variant =
         {.name = "vectorized",
          .summary =
              "16-byte loads and stores, blocks transposed in registers, swizzled tiles; strips for thin "
              "matrices",
          .dialects = {Dialect::cuda, Dialect::opencl},
          .order = OperationOrder::canonical,
          .source = ruetsch},
     .supports = supports_vectorized,
     .run = run_vectorized},
    {.variant = {.name = "tiled_padded",
                 .summary = "tiled with padded rows in local memory: no bank conflicts",
                 .dialects = {Dialect::cuda, Dialect::opencl},
                 .order = OperationOrder::canonical,
                 .source = ruetsch},
     .supports = supports_tiled,
     .run = run_tiled_padded},
    {.variant = {.name = "tiled",
                 .summary = "a tile passes through local memory, so loads and stores both go along rows",
                 .dialects = {Dialect::cuda, Dialect::opencl, Dialect::host},
                 .order = OperationOrder::canonical,
                 .source = ruetsch},
     .supports = supports_tiled,
     .run = run_tiled},
    {.variant = {.name = "naive",
                 .summary = "one element per work-item: reads along rows, writes along columns",
                 .dialects = {Dialect::cuda, Dialect::opencl, Dialect::host},
                 .order = OperationOrder::canonical,
                 .source = "textbook"},
     .supports = supports_naive,
     .run = run_naive},
    {.variant = {.name = "serial",
                 .summary = "one loop on one thread",
                 .dialects = {Dialect::host},
                 .order = OperationOrder::canonical,
                 .source = "textbook"},
     .supports = supports_any,
     .run = run_serial},
};

constexpr auto variants = variants_of(table);
constexpr const Tunable* tunables[] = {&band, &groups_a_unit, &group_kib, &tile_side};

// --- The call --------------------------------------------------------------------------------------------------------

[[noreturn]] void refuse(const std::string& what) {
    throw Error(ErrorCode::invalid_argument, "transpose", what);
}

TransposeProblem problem_of(Stream& stream, const MatrixView& in, const MatrixView& out) {
    check_operand("transpose", "in", stream, in.range);
    check_output("transpose", "out", stream, out.range);
    check_same_type("transpose", {{"in", in.range.type}, {"out", out.range.type}});
    if (out.rows != in.columns || out.columns != in.rows)
        refuse("out must be " + size_name({in.columns, in.rows}) + " for in of " +
               size_name({in.rows, in.columns}) + ", got " + size_name({out.rows, out.columns}));
    const auto layout_name = [](Layout layout) {
        return std::string(layout == Layout::row_major ? "row-major" : "column-major");
    };
    if (in.layout != out.layout)
        refuse("in and out must have the same layout, got " + layout_name(in.layout) + " and " +
               layout_name(out.layout) + "; with different layouts a transpose is a copy");
    const MatrixView from = checked_matrix("transpose", "in", in),
                     to = checked_matrix("transpose", "out", out);
    // A column-major matrix has the elements of its row-major transpose.
    const bool is_row_major = in.layout == Layout::row_major;
    TransposeProblem p{.in = from.range,
                       .out = to.range,
                       .shape = {.rows = is_row_major ? in.rows : in.columns,
                                 .columns = is_row_major ? in.columns : in.rows,
                                 .in_pitch = from.pitch,
                                 .out_pitch = to.pitch}};
    if (overlap(from, to)) {
        check_overlap("transpose", {"out", p.out}, {"in", p.in}, InPlace::yes);
        if (in.rows != in.columns)
            refuse("in-place operation requires a square matrix, got " + size_name({in.rows, in.columns}) +
                   "; pass a distinct output");
        if (p.shape.in_pitch != p.shape.out_pitch)
            refuse("in-place operation requires equal pitches, got " + std::to_string(p.shape.in_pitch) +
                   " and " + std::to_string(p.shape.out_pitch) + "; pass a distinct output");
        p.in_place = true;
    }
    p.in.type = p.out.type = bits_of(in.range.type);  // elements move as bits
    return p;
}

}  // namespace
}  // namespace detail

constinit const Algorithm transpose_algorithm{
    .name = "transpose",
    .summary = "out[c, r] = in[r, c]",
    .variants = detail::variants,
    .tunables = detail::tunables,
    .tuning_label = "oblong"};  // 1: one side is more than four times the other

Enqueued transpose(Stream& stream, const MatrixView& in, const MatrixView& out, const Options& options) {
    const detail::TransposeProblem p = detail::problem_of(stream, in, out);
    const detail::TransposeRow& row =
        detail::choose_tuned("transpose", detail::table, stream.device(), p, detail::point_of(p), options);
    if (p.in.count > 0) row.run(stream, p);
    return detail::enqueued(stream, row, p);
}

}  // namespace concord
