// Host side of `streaming` and `temporal`, whose groups of many work-items advance along z.

#include "stencil_sources.hpp"
#include "stencil_variants.hpp"

#include <string>

namespace concord::detail {
namespace {

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

// Planes per group. A group also reads `halo` planes below and above its own, so groups should be deep; but they
// should also occupy the whole device. Takes the number of pieces with the fewest planes processed in all waves of
// groups.
u64 planes_of_group(const Device& device, const Kernel& kernel, const StencilProblem& p, u64 tiles,
                    u64 halo) {
    const i64 groups = kernel.attributes().groups_per_unit;
    const u64 resident = u64{device.traits().units} * (groups > 0 ? static_cast<u64>(groups) : 2),
              depth = p.planes();
    constexpr u64 max_pieces = 256;
    u64 best = depth, best_cost = ~u64{0};
    for (u64 pieces = 1; pieces <= std::min(depth, max_pieces); ++pieces) {
        const u64 planes = divide_up(depth, pieces);
        const u64 waves = divide_up(tiles * divide_up(depth, planes), resident);
        const u64 cost = waves * (planes + 2 * halo);
        if (cost >= best_cost) continue;
        best = planes;
        best_cost = cost;
    }
    return std::clamp(tuned(device, stencil_planes_a_group, point_of(p), best), divide_up(depth, max_pieces),
                      depth);
}

// Runs kernels that advance along z, with up to `at_once` steps per launch. tile_of(steps) is the tile for so many
// steps, kernel_of(tile) its kernel.
template <class TileOf, class KernelOf>
void run_along_z(Stream& stream, const StencilProblem& p, u64 at_once, TileOf tile_of, KernelOf kernel_of) {
    const VolumeExtents& s = p.shape;
    StencilTile tile;
    std::shared_ptr<Kernel> kernel;
    u32 across = 0, down = 0;
    u64 planes = 0, prepared = 0;
    auto prepare = [&](u64 steps) {
        tile = tile_of(steps);
        kernel = kernel_of(tile);
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

}  // namespace

Support supports_stencil_streaming(const Device& device, const StencilProblem& p) {
    if (Support type = supports_type(device, p.type()); !type) return type;
    const StencilTile tile = streaming_tile(device, p);
    if (Support group = supports_group(device, tile.group_size); !group) return group;
    return supports_tiles(p, tile, 256);
}

void run_stencil_streaming(Stream& stream, const StencilProblem& p) {
    run_along_z(
        stream, p, 1, [&](u64) { return streaming_tile(stream.device(), p); },
        [&](const StencilTile& tile) {
            return stencil_kernel(stream.device(), p, kernel_sources::stencil(), "stencil_streaming",
                                  tile.group_size,
                                  {{"LANES_X", tile.group_size_x},
                                   {"GROUP", tile.group_size},
                                   {"PACK", tile.pack},
                                   {"ROWS", tile.rows},
                                   {"RESIDENT", 512 / tile.group_size}});
        });
}

Support supports_stencil_temporal(const Device& device, const StencilProblem& p) {
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
bool suits_stencil_temporal(const Device& device, const StencilProblem& p) {
    const u64 bytes = p.shape.depth * p.shape.rows * p.shape.columns * p.size();
    return p.steps > 1 && device.traits().shuffles && (p.radius() == 1 || bytes > device.traits().cache / 2);
}

void run_stencil_temporal(Stream& stream, const StencilProblem& p) {
    run_along_z(
        stream, p, temporal_steps(p), [&](u64 steps) { return temporal_tile(p, steps); },
        [&](const StencilTile& tile) {
            return stencil_kernel(stream.device(), p, kernel_sources::stencil_temporal(), "stencil_temporal",
                                  tile.group_size,
                                  {{"GROUP", tile.group_size},
                                   {"PACK", tile.pack},
                                   {"ROWS", tile.rows},
                                   {"STEPS", tile.margin / p.radius()}});
        });
}

}  // namespace concord::detail
