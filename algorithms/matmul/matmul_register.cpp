// Host side of `register_tiled` and `tf32x3`: selection of the tile and of the operands' load modes.

#include <concord/internal/matmul_mma.hpp>
#include "matmul_sources.hpp"
#include "matmul_variants.hpp"

#include <span>

namespace concord::detail {
namespace {

// A group's tile of C. A warp has 8 x 4 lanes; a lane holds packs_m x packs_n packs, each 16 bytes high and 16 bytes
// wide.
struct Tile {
    u32 warps_m, warps_n, packs_m, packs_n, depth, stages, resident;
    double rate;  // throughput relative to the fastest tile, with all units of the device occupied

    u32 group_size() const { return warps_m * warps_n * 32; }
    u32 rows(u32 size) const { return warps_m * 8 * packs_m * (16 / size); }
    u32 columns(u32 size) const { return warps_n * 4 * packs_n * (16 / size); }
};

// f32: 128 x 256, 128 x 128, 64 x 128, 64 x 64 and 32 x 32 elements; f64: 128 x 64, 64 x 32 and 32 x 32. The rates
// were measured on an H200 with products that occupy all of it.
// clang-format off
constexpr Tile tiles_f32[] = {
    {.warps_m = 1, .warps_n = 8, .packs_m = 4, .packs_n = 2, .depth = 8, .stages = 3, .resident = 1, .rate = 1.0},
    {.warps_m = 1, .warps_n = 4, .packs_m = 4, .packs_n = 2, .depth = 8, .stages = 3, .resident = 2, .rate = 0.99},
    {.warps_m = 1, .warps_n = 4, .packs_m = 2, .packs_n = 2, .depth = 8, .stages = 4, .resident = 3, .rate = 0.93},
    {.warps_m = 1, .warps_n = 2, .packs_m = 2, .packs_n = 2, .depth = 8, .stages = 4, .resident = 4, .rate = 0.9},
    {.warps_m = 1, .warps_n = 2, .packs_m = 1, .packs_n = 1, .depth = 16, .stages = 4, .resident = 8, .rate = 0.55}};
constexpr Tile tiles_f64[] = {
    {.warps_m = 2, .warps_n = 4, .packs_m = 4, .packs_n = 2, .depth = 8, .stages = 3, .resident = 2, .rate = 1.0},
    {.warps_m = 1, .warps_n = 2, .packs_m = 4, .packs_n = 2, .depth = 8, .stages = 4, .resident = 4, .rate = 0.95},
    {.warps_m = 1, .warps_n = 2, .packs_m = 2, .packs_n = 2, .depth = 8, .stages = 4, .resident = 6, .rate = 0.8}};

// OpenCL C, without asynchronous copies, on the same device: 128 x 128, 64 x 128, 64 x 64, 32 x 64 and 32 x 32
// elements.
constexpr Tile synchronous_tiles_f32[] = {
    {.warps_m = 1, .warps_n = 4, .packs_m = 4, .packs_n = 2, .depth = 8, .stages = 2, .resident = 2, .rate = 1.0},
    {.warps_m = 1, .warps_n = 4, .packs_m = 2, .packs_n = 2, .depth = 8, .stages = 2, .resident = 3, .rate = 0.99},
    {.warps_m = 1, .warps_n = 2, .packs_m = 2, .packs_n = 2, .depth = 8, .stages = 2, .resident = 4, .rate = 0.93},
    {.warps_m = 1, .warps_n = 4, .packs_m = 1, .packs_n = 1, .depth = 16, .stages = 2, .resident = 8, .rate = 0.62},
    {.warps_m = 1, .warps_n = 2, .packs_m = 1, .packs_n = 1, .depth = 32, .stages = 2, .resident = 8, .rate = 0.58}};
// clang-format on

std::span<const Tile> tiles_for(const Device& device, const MatmulProblem& p) {
    if (p.type() == Type::f64) return tiles_f64;
    return device.traits().async_copy ? std::span<const Tile>(tiles_f32) : synchronous_tiles_f32;
}

// Fraction of its peak rate that a unit reaches with this many resident warps. Each of its four schedulers needs one
// warp, and more to hide latency. Asynchronous copies hide latency with fewer warps.
double occupancy_rate(const Device& device, double warps) {
    if (!device.traits().async_copy) return std::min(1.0, 0.12 * warps);
    return warps < 4 ? warps * 0.19 : std::min(1.0, 0.5 + warps / 16);
}

// Index of the tile with the shortest estimated time on the unit that has the most groups.
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
            each * rows * columns / (tile.rate * occupancy_rate(device, resident * tile.group_size() / 32));
        if (t == 0 || time < least) {
            best = t;
            least = time;
        }
    }
    const u64 last = tiles_for(device, p).size();
    return static_cast<u32>(std::min(last, tuned(device, matmul_tile_index, point_of(p), best + 1))) - 1;
}

// How an operand is loaded; see matmul_copy.cu and matmul.cl, which have the same numbers.
enum Mode : u32 { along_k, along_side, in_packs, in_packs_along_k };

