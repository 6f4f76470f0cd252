// Host side of `columns`, `ring`, `streaming` and `temporal`, whose groups of many work-items advance along z.

#include "stencil_sources.hpp"
#include "stencil_variants.hpp"

#include <string>

namespace concord::detail {
namespace {

// Bytes of a pack: as many as the alignment of all rows allows, up to a limit.
u32 pack_bytes(const StencilProblem& p, u32 limit) {
    u32 bytes = limit;
    while (bytes > p.size() && ((p.shape.columns * p.size() | p.in.offset | p.out.offset) % bytes != 0))
        bytes /= 2;
    return bytes;
}

// Packs have 8 bytes if all rows are aligned to them and registers suffice; the queue along z takes most registers. A
// tile of 64 x 64 points reads fewer halo points but needs all registers of a unit, so it requires a compiler that
// bounds them.
StencilTile streaming_tile(const Device& device, const StencilProblem& p) {
    constexpr u32 side = 32;
    const u32 radius = p.radius();
    if (p.size() == 8)
        return {.group_size = 256, .group_size_x = side, .pack = 1, .rows = radius <= 4 ? 4U : 2U};
    if (pack_bytes(p, 8) < 8 || radius > 5)
        return {.group_size = 256, .group_size_x = side, .pack = 1, .rows = 4};
    const bool large = radius > 2 && device.traits().bounds_registers;
    return {.group_size = large ? 512U : 256U, .group_size_x = side, .pack = 2, .rows = 4};
}

// Packs have up to 16 bytes, as the alignment of the rows allows. Registers decide how many packs a work-item has.
StencilTile columns_tile(const StencilProblem& p) {
    constexpr u32 vector = 16;
    const u32 bytes = pack_bytes(p, vector), narrow = vector / bytes;
    StencilTile tile{.pack = bytes / p.size()};
    if (p.radius() == 1) {
        tile.group_size = 128;
        tile.group_size_x = 32 * narrow;
        tile.rows = 2 * narrow;
        tile.resident = 6;
    } else {
        tile.group_size = 256;
        tile.group_size_x = 16 * narrow;
        tile.rows = narrow;
        tile.resident = p.radius() == 2 ? 4 : 1;
    }
    return tile;
}

// Tile of `ring`.
struct RingTile : StencilTile {
    u32 ahead = 1;  // planes in flight
};

RingTile ring_tile_of(const StencilProblem& p, u32 rows, u32 ahead, u32 resident) {
    constexpr u32 vector = 16;
    const u32 radius = p.radius(), bytes = pack_bytes(p, vector), narrow = vector / bytes;
    RingTile tile;
    tile.group_size = 256;
    tile.group_size_x = 16 * narrow;
    tile.pack = bytes / p.size();
    tile.rows = rows * narrow;
    tile.resident = resident;
    tile.ahead = ahead;
    tile.local_bytes = u64{radius + ahead + 1} * (tile.height() + 2 * radius) *
                       (tile.group_size_x + 2 * divide_up(radius, tile.pack)) * bytes;
    return tile;
}

// Whether a group's local memory holds the planes of a tile with two packs per work-item.
bool fits_high_tile(const Device& device, const StencilProblem& p) {
    return ring_tile_of(p, 2, p.radius() > 4 ? 1 : 2, 1).local_bytes <= device.traits().local_memory;
}

// High tiles read fewer halo points. Above radius 4, registers suffice for one group per unit.
RingTile ring_tile(const Device& device, const StencilProblem& p) {
    if (p.radius() > 4) return ring_tile_of(p, 2, 1, 1);
    if (fits_high_tile(device, p)) return ring_tile_of(p, 2, 2, 2);
    const RingTile low = ring_tile_of(p, 1, 2, 3);
    return low.local_bytes <= device.traits().local_memory ? low : ring_tile_of(p, 1, 1, 3);
}

// Groups of a kernel that the device runs at a time.
u64 resident_groups(const Device& device, const Kernel& kernel, const StencilTile& tile) {
    const DeviceTraits& traits = device.traits();
    const i64 known = kernel.attributes().groups_per_unit;
    u64 groups = known > 0 ? static_cast<u64>(known) : tile.resident;
    if (known > 0 && tile.local_bytes > 0) {
        // The device reserves 1 KiB per group.
        constexpr u64 reserved = 1024;
        groups = std::clamp<u64>((traits.local_memory + reserved) / (tile.local_bytes + reserved), 1, groups);
    }
    return u64{traits.units} * groups;
}

u64 min_couriers(const StencilTile& tile) {
    return std::max(2U, 2048 / tile.group_size);
}

// How the kernels see StencilExchange (stencil_halos.cu).
struct KernelNeighbour {
    u64 first = 0, last = 0;
    i64 shift = 0;
    u32 groups = 0, courier = 0, couriers = 0, unused = 0;
};
struct KernelExchange {
    KernelNeighbour side[2];
    u32 turn = 0, sends = 0, computing = 0, unused = 0;

