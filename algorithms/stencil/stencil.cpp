#include "stencil_sources.hpp"
#include "stencil_table.hpp"

#include <concord/internal/shape.hpp>

#include <string>

namespace concord {

StarCoefficients::StarCoefficients(std::span<const f64> values) {
    if (values.size() < 2 || values.size() > most)
        throw Error(
            ErrorCode::invalid_argument, "stencil",
            "a star of radius 1 to 8 needs 2 to 9 coefficients, got " + std::to_string(values.size()));
    std::copy(values.begin(), values.end(), values_.begin());
    radius_ = static_cast<u32>(values.size()) - 1;
}

namespace detail {
namespace {

// --- Kernels --------------------------------------------------------------------------------------------------------

const KernelSource& source_of(StencilSource source) {
    switch (source) {
        case StencilSource::steps:
            return kernel_sources::stencil_steps();
        case StencilSource::streaming:
            return kernel_sources::stencil();
        case StencilSource::temporal:
            return kernel_sources::stencil_temporal();
        case StencilSource::wide:
            break;
    }
    return kernel_sources::stencil_wide();
}

}  // namespace

std::shared_ptr<Kernel> stencil_kernel(Device& device, const StencilProblem& p, StencilSource source,
                                       const char* entry, const StencilTile& tile,
                                       HostKernel StencilHost::*host) {
    KernelSpec spec{.source = &source_of(source),
                    .entry = entry,
                    .constants = {{"T", p.type()}, {"RADIUS", p.radius()}},
                    .host = host != nullptr ? stencil_host(p.type()).*host : HostKernel{},
                    .max_group_size = tile.group_size};
    switch (source) {
        case StencilSource::steps:
            spec.constants.append(Constants{{"LANES_X", tile.group_size_x}, {"GROUP", tile.group_size}});
            break;
        case StencilSource::streaming:
            spec.constants.append(Constants{{"LANES_X", tile.group_size_x},
                                            {"GROUP", tile.group_size},
                                            {"PACK", tile.pack},
                                            {"ROWS", tile.rows},
                                            {"RESIDENT", 512 / tile.group_size}});
            break;
        case StencilSource::temporal:
            spec.constants.append(Constants{{"GROUP", tile.group_size},
                                            {"PACK", tile.pack},
                                            {"ROWS", tile.rows},
                                            {"STEPS", tile.margin / p.radius()}});
            break;
        case StencilSource::wide:
            spec.constants.append(Constants{{"SIZE", p.size()}, {"ROW", wide_row}});
            break;
    }
    return device.kernel(spec);
}

namespace {

// --- Tiles for many work-items per group --------------------------------------------------------------------------

// Whether the number of tiles is within the limit of a launch. depth: number of planes, or of pieces of the depth.
Support supports_tiles(const StencilProblem& p, const StencilTile& tile, u64 depth) {
    return supports_group_count(
        {depth, divide_up(p.rows(), tile.height()), divide_up(p.shape.columns, tile.width())});
}

u32 tiles_in(u64 length, u64 side) {
    return static_cast<u32>(divide_up(length, side));
}

// --- Textbook steps -----------------------------------------------------------------------------------------------

constexpr StencilTile step_tile{.group_size = 256, .group_size_x = 32};
constexpr u64 host_group = u64{1} << 14;  // points per group on the CPU

void run_serial(Stream& stream, const StencilProblem& p) {
    const auto kernel =
        stencil_kernel(stream.device(), p, StencilSource::steps, "stencil_serial", {}, &StencilHost::serial);
    const detail::host::StencilVolume volume = stencil_volume(p);
    with_star(p, StarLength::all, [&](const ValueBytes& star) {
        each_sweep(stream, p, 1, [&](const View& from, const View& to, u64) {
            launch(stream, *kernel, LaunchShape::linear(1, 1), from, to, struct_bytes(volume), star);
        });
    });
}

// Launches a textbook kernel with one group per tile of every plane.
void run_planes(Stream& stream, const StencilProblem& p, const Kernel& kernel) {
    const VolumeExtents& s = p.shape;
    const u32 across = tiles_in(s.columns, step_tile.width()), down = tiles_in(p.rows(), step_tile.height());
    with_star(p, StarLength::used, [&](const ValueBytes& star) {
        each_sweep(stream, p, 1, [&](const View& from, const View& to, u64) {
            launch(stream, kernel, LaunchShape::linear(u64{across} * down * p.planes(), step_tile.group_size),
                   from, to, s.depth, s.rows, s.columns, p.box.z_begin, p.box.y_begin, p.box.y_end, down,
                   across, star);
        });
    });
}

void run_naive(Stream& stream, const StencilProblem& p) {
    const auto kernel = stencil_kernel(stream.device(), p, StencilSource::steps, "stencil_naive", step_tile,
                                       &StencilHost::naive);
    if (!stream.device().traits().serial_groups) return run_planes(stream, p, *kernel);
    const detail::host::StencilVolume volume = stencil_volume(p);
    const u64 strip = std::max<u64>(1, host_group / p.shape.columns);
    with_star(p, StarLength::all, [&](const ValueBytes& star) {
        each_sweep(stream, p, 1, [&](const View& from, const View& to, u64) {
            launch(stream, *kernel, LaunchShape::linear(divide_up(p.planes() * p.rows(), strip), 1), from, to,
                   struct_bytes(volume), strip, star);
        });
    });
}

void run_tiled(Stream& stream, const StencilProblem& p) {
    const auto kernel = stencil_kernel(stream.device(), p, StencilSource::steps, "stencil_tiled", step_tile,
                                       &StencilHost::tiled);
    if (!stream.device().traits().serial_groups) return run_planes(stream, p, *kernel);
    constexpr u64 side = 32, planes = host_group / (side * side);
    const detail::host::StencilVolume volume = stencil_volume(p);
    const u64 across = divide_up(p.shape.columns, side), down = divide_up(p.rows(), side);
    with_star(p, StarLength::all, [&](const ValueBytes& star) {
        each_sweep(stream, p, 1, [&](const View& from, const View& to, u64) {
            launch(stream, *kernel, LaunchShape::linear(across * down * divide_up(p.planes(), planes), 1),
                   from, to, struct_bytes(volume), across, down, planes, star);
        });
    });
}

// --- streaming ----------------------------------------------------------------------------------------------------

// Packs have 8 bytes if all rows are aligned to them and registers suffice; the queue along z takes most registers. A
// tile of 64 x 64 points reads fewer halo points but needs all registers of a unit, so it requires a compiler that
// bounds them.
StencilTile streaming_tile(const Device& device, const StencilProblem& p) {
    constexpr u32 pack_bytes = 8, side = 32;
    const u32 radius = p.radius();
    if (p.size() == 8)
        return {.group_size = 256, .group_size_x = side, .pack = 1, .rows = radius <= 4 ? 4U : 2U};
    const bool aligned =
        p.in.offset % pack_bytes == 0 && p.out.offset % pack_bytes == 0 && p.shape.columns % 2 == 0;
    if (!aligned || radius > 5) return {.group_size = 256, .group_size_x = side, .pack = 1, .rows = 4};
    const bool large = radius > 2 && device.traits().bounds_registers;
    return {.group_size = large ? 512U : 256U, .group_size_x = side, .pack = 2, .rows = 4};
}

constexpr Tunable planes_a_group{.name = "stencil.planes",
                                 .summary = "streaming and temporal: planes per group",
                                 .used_by = {TunableUser::cuda, TunableUser::opencl},
                                 .values = {4, 8, 16, 32, 64, 128, 256}};

// Planes per group. A group also reads `halo` planes below and above its own, so groups should be deep; but they
// should also occupy the whole device. Takes the number of pieces with the fewest planes processed in all waves of
// groups.
u64 planes_of_group(const Device& device, const Kernel& kernel, const StencilProblem& p, u64 tiles,
                    u64 halo) {
    const i64 groups = kernel.attributes().groups_per_unit;
    const u64 resident = u64{device.traits().units} * (groups > 0 ? static_cast<u64>(groups) : 2),
              depth = p.planes();
    constexpr u64 most_pieces = 256;
    u64 best = depth, best_cost = ~u64{0};
    for (u64 pieces = 1; pieces <= std::min(depth, most_pieces); ++pieces) {
        const u64 planes = divide_up(depth, pieces);
        const u64 waves = divide_up(tiles * divide_up(depth, planes), resident);
        const u64 cost = waves * (planes + 2 * halo);
        if (cost >= best_cost) continue;
        best = planes;
        best_cost = cost;
    }
    return std::clamp(tuned(device, planes_a_group, point_of(p), best), divide_up(depth, most_pieces), depth);
}

// Runs kernels that advance along z, with up to `at_once` steps per launch. tile_of(steps) is the tile for so many
// steps.
template <class TileOf>
void run_along_z(Stream& stream, const StencilProblem& p, StencilSource source, const char* entry,
                 u64 at_once, TileOf tile_of) {
    const VolumeExtents& s = p.shape;
    StencilTile tile;
    std::shared_ptr<Kernel> kernel;
    u32 across = 0, down = 0;
    u64 planes = 0, prepared = 0;
    auto prepare = [&](u64 steps) {
        tile = tile_of(steps);
        kernel = stencil_kernel(stream.device(), p, source, entry, tile, nullptr);
        across = tiles_in(s.columns, tile.width());
        down = tiles_in(p.rows(), tile.height());
        planes = planes_of_group(stream.device(), *kernel, p, u64{across} * down, p.radius() * steps);
        prepared = steps;
    };
    with_star(p, StarLength::used, [&](const ValueBytes& star) {
        each_sweep(stream, p, at_once, [&](const View& from, const View& to, u64 steps) {
            if (steps != prepared) prepare(steps);
            launch(stream, *kernel,
                   LaunchShape::linear(u64{across} * down * divide_up(p.planes(), planes), tile.group_size),
                   from, to, s.depth, s.rows, s.columns, p.box.z_begin, p.box.z_end, p.box.y_begin,
                   p.box.y_end, down, across, planes, star);
        });
    });
}

void run_streaming(Stream& stream, const StencilProblem& p) {
    run_along_z(stream, p, StencilSource::streaming, "stencil_streaming", 1,
                [&](u64) { return streaming_tile(stream.device(), p); });
}

// --- temporal -----------------------------------------------------------------------------------------------------

// The planes of all steps are in registers, which suffice for this number of planes.
constexpr u32 temporal_margin = 4;

u64 temporal_steps(const StencilProblem& p) {
    return temporal_margin / p.radius();
}

// Packs have up to 16 bytes, as the alignment of the rows allows. A work-item has 64 bytes of a plane, or 8 points.
StencilTile temporal_tile(const StencilProblem& p, u64 steps) {
    u32 pack = 16 / p.size();
    while (p.shape.columns % pack != 0 || p.in.offset % (pack * p.size()) != 0 ||
           p.out.offset % (pack * p.size()) != 0)
        pack /= 2;
    return {.group_size = 256,
            .group_size_x = 32,
            .pack = pack,
            .rows = pack * p.size() == 16 ? 4U : 8U,
            .margin = p.radius() * static_cast<u32>(steps)};
}

void run_temporal(Stream& stream, const StencilProblem& p) {
    run_along_z(stream, p, StencilSource::temporal, "stencil_temporal", temporal_steps(p),
                [&](u64 steps) { return temporal_tile(p, steps); });
}

// --- Variants -----------------------------------------------------------------------------------------------------

Support supports_any(const Device& device, const StencilProblem& p) {
    return supports_type(device, p.type());
}

Support supports_planes(const Device& device, const StencilProblem& p) {
    if (Support type = supports_type(device, p.type()); !type) return type;
    if (Support group = supports_group(device, step_tile.group_size); !group) return group;
    return device.traits().serial_groups ? Support{} : supports_tiles(p, step_tile, p.planes());
}

Support supports_streaming(const Device& device, const StencilProblem& p) {
    if (!device.traits().many_items)
        return Support::no("requires many work-items per group; " + device.info().selector +
                           " runs groups of one");
    if (Support type = supports_type(device, p.type()); !type) return type;
    const StencilTile tile = streaming_tile(device, p);
    if (Support group = supports_group(device, tile.group_size); !group) return group;
    return supports_tiles(p, tile, 256);
}

Support supports_temporal(const Device& device, const StencilProblem& p) {
    if (!device.traits().many_items)
        return Support::no("requires many work-items per group; " + device.info().selector +
                           " runs groups of one");
    if (p.radius() > 2)
        return Support::no(
            "requires radius 1 or 2, because the planes of all steps are in registers; the star has radius " +
            std::to_string(p.radius()));
    if (Support type = supports_type(device, p.type()); !type) return type;
    const StencilTile tile = temporal_tile(p, temporal_steps(p));
    if (Support group = supports_group(device, tile.group_size); !group) return group;
    const u64 stage = u64{2 * temporal_margin} * tile.group_size * tile.pack * p.size();
    if (Support local = supports_local_memory(device, stage); !local) return local;
    return supports_tiles(p, tile, 256);
}

// One step alone is faster without the margins. Without shuffles, barriers make it slow. At radius 2 the margins cost
// more than reading a volume from cache.
bool suits_temporal(const Device& device, const StencilProblem& p) {
    const u64 bytes = p.shape.depth * p.shape.rows * p.shape.columns * p.size();
    return p.steps > 1 && device.traits().shuffles && (p.radius() == 1 || bytes > device.traits().cache / 2);
}

struct StencilVariant {
    Variant variant;
    Required<Support(const Device&, const StencilProblem&)> supports;
    Required<void(Stream&, const StencilProblem&)> run;
    bool (*suits)(const Device&, const StencilProblem&) = nullptr;
};

constexpr char micikevicius[] = "P. Micikevicius, 3D Finite Difference Computation on GPUs using CUDA, 2009";

constexpr StencilVariant table[] = {
    {.variant =
         {.name = "blocked",
          .summary =
              "tiles whose planes stay in the cache, rows in vectors; on the CPU several steps per pass",
          .dialects = {Dialect::opencl, Dialect::host},
          .order = OperationOrder::canonical,
          .source = "A. Nguyen et al., 3.5-D Blocking Optimization for Stencil Computations, 2010"},
     .supports = supports_blocked,
     .run = run_blocked},
    {.variant = {.name = "temporal",
                 .summary = "several steps per launch: tiles advance along z, all steps' planes in registers",
                 .dialects = {Dialect::cuda, Dialect::opencl},
                 .order = OperationOrder::canonical,
                 .source = "L. Zhang et al., Revisiting Temporal Blocking Stencil Optimizations, 2023"},
     .supports = supports_temporal,
     .run = run_temporal,
     .suits = suits_temporal},
    {.variant =
         {.name = "streaming",
          .summary =
              "tiles advance along z: a queue of planes in registers, the current plane in local memory",
          .dialects = {Dialect::cuda, Dialect::opencl},
          .order = OperationOrder::canonical,
          .source = micikevicius},
     .supports = supports_streaming,
     .run = run_streaming},
    {.variant = {.name = "tiled",
                 .summary = "a tile of a plane and its halo in local memory",
                 .dialects = {Dialect::cuda, Dialect::opencl, Dialect::host},
                 .order = OperationOrder::canonical,
                 .source = micikevicius},
     .supports = supports_planes,
     .run = run_tiled},
    {.variant = {.name = "naive",
                 .summary = "one point per work-item, all neighbours from global memory",
                 .dialects = {Dialect::cuda, Dialect::opencl, Dialect::host},
                 .order = OperationOrder::canonical,
                 .source = "textbook"},
     .supports = supports_planes,
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
constexpr const Tunable* tunables[] = {&stencil_groups_a_unit, &stencil_cache_part, &stencil_steps_together,
                                       &planes_a_group};

// --- The call -----------------------------------------------------------------------------------------------------

[[noreturn]] void refuse(const char* call, const std::string& what) {
    throw Error(ErrorCode::invalid_argument, call, what);
}

std::string text_of(const VolumeExtents& s) {
    return size_name({s.depth, s.rows, s.columns});
}

// The range of a volume.
View range_of(const char* call, const char* name, const VolumeView& volume) {
    const VolumeView exact = checked_volume(call, name, volume);
    const bool is_dense = (exact.pitch == exact.columns || exact.rows <= 1) &&
                          (exact.plane_pitch == exact.rows * exact.columns || exact.depth <= 1);
    if (exact.range.count > 0 && (exact.layout != Layout::row_major || !is_dense))
        throw Error(ErrorCode::unsupported, call,
                    std::string(name) + " must be in C order without padding, got " +
                        text_of({volume.depth, volume.rows, volume.columns}) +
                        (exact.layout != Layout::row_major
                             ? " in column-major layout"
                             : " with a pitch of " + std::to_string(exact.pitch) + " and a plane pitch of " +
                                   std::to_string(exact.plane_pitch)));
    return exact.range;
}

void check_range(const char* axis, u64 begin, u64 end, u64 length, const VolumeExtents& s) {
    if (begin > end || end > length)
        refuse("stencil_box", std::string(axis) + " of the box must be an interval within 0 to " +
                                  std::to_string(length) + " of the volume of " + text_of(s) + ", got " +
                                  std::to_string(begin) + " to " + std::to_string(end));
}

StencilProblem problem_of(const char* call, Stream& stream, const VolumeView& in,
                          const StarCoefficients& star, const VolumeView& out, u64 steps,
                          const StencilBox& box) {
    check_operand(call, "in", stream, in.range);
    check_output(call, "out", stream, out.range);
    const Type type = in.range.type;
    if (!is_float(type)) refuse(call, "volume must be f32 or f64, got " + std::string(name_of(type)));
    check_same_type(call, {{"in", type}, {"out", out.range.type}});
    const VolumeExtents shape{in.depth, in.rows, in.columns}, result{out.depth, out.rows, out.columns};
    if (shape != result)
        refuse(call, "out must have the shape of in, " + text_of(shape) + ", got " + text_of(result));
    const View from = range_of(call, "in", in), to = range_of(call, "out", out);
    check_overlap(call, {"out", to}, {"in", from});
    return {from, to, shape, star, steps, box};
}

}  // namespace
}  // namespace detail

constinit const Algorithm stencil_algorithm{.name = "stencil",
                                            .summary = "time steps of a star of radius 1 to 8 on a volume",
                                            .variants = detail::variants,
                                            .tunables = detail::tunables,
                                            // The radius, plus 10 for several steps.
                                            .tuning_label = "star"};

Enqueued stencil(Stream& stream, const VolumeView& in, const StarCoefficients& star, const VolumeView& out,
                 u64 steps, const Options& options) {
    const detail::StencilProblem p =
        detail::problem_of("stencil", stream, in, star, out, steps, {0, in.depth, 0, in.rows});
    const detail::StencilVariant& row =
        detail::choose_tuned("stencil", detail::table, stream.device(), p, detail::point_of(p), options);
    if (p.in.count > 0 && steps > 0) row.run(stream, p);
    if (p.in.count > 0 && steps == 0)
        stream.copy(*p.out.buffer, p.out.offset, *p.in.buffer, p.in.offset, p.in.bytes());
    return detail::enqueued(stream, row, p);
}

Enqueued stencil_box(Stream& stream, const VolumeView& in, const StarCoefficients& star,
                     const VolumeView& out, const StencilBox& box, const Options& options) {
    const detail::StencilProblem p = detail::problem_of("stencil_box", stream, in, star, out, 1, box);
    detail::check_range("planes", box.z_begin, box.z_end, in.depth, p.shape);
    detail::check_range("rows", box.y_begin, box.y_end, in.rows, p.shape);
    const detail::StencilVariant& row =
        detail::choose_tuned("stencil", detail::table, stream.device(), p, detail::point_of(p), options);
    if (p.bytes() > 0) row.run(stream, p);
    return detail::enqueued(stream, row, p);
}

}  // namespace concord