// Which copies a kernel uses from global to local memory.
enum class Copies { synchronous, asynchronous };

struct Modes {
    Mode a, b;
};

// Asynchronous copies cannot transpose a pack: along k they copy single elements. Synchronous kernels use packs for
// both operands or for neither, which halves the number of kernels.
Modes modes_of(const MatmulProblem& p, Copies copies) {
    struct Layout {
        bool is_along_k, has_packs;
    };
    const MatmulShape& s = p.shape;
    Layout a{.is_along_k = !s.transpose_a,
             .has_packs = in_whole_packs(p.a, s.transpose_a ? s.m : s.depth(), s.a_pitch, s.a_stride)};
    Layout b{.is_along_k = s.transpose_b,
             .has_packs = in_whole_packs(p.b, s.transpose_b ? s.depth() : s.n, s.b_pitch, s.b_stride)};
    const bool synchronous = copies == Copies::synchronous;
    if (synchronous) a.has_packs = b.has_packs = a.has_packs && b.has_packs;
    const auto mode = [&](const Layout& operand) {
        if (operand.is_along_k) return operand.has_packs && synchronous ? in_packs_along_k : along_k;
        return operand.has_packs ? in_packs : along_side;
    };
    return {.a = mode(a), .b = mode(b)};
}

constexpr u64 max_k = (u64{1} << 31) - 1;

Support supports_k(const MatmulProblem& p) {
    if (p.shape.k <= max_k) return {};
    return Support::no("k is limited to {}, got {}", max_k, p.shape.k);
}

void run_without_matrix_units(Stream& stream, const MatmulProblem& p) {
    Device& device = stream.device();
    const MatmulShape& s = p.shape;
    const bool asynchronous = device.traits().async_copy;
    const Tile& tile = tiles_for(device, p)[choose_tile(device, p)];
    const auto [a, b] = modes_of(p, asynchronous ? Copies::asynchronous : Copies::synchronous);
    const auto kernel =
        matmul_kernel(device, p.type(), kernel_sources::matmul(), "matmul_register_tiled", tile.group_size(),
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
    const u32 band = std::min(matmul_band_rows, tiles.down),
              packs = is_aligned(p.c, s.c_pitch, s.c_stride) ? 1 : 0;
    with_product(p, [&](const ValueBytes& product) {
        if (!asynchronous)
            return launch(stream, *kernel, shape, p.a, p.b, p.c, product, tiles.down, tiles.across, band);
        launch(stream, *kernel, shape, p.a, p.b, p.c, product, tiles.down, tiles.across, band, packs);
    });
}

}  // namespace

Support supports_matmul_register_tiled(const Device& device, const MatmulProblem& p) {
    if (Support type = supports_type(device, p.type()); !type) return type;
    if (Support group = supports_group(device, tiles_for(device, p)[0].group_size()); !group) return group;
    if (Support k = supports_k(p); !k) return k;
    const Tile& smallest = tiles_for(device, p).back();
    return supports_tiles(p, smallest.rows(p.size()), smallest.columns(p.size()));
}

void run_matmul_register_tiled(Stream& stream, const MatmulProblem& p) {
    if (!run_matmul_mma(stream, p)) run_without_matrix_units(stream, p);
}

void matmul_without_matrix_units(Stream& stream, const VolumeView& a, const VolumeView& b,
                                 const VolumeView& c, const MatmulScale& scale) {
    run_without_matrix_units(stream, matmul_problem(stream, a, b, c, scale));
}

// --- tf32x3 ---------------------------------------------------------------------------------------------------------

namespace {
constexpr u32 tf32_group_size = 256, tf32_tile = 128, tf32_depth = 16;
}

Support supports_matmul_tf32x3(const Device& device, const MatmulProblem& p) {
    if (p.type() != Type::f32) return Support::no("requires f32, got {}", name_of(p.type()));
    if (Support group = supports_group(device, tf32_group_size); !group) return group;
    if (Support k = supports_k(p); !k) return k;
    return supports_tiles(p, tf32_tile, tf32_tile);
}

void run_matmul_tf32x3(Stream& stream, const MatmulProblem& p) {
    const auto [a, b] = modes_of(p, Copies::asynchronous);
    const auto kernel = matmul_kernel(
        stream.device(), p.type(), kernel_sources::matmul_tf32(), "matmul_tf32x3", tf32_group_size,
        {{"GROUP", tf32_group_size}, {"DEPTH", tf32_depth}, {"A_MODE", u32{a}}, {"B_MODE", u32{b}}}, {});
    const MatmulTiles tiles = tiles_of(p, tf32_tile, tf32_tile);
    with_product(p, [&](const ValueBytes& product) {
        launch(stream, *kernel, LaunchShape::linear(tiles.groups, tf32_group_size), p.a, p.b, p.c, product,
               tiles.down, tiles.across, std::min(matmul_band_rows, tiles.down));
    });
}

}  // namespace concord::detail