    u32 groups() const { return computing + side[0].couriers + side[1].couriers; }
};

// Groups that send halos. `idle`: groups that the device has room for in the last wave of those that compute. A group
// of 512 work-items sends a MiB in a few microseconds.
u32 couriers_of(const StencilProblem& p, const StencilTile& tile, u64 idle) {
    if (p.exchange == nullptr || !p.exchange->sends) return 0;
    const u64 face_bytes = p.radius() * p.shape.rows * p.shape.columns * p.size(), least = min_couriers(tile);
    const u64 wanted = p.exchange->sides() * (face_bytes >> 20) * 512 / tile.group_size;
    return static_cast<u32>(std::clamp(wanted, least, std::clamp(idle, least, 4 * least)));
}

// The exchange of a launch in `tiles` tiles and pieces of `planes` planes.
KernelExchange kernel_exchange(const StencilProblem& p, const StencilTile& tile, u64 tiles, u64 planes,
                               u64 resident) {
    const StencilExchange& exchange = *p.exchange;
    const u64 begin = p.box.z_begin, end = p.box.z_end, pieces = divide_up(p.planes(), planes);
    const bool below = exchange.below.volume.buffer != nullptr,
               above = exchange.above.volume.buffer != nullptr;
    KernelExchange e;
    e.turn = exchange.turn;
    e.sends = exchange.sends ? 1 : 0;
    e.computing = static_cast<u32>(tiles * pieces);
    const u64 idle = divide_up(tiles * pieces, resident) * resident - tiles * pieces;
    const u32 each = couriers_of(p, tile, idle) / std::max(1U, exchange.sides());
    const u64 low = tiles * divide_up(p.radius(), planes),
              high = tiles * (pieces - (p.planes() - p.radius()) / planes);
    if (below)
        e.side[0] = {begin, begin + p.radius(), exchange.below.shift, static_cast<u32>(low), e.groups(), each,
                     0};
    if (above)
        e.side[1] = {
            end - p.radius(), end, exchange.above.shift, static_cast<u32>(high), e.groups(), each, 0};
    return e;
}

// Planes per group. A group also reads `halo` planes below and above its own, so groups should be deep; but they
// should also occupy the whole device. Takes the number of pieces with the fewest planes processed in all waves of
// groups.
u64 planes_of_group(const Device& device, const StencilProblem& p, u64 resident, u64 tiles, u64 halo) {
    const u64 depth = p.planes();
    // A group at both faces would send one of them at its end.
    const u64 fewest = p.exchange != nullptr && p.exchange->sides() == 2 ? 2 : 1;
    constexpr u64 max_pieces = 256;
    u64 best = depth, best_cost = ~u64{0};
    for (u64 pieces = fewest; pieces <= std::min(depth, max_pieces); ++pieces) {
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
    u64 planes = 0, resident = 1, prepared = 0;
    auto prepare = [&](u64 steps) {
        tile = tile_of(steps);
        kernel = kernel_of(tile);
        across = tiles_in(s.columns, tile.width());
        down = tiles_in(p.rows(), tile.height());
        resident = resident_groups(stream.device(), *kernel, tile);
        const u64 reserved = p.exchange != nullptr ? std::min(resident / 2, min_couriers(tile)) : 0;
        planes =
            planes_of_group(stream.device(), p, resident - reserved, u64{across} * down, p.radius() * steps);
        prepared = steps;
    };
    with_star(p, StarLength::used, [&](const ValueBytes& star) {
        each_sweep(stream, p, at_once, [&](const View& from, const View& to, u64 steps) {
            if (steps != prepared) prepare(steps);
            const u64 groups = u64{across} * down * divide_up(p.planes(), planes);
            const auto launch_with = [&](u64 count, const auto&... last) {
                launch(stream, *kernel, LaunchShape::linear(count, tile.group_size, tile.local_bytes), from,
                       to, s.depth, s.rows, s.columns, p.box.z_begin, p.box.z_end, p.box.y_begin, p.box.y_end,
                       down, across, planes, star, last...);
            };
            if (p.exchange == nullptr) return launch_with(groups);
            // The kernel does not use the views of a neighbour that does not exist.
            const auto view = [&](const View& of) { return of.buffer != nullptr ? of : to; };
            const StencilNeighbour &below = p.exchange->below, &above = p.exchange->above;
            const KernelExchange exchange = kernel_exchange(p, tile, u64{across} * down, planes, resident);
            launch_with(exchange.groups(), view(below.volume), view(above.volume), view(below.flags),
                        view(above.flags), view(below.raised), view(above.raised), struct_bytes(exchange));
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
    constexpr u32 vector = 16;
    const u32 bytes = pack_bytes(p, vector);
    return {.group_size = 256,
            .group_size_x = 32,
            .pack = bytes / p.size(),
            .rows = bytes == vector ? 4U : 8U,
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

Support supports_stencil_columns(const Device& device, const StencilProblem& p) {
    if (Support type = supports_type(device, p.type()); !type) return type;
    const StencilTile tile = columns_tile(p);
    if (Support group = supports_group(device, tile.group_size); !group) return group;
    return supports_tiles(p, tile, 256);
}

// Larger stars need more loads from L1 than it serves.
bool suits_stencil_columns(const Device& /*device*/, const StencilProblem& p) {
    return p.radius() <= 2;
}

void run_stencil_columns(Stream& stream, const StencilProblem& p) {
    run_along_z(
        stream, p, 1, [&](u64) { return columns_tile(p); },
        [&](const StencilTile& tile) {
            return stencil_kernel(stream.device(), p, kernel_sources::stencil_columns(), "stencil_columns",
                                  tile.group_size,
                                  {{"LANES_X", tile.group_size_x},
                                   {"GROUP", tile.group_size},
                                   {"PACK", tile.pack},
                                   {"ROWS", tile.rows},
                                   {"AHEAD", p.radius() == 1 ? 0 : 1},
                                   {"RESIDENT", tile.resident}});
        });
}

Support supports_stencil_ring(const Device& device, const StencilProblem& p) {
    if (Support type = supports_type(device, p.type()); !type) return type;
    const RingTile tile = ring_tile(device, p);
    if (Support group = supports_group(device, tile.group_size); !group) return group;
    if (Support local = supports_local_memory(device, tile.local_bytes); !local) return local;
    return supports_tiles(p, tile, 256);
}

// Without asynchronous copies, a group waits for the loads of every plane. Smaller stars leave registers enough for
// `streaming`, which is as fast.
bool suits_stencil_ring(const Device& device, const StencilProblem& p) {
    return p.radius() > 4 && (device.traits().async_copy || device.traits().f64_matrix_units);
}

void run_stencil_ring(Stream& stream, const StencilProblem& p) {
    const RingTile ring = ring_tile(stream.device(), p);
    run_along_z(
        stream, p, 1, [&](u64) { return ring; },
        [&](const StencilTile& tile) {
            return stencil_kernel(stream.device(), p, kernel_sources::stencil_ring(), "stencil_ring",
                                  tile.group_size,
                                  {{"LANES_X", tile.group_size_x},
                                   {"GROUP", tile.group_size},
                                   {"PACK", tile.pack},
                                   {"ROWS", tile.rows},
                                   {"AHEAD", ring.ahead},
                                   {"RESIDENT", tile.resident}});
        });
}

Support supports_stencil_temporal(const Device& device, const StencilProblem& p) {
    if (p.radius() > 2)
        return Support::no(
            "requires radius 1 or 2, because the planes of all steps are in registers; the star has radius "
            "{}",
            p.radius());
    if (Support type = supports_type(device, p.type()); !type) return type;
    const StencilTile tile = temporal_tile(p, temporal_steps(p));
    if (Support group = supports_group(device, tile.group_size); !group) return group;
    const u64 stage = u64{2 * temporal_margin} * tile.group_size * tile.pack * p.size();
    if (Support local = supports_local_memory(device, stage); !local) return local;
    return supports_tiles(p, tile, 256);
}

// One step alone is faster without the margins. Without shuffles, barriers make it slow. At radius 2 the margins cost
// more than the passes that they save, as long as the cache holds a good part of the volume.
bool suits_stencil_temporal(const Device& device, const StencilProblem& p) {
    constexpr u64 caches = 5;
    const u64 bytes = p.shape.depth * p.shape.rows * p.shape.columns * p.size();
    return p.steps > 1 && device.traits().shuffles &&
           (p.radius() == 1 || bytes > caches * device.traits().cache);
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
