// Host side of `register_tiled` for f64 on tensor cores: selection of the tile, and the self-test.

#include <concord/internal/matmul_mma.hpp>

#include <concord/log.hpp>

#include "matmul_sources.hpp"
#include "matmul_variants.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <mutex>
#include <span>

namespace concord::detail {
namespace {

// A group's tile of C. A warp has blocks_m x blocks_n blocks of 16 x 8 elements.
struct Tile {
    u32 warps_m, warps_n, blocks_m, blocks_n, slice, depth, stages, resident;
    double rate;        // throughput relative to the fastest tile, with all units of the device occupied
    double alone = 1;   // rate with one group per unit, relative to `rate`
    double narrow = 1;  // rate with copies of 8 bytes, relative to `rate`

    u32 group_size() const { return warps_m * warps_n * 32; }
    u32 rows() const { return warps_m * blocks_m * 16; }
    u32 columns() const { return warps_n * blocks_n * 8; }
};

// 128 x 128, 128 x 64, 64 x 64, 32 x 64, 32 x 32 and 32 x 16 elements. The rates were measured on an H200, except
// `narrow` of the second.
// clang-format off
constexpr Tile large_tiles[] = {
    {.warps_m = 2, .warps_n = 4, .blocks_m = 4, .blocks_n = 4, .slice = 16, .depth = 16, .stages = 4, .resident = 1,
     .rate = 1.0, .narrow = 0.93},
    {.warps_m = 4, .warps_n = 2, .blocks_m = 2, .blocks_n = 4, .slice = 8, .depth = 16, .stages = 4, .resident = 1,
     .rate = 0.91, .narrow = 0.9},
    {.warps_m = 2, .warps_n = 2, .blocks_m = 2, .blocks_n = 4, .slice = 8, .depth = 16, .stages = 4, .resident = 2,
     .rate = 0.88, .narrow = 0.88},
    {.warps_m = 1, .warps_n = 4, .blocks_m = 2, .blocks_n = 2, .slice = 8, .depth = 16, .stages = 6, .resident = 2,
     .rate = 0.78, .narrow = 0.76},
    {.warps_m = 2, .warps_n = 2, .blocks_m = 1, .blocks_n = 2, .slice = 8, .depth = 32, .stages = 4, .resident = 2,
     .rate = 0.68, .narrow = 0.74},
    {.warps_m = 2, .warps_n = 2, .blocks_m = 1, .blocks_n = 1, .slice = 8, .depth = 32, .stages = 4, .resident = 3,
     .rate = 0.42, .narrow = 0.85}};

// In less than 48 KiB of local memory, on the same device: 128 x 128, 128 x 64, 64 x 64 and 64 x 32 elements. Only the
// rate of the first is measured with these kernels.
constexpr Tile small_tiles[] = {
    {.warps_m = 2, .warps_n = 4, .blocks_m = 4, .blocks_n = 4, .slice = 4, .depth = 4, .stages = 5, .resident = 1,
     .rate = 1.0, .alone = 0.95},
    {.warps_m = 4, .warps_n = 2, .blocks_m = 2, .blocks_n = 4, .slice = 8, .depth = 8, .stages = 3, .resident = 1,
     .rate = 0.85, .alone = 0.62},
    {.warps_m = 2, .warps_n = 2, .blocks_m = 2, .blocks_n = 4, .slice = 8, .depth = 8, .stages = 3, .resident = 1,
     .rate = 0.8, .alone = 0.76},
    {.warps_m = 2, .warps_n = 2, .blocks_m = 2, .blocks_n = 2, .slice = 8, .depth = 8, .stages = 5, .resident = 1,
     .rate = 0.55, .alone = 0.79}};
// clang-format on

// Kernels declare up to 48 KiB of local memory. More has to be requested at the launch, as in CUDA.
bool declares_local_memory(const Device& device) {
    return device.traits().local_memory <= u64{48} << 10;
}

std::span<const Tile> tiles_for(const Device& device) {
    return declares_local_memory(device) ? std::span<const Tile>(small_tiles) : large_tiles;
}

// How an operand lies in memory, and how many elements one copy moves. The kernels have the same numbers.
enum Mode : u32 { along_k, along_side };

struct Load {
    Mode mode;
    u32 width;
};

Load load_of(const View& view, bool is_along_k, u64 contiguous, u64 pitch, u64 stride) {
    return {.mode = is_along_k ? along_k : along_side,
            .width = in_whole_packs(view, contiguous, pitch, stride) ? 2U : 1U};
}

struct Loads {
    Load a, b;
};

Loads loads_of(const MatmulProblem& p) {
    const MatmulShape& s = p.shape;
    return {.a = load_of(p.a, !s.transpose_a, s.transpose_a ? s.m : s.depth(), s.a_pitch, s.a_stride),
            .b = load_of(p.b, s.transpose_b, s.transpose_b ? s.depth() : s.n, s.b_pitch, s.b_stride)};
}

// Index of the tile with the shortest estimated time on the unit that has the most groups.
u32 choose_tile(const Device& device, const MatmulProblem& p, const Loads& loads) {
    const std::span<const Tile> tiles = tiles_for(device);
    const bool narrow = loads.a.width == 1 || loads.b.width == 1;
    u32 best = 0;
    double least = 0;
    for (u32 t = 0; t < tiles.size(); ++t) {
        const Tile& tile = tiles[t];
        const double groups = static_cast<double>(divide_up(p.shape.m, tile.rows())) *
                              static_cast<double>(divide_up(p.shape.n, tile.columns())) *
                              static_cast<double>(p.shape.batch);
        const double each = std::ceil(groups / device.traits().units);
        const double rate = tile.rate * (each <= 1 ? tile.alone : 1) * (narrow ? tile.narrow : 1);
        const double time = each * tile.rows() * tile.columns() / rate;
        if (t == 0 || time < least) {
            best = t;
            least = time;
        }
    }
    return static_cast<u32>(
               std::min<u64>(tiles.size(), tuned(device, matmul_tile_index, point_of(p), best + 1))) -
           1;
}

// Bytes of local memory of a group. If the launch requests it, every line of a stage has 4 elements of padding, and
// every stage has two barriers.
u64 local_bytes(const Device& device, const Tile& tile, const Loads& loads) {
    const u64 padding = declares_local_memory(device) ? 0 : 4, barriers = padding == 0 ? 0 : 2 * sizeof(u64);
    const auto elements = [&](const Load& load, u32 side) {
        return load.mode == along_k ? u64{side} * (tile.depth + padding) : u64{tile.depth} * (side + padding);
    };
    const u64 stage = (elements(loads.a, tile.rows()) + elements(loads.b, tile.columns())) * sizeof(f64);
    return tile.stages * (stage + barriers);
}

bool fits(const Device& device, const MatmulProblem& p, const Tile& tile, const Loads& loads) {
    return local_bytes(device, tile, loads) <= device.traits().local_memory &&
           tile.group_size() <= device.traits().max_group_size &&
           static_cast<bool>(supports_tiles(p, tile.rows(), tile.columns()));
}

void multiply(Stream& stream, const MatmulProblem& p, const Tile& tile, const Loads& loads) {
    Device& device = stream.device();
    const auto kernel =
        matmul_kernel(device, Type::f64, kernel_sources::matmul_mma(), "matmul_mma", tile.group_size(),
                      {{"GROUP", tile.group_size()},
                       {"WARPS_M", tile.warps_m},
                       {"WARPS_N", tile.warps_n},
                       {"BLOCKS_M", tile.blocks_m},
                       {"BLOCKS_N", tile.blocks_n},
                       {"SLICE", tile.slice},
                       {"DEPTH", tile.depth},
                       {"STAGES", tile.stages},
                       {"LATER_STEPS", tile.stages - 2},
                       {"RESIDENT", tile.resident},
                       {"A_MODE", u32{loads.a.mode}},
                       {"B_MODE", u32{loads.b.mode}},
                       {"A_WIDTH", loads.a.width},
                       {"B_WIDTH", loads.b.width}},
                      {});
    const MatmulTiles tiles = tiles_of(p, tile.rows(), tile.columns());
    const u64 requested = declares_local_memory(device) ? 0 : local_bytes(device, tile, loads);
    const LaunchShape shape = LaunchShape::linear(tiles.groups, tile.group_size(), requested);
    const u32 packs = is_aligned(p.c, p.shape.c_pitch, p.shape.c_stride) ? 1 : 0;
    with_product(p, [&](const ValueBytes& product) {
        launch(stream, *kernel, shape, p.a, p.b, p.c, product, tiles.down, tiles.across,
               std::min(matmul_band_rows, tiles.down), packs);
    });
}

// --- Self-test ------------------------------------------------------------------------------------------------------

// Fills rows x columns elements. Rows (of A) or columns (of B) cycle through five kinds of values: 0 uniform, 1 of many
// magnitudes, 2 nearly equal with alternating signs, 3 products with each other underflow to 0, 4 products with 3 and 4
// are denormals. All values are normal numbers. Values of kind 3 have the sign `sign`.
std::vector<f64> self_test_values(u64 rows, u64 columns, bool kinds_of_rows, f64 sign, u64 seed) {
    std::vector<f64> values(rows * columns);
    const auto random = [&] {  // in [0, 1), from Knuth's MMIX generator
        seed = seed * 6364136223846793005 + 1442695040888963407;
        return static_cast<f64>(seed >> 11) * 0x1p-53;
    };
    for (u64 i = 0; i < rows; ++i) {
        for (u64 j = 0; j < columns; ++j) {
            const f64 u = 1 + random(), choice = random();
            const f64 either = choice < 0.5 ? u : -u;
            f64& value = values[i * columns + j];
            switch ((kinds_of_rows ? i : j) % 5) {
                case 0:
                    value = u - 1.5;
                    break;
                case 1:
                    value = std::ldexp(either, static_cast<int>(random() * 80) - 40);
                    break;
                case 2:
                    value = kinds_of_rows && j % 2 == 1 ? -1 - u * 0x1p-20 : 1 + u * 0x1p-20;
                    break;
                case 3:
                    value = std::ldexp(sign * u, -540);
                    break;
                default:
                    value = std::ldexp(either, -525);
            }
        }
    }
    return values;
}

// The verdict of the self-test on the device, which runs at the first call. A call that runs out of device memory
// returns false and leaves the verdict open.
bool may_use_matrix_units(Device& device) {
    if (!device.traits().f64_matrix_units) return false;
    if (!device.traits().runs) return true;
    static std::mutex mutex;
    static std::map<const Device*, bool> verdicts;
    const std::lock_guard lock(mutex);
    if (const auto found = verdicts.find(&device); found != verdicts.end()) return found->second;
    bool exact = false;
    std::string why = "products differ from chains of fused multiply-adds";
    try {
        exact = in_default_float_environment([&] { return f64_matrix_units_are_exact(device); });
    } catch (const Error& error) {
        if (error.code() == ErrorCode::out_of_memory) return false;
        if (error.code() != ErrorCode::compile_failed) throw;
        why = error.what();
    }
    verdicts.emplace(&device, exact);
    if (!exact)
        log_warn("matmul: " + device.info().selector +
                 ": f64 does not use tensor cores, because their self-test failed: " + why);
    return exact;
}

}  // namespace

MatmulSelfTest::MatmulSelfTest(u64 swap)
    : a(self_test_values(m, k, true, 1, 1)), b(self_test_values(k, n, false, -1, 2)) {
    for (u64 l = 0; l < k; ++l) {
        const u64 other = l ^ swap;
        if (other <= l || other >= k) continue;
        for (u64 i = 0; i < m; ++i)
            std::swap(a[i * k + l], a[i * k + other]);
        for (u64 j = 0; j < n; ++j)
            std::swap(b[l * n + j], b[other * n + j]);
    }
}

bool f64_matrix_units_are_exact(Device& device, u64 swap) {
    constexpr u64 m = MatmulSelfTest::m, n = MatmulSelfTest::n, k = MatmulSelfTest::k;
    const auto stream = device.create_stream();
    const Array<f64> c(*stream, m * n);
    const auto product = [&](const MatmulSelfTest& operands, auto run) {
        const Array<f64> a(*stream, operands.a), b(*stream, operands.b);
        const u64 poison = ~u64{0};  // a NaN: an element that the kernel does not store differs
        stream->fill(*c.buffer(), 0, m * n * sizeof(f64), &poison, sizeof poison);
        const MatmulShape shape{.m = m,
                                .n = n,
                                .k = k,
                                .a_pitch = k,
                                .b_pitch = n,
                                .c_pitch = n,
                                .a_stride = m * k,
                                .b_stride = k * n,
                                .c_stride = m * n};
        run(*stream, MatmulProblem{.a = a.view(), .b = b.view(), .c = c.view(), .shape = shape, .scale = {}});
        return c.to_host(*stream);
    };
    const std::vector<f64> expected = product(MatmulSelfTest(), run_matmul_naive);
    // The instruction depends on the length of a slice. The smallest tile compiles fastest.
    for (const u32 slice : {4U, 8U, 16U}) {
        const std::span<const Tile> tiles = tiles_for(device);
        if (std::ranges::none_of(tiles, [&](const Tile& t) { return t.slice == slice; })) continue;
        Tile tile = tiles.back();
        tile.slice = slice;
        const std::vector<f64> got = product(MatmulSelfTest(swap), [&](Stream& on, const MatmulProblem& p) {
            multiply(on, p, tile, loads_of(p));
        });
        if (!std::ranges::equal(got, expected, {}, std::bit_cast<u64, f64>, std::bit_cast<u64, f64>))
            return false;
    }
    return true;
}

bool run_matmul_mma(Stream& stream, const MatmulProblem& p) {
    Device& device = stream.device();
    if (p.type() != Type::f64 || !may_use_matrix_units(device)) return false;
    const Loads loads = loads_of(p);
    const Tile& tile = tiles_for(device)[choose_tile(device, p, loads)];
    if (!fits(device, p, tile, loads)) return false;
    multiply(stream, p, tile, loads);
    return true;
}

}  // namespace concord::detail
