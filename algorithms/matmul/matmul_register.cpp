// The host side of `register_tiled` and `tf32x3`: which tiles, and how operands lie.

#include "matmul_table.hpp"

#include <span>

namespace concord::detail {
namespace {

// A group's tile of C: warps of 8 x 4 lanes, each with packs of 16 bytes down and across.
struct Tile {
    u32 warps_m, warps_n, packs_m, packs_n, depth, stages, resident;
    double rate;  // of a full machine, against the best of them

    u32 group_size() const { return warps_m * warps_n * 32; }
    u32 rows(u32 size) const { return warps_m * 8 * packs_m * (16 / size); }
    u32 columns(u32 size) const { return warps_n * 4 * packs_n * (16 / size); }
};

// Of elements of 4 bytes 128 x 256, 128 x 128, 64 x 128, 64 x 64 and 32 x 32; of 8 bytes 128 x 64, 64 x 32 and 32 x 32. The
// rates are those of an H200 where a product fills it.
constexpr Tile tiles_f32[] = {{1, 8, 4, 2, 8, 3, 1, 1.0},
                              {1, 4, 4, 2, 8, 3, 2, 0.99},
                              {1, 4, 2, 2, 8, 4, 3, 0.93},
                              {1, 2, 2, 2, 8, 4, 4, 0.9},
                              {1, 2, 1, 1, 16, 4, 8, 0.55}};
constexpr Tile tiles_f64[] = {
    {2, 4, 4, 2, 8, 3, 2, 1.0}, {1, 2, 4, 2, 8, 4, 4, 0.95}, {1, 2, 2, 2, 8, 4, 6, 0.8}};

// Without asynchronous copies, in OpenCL C, on the same device: 128 x 128, 64 x 128, 64 x 64, 32 x 64 and 32 x 32.
constexpr Tile synchronous_tiles_f32[] = {{1, 4, 4, 2, 8, 2, 2, 1.0},
                                          {1, 4, 2, 2, 8, 2, 3, 0.99},
                                          {1, 2, 2, 2, 8, 2, 4, 0.93},
                                          {1, 4, 1, 1, 16, 2, 8, 0.62},
                                          {1, 2, 1, 1, 32, 2, 8, 0.58}};

std::span<const Tile> tiles_for(const Device& device, const MatmulProblem& p) {
    if (p.type() == Type::f64) return tiles_f64;
    return device.traits().async_copy ? std::span<const Tile>(tiles_f32) : synchronous_tiles_f32;
}
// The part of its rate that a unit with so many warps reaches: four schedulers want one each, and more to hide latency, which
// asynchronous copies do by themselves.
double filled(const Device& device, double warps) {
    if (!device.traits().async_copy) return std::min(1.0, 0.12 * warps);
    return warps < 4 ? warps * 0.19 : std::min(1.0, 0.5 + warps / 16);
}

// The tile with which the unit that has most to do is done first.
u32 choose_tile(const Device& device, const MatmulProblem& p) {
    u32 best = 0;
    double least = 0;
    for (u32 t = 0; t < tiles_for(device, p).size(); ++t) {
        const Tile& tile = tiles_for(device, p)[t];
        const double rows = tile.rows(p.size()), columns = tile.columns(p.size());
        const double groups = static_cast<double>(divide_up(p.shape.m, tile.rows(p.size()))) *
                              static_cast<double>(divide_up(p.shape.n, tile.columns(p.size()))) *
                              static_cast<double>(p.shape.batch);
        const double units = device.traits().units, each = std::ceil(groups / units);
        const double resident = std::min(each, static_cast<double>(tile.resident));
        const double time =
            each * rows * columns / (tile.rate * filled(device, resident * tile.group_size() / 32));
        if (t == 0 || time < least) {
            best = t;
            least = time;
        }
    }
    const u64 last = tiles_for(device, p).size();
    return static_cast<u32>(std::min(last, tuned(device, matmul_tile_index, point_of(p), best + 1))) - 1;
}

// See matmul_copy.cu and matmul.cl.
enum Mode : u32 { along_k, along_side, in_packs, in_packs_along_k };

bool is_aligned(const View& view, u64 pitch, u64 stride) {
    constexpr u64 pack_bytes = 16;
    const u64 size = size_of(view.type);
    return view.offset % pack_bytes == 0 && pitch * size % pack_bytes == 0 && stride * size % pack_bytes == 0;
}

// Whether an operand's elements that follow one another, `beside` of them, come in whole packs.
bool in_whole_packs(const View& view, u64 beside, u64 pitch, u64 stride) {
    return beside * size_of(view.type) % 16 == 0 && is_aligned(view, pitch, stride);
}

struct Modes {
    Mode a, b;
};

// Asynchronous copies cannot turn a pack, so theirs along k are of one element. The others take packs of both operands or
// of none, which is half as many kernels.
Modes modes_of(const MatmulProblem& p, bool asynchronous) {
    const MatmulShape& s = p.shape;
    const bool a_along_k = !s.transpose_a, b_along_k = s.transpose_b;
    bool a = in_whole_packs(p.a, a_along_k ? s.k : s.m, s.a_pitch, s.a_stride);
    bool b = in_whole_packs(p.b, b_along_k ? s.k : s.n, s.b_pitch, s.b_stride);
    if (!asynchronous) a = b = a && b;
    const auto mode = [&](bool k, bool packs) {
        if (k) return packs && !asynchronous ? in_packs_along_k : along_k;
        return packs ? in_packs : along_side;
    };
    return {mode(a_along_k, a), mode(b_along_k, b)};
}

constexpr u32 band_rows = 16;
constexpr u64 most_k = (u64{1} << 31) - 1;

Support supports_k(const MatmulProblem& p) {
    if (p.shape.k <= most_k) return {};
    return Support::no("k is " + std::to_string(p.shape.k) + ", it counts to " + std::to_string(most_k));
}

}  // namespace

Support supports_matmul_register_tiled(const Device& device, const MatmulProblem& p) {
    if (!device.traits().many_items)
        return Support::no("requires many work-items per group; " + device.info().selector +
                           " runs groups of one");
    if (Support type = supports_type(device, p.type()); !type) return type;
    if (Support group = supports_group(device, tiles_for(device, p)[0].group_size()); !group) return group;
    if (Support k = supports_k(p); !k) return k;
    const Tile& smallest = tiles_for(device, p).back();
    return supports_tiles(p, smallest.rows(p.size()), smallest.columns(p.size()));
}

void run_matmul_register_tiled(Stream& stream, const MatmulProblem& p) {
    Device& device = stream.device();
    const MatmulShape& s = p.shape;
    const bool asynchronous = device.traits().async_copy;
    const u32 which = choose_tile(device, p);
    const Tile& tile = tiles_for(device, p)[which];
    const auto [a, b] = modes_of(p, asynchronous);
    const auto kernel = matmul_kernel(device, p.type(), MatmulSource::register_tiled, "matmul_register_tiled",
                                      tile.group_size(),
                                      {{"GROUP", tile.group_size()},
                                       {"WARPS_M", tile.warps_m},
                                       {"WARPS_N", tile.warps_n},
                                       {"PACKS_M", tile.packs_m},
                                       {"PACKS_N", tile.packs_n},
                                       {"DEPTH", asynchronous || p.type() == Type::f32 ? tile.depth : 8},
                                       {"STAGES", tile.stages},
                                       {"RESIDENT", tile.resident},
                                       {"A_MODE", u32{a}},
                                       {"B_MODE", u32{b}}},
                                      {});
    const MatmulTiles tiles = tiles_of(p, tile.rows(p.size()), tile.columns(p.size()));
    const LaunchShape shape = LaunchShape::linear(tiles.groups, tile.group_size());
    const u32 band = std::min(band_rows, tiles.down), packs = is_aligned(p.c, s.c_pitch, s.c_stride) ? 1 : 0;
    with_product(p, [&](const ValueBytes& product) {
        if (!asynchronous)
            return launch(stream, *kernel, shape, p.a, p.b, p.c, product, tiles.down, tiles.across, band);
        launch(stream, *kernel, shape, p.a, p.b, p.c, product, tiles.down, tiles.across, band, packs);
    });
}

// --- tf32x3 ---------------------------------------------------------------------------------------------------------

namespace {
constexpr u32 tf32_lanes = 256, tf32_tile = 128, tf32_depth = 16;
}

Support supports_matmul_tf32x3(const Device& device, const MatmulProblem& p) {
    if (p.type() != Type::f32) return Support::no("takes f32, not " + std::string(name_of(p.type())));
    if (Support group = supports_group(device, tf32_lanes); !group) return group;
    if (Support k = supports_k(p); !k) return k;
    return supports_tiles(p, tf32_tile, tf32_tile);
}

void run_matmul_tf32x3(Stream& stream, const MatmulProblem& p) {
    const auto [a, b] = modes_of(p, true);
    const auto kernel = matmul_kernel(
        stream.device(), p.type(), MatmulSource::tf32, "matmul_tf32x3", tf32_lanes,
        {{"GROUP", tf32_lanes}, {"DEPTH", tf32_depth}, {"A_MODE", u32{a}}, {"B_MODE", u32{b}}}, {});
    const MatmulTiles tiles = tiles_of(p, tf32_tile, tf32_tile);
    with_product(p, [&](const ValueBytes& product) {
        launch(stream, *kernel, LaunchShape::linear(tiles.groups, tf32_lanes), p.a, p.b, p.c, product,
               tiles.down, tiles.across, std::min(band_rows, tiles.down));
    });
}

}  // namespace concord::detail
