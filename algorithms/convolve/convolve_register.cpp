// Launches of `register_tiled`.

#include "convolve_launch.hpp"
#include "convolve_sources.hpp"

#include <concord/internal/launch.hpp>

namespace concord {

namespace detail {
namespace {

constexpr u32 pack_bytes = 16, lanes_across = 8;  // as in the kernels

// A group's tile of results, and a work-item's part of it.
struct Tile {
    u32 pack;           // elements per access of local memory
    u32 wide;           // packs per work-item and row
    u32 columns, rows;  // of the tile
    u32 own_rows;       // rows per work-item
    u32 group_size;

    // The tile's cells in local memory. A row is an odd number of packs.
    u64 bytes(const ConvolveProblem& p) const {
        const u64 before = p.mask.columns / 2, lead = divide_up(before, u64{pack}) * pack;
        const u64 line = divide_up(columns + lead + before, u64{pack}) | 1;
        return (rows + p.mask.rows - 1) * line * pack_bytes;
    }
};

// A tile of that many rows.
Tile tile_of(const ConvolveProblem& p, u32 rows) {
    const u32 pack = pack_bytes / size_of(p.type());
    // More results per work-item reuse its cells and taps more often, and leave registers for fewer groups.
    const bool is_short = p.mask.columns <= 3, is_long = p.mask.columns >= 7;
    const u32 wide = pack == 2 ? (is_long ? 4 : 2) : is_short ? 1 : 2;
    const u32 max_rows = pack == 2 || (!is_short && !is_long) ? 2 : 4;
    const u32 items_across = 4 * lanes_across / wide, max_down = 256 / items_across;
    const u32 down = std::min(rows, max_down);
    return {.pack = pack,
            .wide = wide,
            .columns = items_across * wide * pack,
            .rows = rows,
            .own_rows = std::min(max_rows, rows / down),
            .group_size = items_across * down};
}

constexpr u32 min_rows = 8;

// The tallest tile that fits into local memory and leaves several groups for each unit.
Tile choose_tile(const Device& device, const ConvolveProblem& p) {
    const DeviceTraits& traits = device.traits();
    u32 rows = 64;
    auto groups = [&] {
        const Tile tile = tile_of(p, rows);
        return divide_up(p.shape.rows, u64{rows}) * divide_up(p.shape.columns, u64{tile.columns});
    };
    while (rows > min_rows && groups() < u64{4} * traits.units)
        rows /= 2;
    rows = static_cast<u32>(tuned(device, convolve_tile_rows, point_of(p), rows));
    while (rows > min_rows && tile_of(p, rows).bytes(p) > traits.local_memory)
        rows /= 2;
    return tile_of(p, rows);
}

}  // namespace

void run_convolve_register_tiled(Stream& stream, const ConvolveProblem& p) {
    Device& device = stream.device();
    const ConvolveShape& s = p.shape;
    const Tile tile = choose_tile(device, p);
    const bool by_value = !device.traits().constant_buffers && fits_parameters(device, p);
    KernelSpec spec{.source = &kernel_sources::convolve(),
                    .entry = "convolve_register_tiled",
                    .constants = type_constants(p),
                    .max_group_size = tile.group_size};
    spec.constants.append(mask_constants(p, by_value ? MaskIn::value : MaskIn::constant));
    spec.constants.append(Constants{{"SIZE", size_of(p.type())},
                                    {"I_SIZE", size_of(p.in.type)},
                                    {"MASK_ROWS", p.mask.rows},
                                    {"MASK_COLUMNS", p.mask.columns},
                                    {"PACK", tile.pack},
                                    {"WIDE", tile.wide},
                                    {"ROWS", tile.own_rows},
                                    {"TILE_COLUMNS", tile.columns},
                                    {"TILE_ROWS", tile.rows},
                                    {"IN_ALIGNED", has_aligned_packs(p.in, s.in_pitch, tile.pack)},
                                    {"GROUP", tile.group_size},
                                    {"RESIDENT", tile.pack == 2 ? 3 : 4}});
    const auto kernel = device.kernel(spec);
    const u64 across = divide_up(s.columns, u64{tile.columns}), down = divide_up(s.rows, u64{tile.rows});
    auto launch_with = [&](const auto& mask) {
        launch(stream, *kernel, LaunchShape::linear(across * down, tile.group_size, tile.bytes(p)), p.in,
               p.out, mask, s.rows, s.columns, s.in_pitch, s.out_pitch, static_cast<u32>(across), p.clamps(),
               u32{has_aligned_packs(p.out, s.out_pitch, tile.pack)});
    };
    if (by_value) return launch_with(bytes_of(p.mask));
    launch_with(MaskCopy(stream, p.mask).view);
}

Support supports_convolve_register_tiled(const Device& device, const ConvolveProblem& p) {
    const Tile tile = tile_of(p, min_rows);
    if (Support type = supports_type(device, p.type()); !type) return type;
    if (Support group = supports_group(device, 256); !group) return group;
    if (Support local = supports_local_memory(device, tile.bytes(p)); !local) return local;
    return supports_tiles(p, tile.rows, tile.columns);
}

}  // namespace detail
}  // namespace concord
