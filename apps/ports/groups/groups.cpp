// Kernels of work-groups
//
// Six kernels that share data within a block in `__shared__` memory: LU decomposition, layer normalisation, matrix
// product, bitonic sort, a stencil with a halo, and sums of blocks. Each kernel of the port is one
// `CONCORD_GROUP_KERNEL` for CUDA, OpenCL and CPUs.
//
// The rules of the port:
//
// - A part of the original between two `__syncthreads()` becomes a phase, `CONCORD_ITEMS((x, y)) { }`. A loop
//   `for (i = threadIdx.x; i < n; i += blockDim.x)` becomes `CONCORD_STRIDED((i, 0, n)) { }`.
// - `__shared__` arrays become `CONCORD_LOCAL`. Variables of a thread that last from phase to phase become
//   `CONCORD_PRIVATE`. Those that are the same for all threads stay between the phases.
// - Reductions and scans in shared memory or by shuffles become collectives.
// - Loops whose body contains `__syncthreads()` stay: they contain phases.
//
// On CPUs a phase is a loop over the work-items. The compiler vectorises it over `x` if neighbouring work-items access
// neighbouring elements, also in local memory. Two ports differ from their originals for this reason:
//
// - The sort keeps the keys of a tile by columns. Most distances are small. Their two keys are in two rows of the same
//   column, so that neighbouring work-items exchange neighbouring keys. One kernel sorts tiles and merges them. A step
//   in global memory computes the place of its group's keys once.
// - Each work-item of the product keeps four sums in a private array. Its elements of neighbouring work-items are
//   neighbours.
//
// The check compares all bits with plain loops. LU, the product, the sort and the stencil of the originals have these
// bits too. The original sums of rows and blocks have another order than collectives, so these two compare within a
// tolerance.

#include "../port.hpp"

#include <algorithm>
#include <barrier>
#include <cmath>

#include "loops.hpp"
#include "original_bitonic.hpp"
#include "original_heat.hpp"
#include "original_layernorm.hpp"
#include "original_lud.hpp"
#include "original_product.hpp"
#include "original_scan.hpp"

using namespace ports;

// clang-format off
// lud: LU decomposition
CONCORD_GROUP_KERNEL(lud_diagonal, (16), (f32* m, u64 n, u64 offset),
    CONCORD_LOCAL(f32, tile, [16][17]);
    const u64 at = offset * n + offset;
    CONCORD_ITEMS((t)) { for (u32 i = 0; i < 16; ++i) tile[i][t] = m[at + i * n + t]; }
    for (u32 k = 0; k < 15; ++k) {
        CONCORD_ITEMS((t)) {
            if (t <= k) continue;
            tile[t][k] /= tile[k][k];
            for (u32 j = k + 1; j < 16; ++j) tile[t][j] -= tile[t][k] * tile[k][j];
        }
    }
    CONCORD_ITEMS((t)) { for (u32 i = 0; i < 16; ++i) m[at + i * n + t] = tile[i][t]; })
CONCORD_GROUP_KERNEL(lud_perimeter, (16, 2), (f32* m, u64 n, u64 offset),
    CONCORD_LOCAL(f32, diagonal, [16][16]);
    CONCORD_LOCAL(f32, top, [16][16]);
    CONCORD_LOCAL(f32, left, [16][17]);
    const u64 at = offset + 16 * (group.x + 1);
    CONCORD_ITEMS((x, y)) {
        for (u32 i = y; i < 16; i += 2) {
            diagonal[i][x] = m[(offset + i) * n + offset + x];
            top[i][x] = m[(offset + i) * n + at + x];
            left[x][i] = m[(at + i) * n + offset + x];
        }
    }
    CONCORD_ITEMS((x, y)) {
        if (y == 0) {
            for (u32 i = 1; i < 16; ++i) {
                f32 value = top[i][x];
                for (u32 j = 0; j < i; ++j) value -= diagonal[i][j] * top[j][x];
                top[i][x] = value;
            }
        } else {
            for (u32 i = 0; i < 16; ++i) {
                f32 value = left[i][x];
                for (u32 j = 0; j < i; ++j) value -= left[j][x] * diagonal[j][i];
                left[i][x] = value / diagonal[i][i];
            }
        }
    }
    CONCORD_ITEMS((x, y)) {
        for (u32 i = y; i < 16; i += 2) {
            m[(offset + i) * n + at + x] = top[i][x];
            m[(at + i) * n + offset + x] = left[x][i];
        }
    })
CONCORD_GROUP_KERNEL(lud_internal, (16, 16), (f32* m, u64 n, u64 offset),
    CONCORD_LOCAL(f32, left, [16][16]);
    CONCORD_LOCAL(f32, top, [16][16]);
    const u64 row = offset + 16 * (group.y + 1), column = offset + 16 * (group.x + 1);
    CONCORD_ITEMS((x, y)) {
        left[y][x] = m[(row + y) * n + offset + x];
        top[y][x] = m[(offset + y) * n + column + x];
    }
    CONCORD_ITEMS((x, y)) {
        f32 sum = 0;
        for (u32 i = 0; i < 16; ++i) sum += left[y][i] * top[i][x];
        m[(row + y) * n + column + x] -= sum;
    })
// clang-format on

// clang-format off
// layernorm: Layer normalisation
CONCORD_GROUP_KERNEL(layernorm, (256),
    (f32* out, const f32* in, const f32* scale, const f32* shift, u64 columns, f32 epsilon),
    CONCORD_PRIVATE(f32, sum) = 0;
    CONCORD_PRIVATE(f32, squares) = 0;
    const u64 row = group.x * columns;
    CONCORD_STRIDED((i, 0, columns), sum) { sum += in[row + i]; }
    const f32 mean = group_sum(sum) / (f32)columns;
    CONCORD_STRIDED((i, 0, columns), squares) {
        const f32 difference = in[row + i] - mean;
        squares += difference * difference;
    }
    const f32 factor = 1 / sqrt(group_sum(squares) / (f32)columns + epsilon);
    CONCORD_STRIDED((i, 0, columns)) {
        out[row + i] = (in[row + i] - mean) * factor * scale[i] + shift[i];
    })
// clang-format on

// clang-format off
// product: Matrix product
CONCORD_GROUP_KERNEL(product, (32, 8), (f32* c, const f32* a, const f32* b, u64 n),
    CONCORD_LOCAL(f32, left, [32][32]); CONCORD_LOCAL(f32, right, [32][32]);
    CONCORD_PRIVATE(f32, sum, [4]);
    const u64 row = group.y * 32, column = group.x * 32;
    c += row * n + column;
    CONCORD_ITEMS((x, y), sum) { for (u32 j = 0; j < 4; ++j) sum[j] = 0; }
    for (u64 k = 0; k < n; k += 32) {
        CONCORD_ITEMS((x, y)) {
            for (u32 j = 0; j < 4; ++j) {
                left[y + 8 * j][x] = a[(row + y + 8 * j) * n + k + x];
                right[y + 8 * j][x] = b[(k + y + 8 * j) * n + column + x];
            }
        }
        CONCORD_ITEMS((x, y), sum) {
            for (u32 i = 0; i < 32; ++i) {
                for (u32 j = 0; j < 4; ++j) sum[j] += left[y + 8 * j][i] * right[i][x];
            }
        }
    }
    CONCORD_ITEMS((x, y), sum) { for (u32 j = 0; j < 4; ++j) c[(y + 8*j) * n + x] = sum[j]; })
// clang-format on

// clang-format off
// bitonic: Bitonic sort
CONCORD_FUNCTION(f32, lower, (f32 a, f32 b, bool up),
    const f32 least = a < b ? a : b, most = a < b ? b : a;
    return up ? least : most;)
CONCORD_GROUP_KERNEL(bitonic_tile, (32, 16), (f32* keys, u32 smallest, u32 largest),
    CONCORD_LOCAL(f32, tile, [32][33]);
    const u32 first = (u32)group.x * 1024;
    CONCORD_ITEMS((x, y)) {
        tile[x][y] = keys[first + 32 * y + x];
        tile[x][y + 16] = keys[first + 32 * y + x + 512];
    }
    for (u32 size = smallest; size <= largest; size *= 2) {
        for (u32 d = 512; d > 0; d /= 2) {
            if (d < 32 && d < size) {
                CONCORD_ITEMS((x, y)) {
                    const u32 low = 2 * y - (y & (d - 1));
                    const f32 a = tile[low][x], b = tile[low + d][x];
                    const bool up = ((first + 32 * x + low) & size) == 0;
                    tile[low][x] = lower(a, b, up);
                    tile[low + d][x] = lower(a, b, !up);
                }
            } else if (d < size) {
                CONCORD_ITEMS((x, y)) {
                    const u32 low = 2 * y - (y & (d / 32 - 1)), high = low + d / 32;
                    const f32 a = tile[x][low], b = tile[x][high];
                    const bool up = ((first + 32 * low) & size) == 0;
                    tile[x][low] = lower(a, b, up);
                    tile[x][high] = lower(a, b, !up);
                }
            }
        }
    }
    CONCORD_ITEMS((x, y)) {
        keys[first + 32 * y + x] = tile[x][y];
        keys[first + 32 * y + x + 512] = tile[x][y + 16];
    })
CONCORD_GROUP_KERNEL(bitonic_step, (512), (f32* keys, u64 size, u64 d),
    const u64 t = group.x * 512, low = 2 * t - (t & (d - 1));
    const bool up = (low & size) == 0;
    CONCORD_ITEMS((x)) {
        const f32 a = keys[low + x], b = keys[low + d + x];
        if ((a > b) != up) continue;
        keys[low + x] = b;
        keys[low + d + x] = a;
    })
// clang-format on

// clang-format off
// heat: Stencil with a halo
CONCORD_GROUP_KERNEL(heat, (64, 8), (f32* next, const f32* now, f32 c, u64 pitch),
    CONCORD_LOCAL(f32, tile, [10][66]);
    const u64 first = group.y * 8 * pitch + group.x * 64;
    CONCORD_ITEMS((x, y)) {
        const u64 at = first + y * pitch + x;
        tile[y][x] = now[at];
        if (x < 2) tile[y][x + 64] = now[at + 64];
        if (y < 2) tile[y + 8][x] = now[at + 8 * pitch];
        if (x < 2 && y < 2) tile[y + 8][x + 64] = now[at + 8 * pitch + 64];
    }
    CONCORD_ITEMS((x, y)) {
        const f32 sum = tile[y + 1][x] + tile[y + 1][x + 2] +
                        tile[y][x + 1] + tile[y + 2][x + 1];
        const f32 old = tile[y + 1][x + 1];
        next[first + (y + 1) * pitch + x + 1] = old + c * (sum - 4 * old);
    })
// clang-format on

// clang-format off
// scan: Sums of blocks
CONCORD_GROUP_KERNEL(block_sums, (256), (f32* out, const f32* in),
    CONCORD_PRIVATE(f32, value);
    const u64 first = group.x * 256;
    CONCORD_ITEMS((t), value) { value = in[first + t]; }
    group_inclusive_sum(value, value);
    CONCORD_ITEMS((t), value) { out[first + t] = value; })
// clang-format on

namespace {

// Planted faults. 1: the last tile below the diagonal and the last to its right keep their values.
constexpr u32 perimeter_short = 1;
// 2: the diagonal's tile is not decomposed before its neighbours use it.
constexpr u32 perimeter_early = 2;
// 3: no epsilon, which rows of equal values show.
constexpr u32 no_epsilon = 3;
// 4: a phase less, so that work-items multiply elements of tiles that others have not loaded yet.
CONCORD_GROUP_KERNEL(
    product_race, (32, 32), (f32 * c, const f32* a, const f32* b, u64 n), CONCORD_LOCAL(f32, left, [32][32]);
    CONCORD_LOCAL(f32, right, [32][32]); CONCORD_PRIVATE(f32, sum) = 0;
    const u64 row = group.y * 32, column = group.x * 32; for (u64 k = 0; k < n; k += 32) {
        CONCORD_ITEMS((x, y), sum) {
            left[y][x] = a[(row + y) * n + k + x];
            right[y][x] = b[(k + y) * n + column + x];
            for (u32 i = 0; i < 32; ++i)
                sum += left[y][i] * right[i][x];
        }
    } CONCORD_ITEMS((x, y), sum) { c[(row + y) * n + column + x] = sum; })
// 5: the last merge ends before the distances of a tile.
constexpr u32 unmerged = 5;
// 6: the halo below a tile is that of the tile's first rows.
CONCORD_GROUP_KERNEL(
    heat_halo, (64, 8), (f32 * next, const f32* now, f32 c, u64 pitch), CONCORD_LOCAL(f32, tile, [10][66]);
    const u64 first = group.y * 8 * pitch + group.x * 64; CONCORD_ITEMS((x, y)) {
        const u64 at = first + y * pitch + x;
        tile[y][x] = now[at];
        if (x < 2) tile[y][x + 64] = now[at + 64];
        if (y < 2) tile[y + 8][x] = now[at];
        if (x < 2 && y < 2) tile[y + 8][x + 64] = now[at + 64];
    } CONCORD_ITEMS((x, y)) {
        const f32 sum = tile[y + 1][x] + tile[y + 1][x + 2] + tile[y][x + 1] + tile[y + 2][x + 1];
        const f32 old = tile[y + 1][x + 1];
        next[first + (y + 1) * pitch + x + 1] = old + c * (sum - 4 * old);
    })
// 7: sums in ascending order, whose last bits differ from the collective's.
CONCORD_GROUP_KERNEL(
    block_sums_ascending, (256), (f32 * out, const f32* in), const u64 first = group.x * 256;
    CONCORD_ITEMS((t)) {
        f32 sum = 0;
        for (u32 i = 0; i <= t; ++i)
            sum += in[first + i];
        out[first + t] = sum;
    })
constexpr u32 race = 4, halo = 6, ascending = 7;

// The originals, compiled for CUDA at run time. `kernel` is an entry of the source.
const KernelSource lud_source{"lud", {{"original_lud.cu", original_lud_cu}}, {}};
const KernelSource layernorm_source{"layernorm", {{"original_layernorm.cu", original_layernorm_cu}}, {}};
const KernelSource product_source{"product", {{"original_product.cu", original_product_cu}}, {}};
const KernelSource bitonic_source{"bitonic", {{"original_bitonic.cu", original_bitonic_cu}}, {}};
const KernelSource heat_source{"heat", {{"original_heat.cu", original_heat_cu}}, {}};
const KernelSource scan_source{"scan", {{"original_scan.cu", original_scan_cu}}, {}};
KernelSpec original(const KernelSource& source, const char* kernel, u32 items) {
    return {.source = &source, .entry = kernel, .max_group_size = items};
}
const KernelSpec originals[] = {original(lud_source, "lud_diagonal", 16),
                                original(lud_source, "lud_perimeter", 32),
                                original(lud_source, "lud_internal", 256),
                                original(layernorm_source, "layernorm", 256),
                                original(product_source, "product", 256),
                                original(bitonic_source, "bitonic_sort", 512),
                                original(bitonic_source, "bitonic_step", 512),
                                original(bitonic_source, "bitonic_merge", 512),
                                original(heat_source, "heat", 512),
                                original(scan_source, "block_sums", 256)};
enum Original { diagonal, perimeter, internal, normalise, multiply, sort, step, merge, stencil, scan };

// Launches an original with groups of x * y work-items.
template <class... A>
void launch_original(Stream& stream, Original kernel, std::array<u64, 2> groups, std::array<u32, 2> items,
                     const A&... arguments) {
    LaunchShape shape;
    shape.groups_x = groups[0];
    shape.groups_y = groups[1];
    shape.group_size_x = items[0];
    shape.group_size_y = items[1];
    launch(stream, *stream.device().kernel(originals[kernel]), shape, arguments...);
}

// The work of each kernel by the port, or by the original.
void decompose(Stream& stream, const Array<f32>& m, u64 n, u32 fault) {
    for (u64 offset = 0; offset < n; offset += 16) {
        const u64 rest = (n - offset) / 16 - 1;
        if (fault != perimeter_early) lud_diagonal(stream, 1, m, n, offset);
        lud_perimeter(stream, rest - (fault == perimeter_short && rest > 0 ? 1 : 0), m, n, offset);
        if (fault == perimeter_early) lud_diagonal(stream, 1, m, n, offset);
        lud_internal(stream, {rest, rest}, m, n, offset);
    }
}
void original_decompose(Stream& stream, const Array<f32>& m, u64 n) {
    for (u64 offset = 0; offset < n; offset += 16) {
        const u64 rest = (n - offset) / 16 - 1;
        launch_original(stream, diagonal, {1, 1}, {16, 1}, m, n, offset);
        if (rest == 0) break;
        launch_original(stream, perimeter, {rest, 1}, {16, 2}, m, n, offset);
        launch_original(stream, internal, {rest, rest}, {16, 16}, m, n, offset);
    }
}
void sort_keys(Stream& stream, const Array<f32>& keys, u64 n, u32 fault) {
    bitonic_tile(stream, n / 1024, keys, 2, 1024);
    for (u64 size = 2048; size <= n; size *= 2) {
        for (u64 d = size / 2; d >= 1024; d /= 2)
            bitonic_step(stream, n / 1024, keys, size, d);
        if (fault != unmerged || size < n) bitonic_tile(stream, n / 1024, keys, size, size);
    }
}
void original_sort_keys(Stream& stream, const Array<f32>& keys, u64 n) {
    launch_original(stream, sort, {n / 1024, 1}, {512, 1}, keys);
    for (u64 size = 2048; size <= n; size *= 2) {
        for (u64 d = size / 2; d >= 1024; d /= 2)
            launch_original(stream, step, {n / 1024, 1}, {512, 1}, keys, size, d);
        launch_original(stream, merge, {n / 1024, 1}, {512, 1}, keys, size);
    }
}

void restore(Stream& stream, const Array<f32>& values, const Array<f32>& from) {
    const auto to = values.view(), source = from.view();
    stream.copy(*to.buffer, to.offset, *source.buffer, source.offset, values.size() * sizeof(f32));
}

class Cases {
  public:
    Cases(Stream& stream, Check& result, u32 fault) : stream_(stream), result_(result), fault_(fault) {}

    void lud(u64 n) {
        const std::vector<f32> m = dominant(n), expected = lu_of(m, n);
        check("LU of " + std::to_string(n), expected, m, [&](const Array<f32>& x, bool is_original) {
            is_original ? original_decompose(stream_, x, n) : decompose(stream_, x, n, fault_);
        });
    }
    void layernorm(u64 rows, u64 columns) {
        std::vector<f32> values = random_values(rows * columns, -2, 3, rows);
        std::fill_n(values.begin(), columns, 0.1f);  // the variance is that of rounding
        const std::vector<f32> scale = random_values(columns, 0.5f, 2, 7),
                               shift = random_values(columns, -1, 1, 8);
        const Array<f32> in(stream_, values), a(stream_, scale), b(stream_, shift);
        const f32 e = fault_ == no_epsilon ? 0 : epsilon;
        check(
            std::to_string(rows) + " rows of " + std::to_string(columns),
            normalised(values, scale, shift, columns), std::vector<f32>(values.size(), NAN),
            [&](const Array<f32>& out, bool is_original) {
                if (is_original) {
                    launch_original(stream_, normalise, {rows, 1}, {256, 1}, out, in, a, b, columns, e);
                } else {
                    ::layernorm(stream_, rows, out, in, a, b, columns, e);
                }
            },
            1e-3);
    }
    void product(u64 n) {
        const std::vector<f32> x = random_values(n * n, -1, 1, 1), y = random_values(n * n, -1, 1, 2);
        const Array<f32> a(stream_, x), b(stream_, y);
        check("product of " + std::to_string(n), product_of(x, y, n), std::vector<f32>(n * n, NAN),
              [&](const Array<f32>& out, bool is_original) {
                  if (is_original) {
                      launch_original(stream_, multiply, {n / 32, n / 32}, {32, 8}, out, a, b, n);
                  } else if (fault_ == race) {
                      product_race(stream_, {n / 32, n / 32}, out, a, b, n);
                  } else {
                      ::product(stream_, {n / 32, n / 32}, out, a, b, n);
                  }
              });
    }
    void bitonic(u64 n) {
        const std::vector<f32> keys = random_values(n, -100, 100, n);
        std::vector<f32> sorted = keys;
        std::sort(sorted.begin(), sorted.end());
        check("sort of " + std::to_string(n), sorted, keys, [&](const Array<f32>& x, bool is_original) {
            is_original ? original_sort_keys(stream_, x, n) : sort_keys(stream_, x, n, fault_);
        });
    }
    void heat(u64 width, u64 height) {
        const std::vector<f32> values = random_values((width + 2) * (height + 2), -1, 1, 3);
        const Array<f32> now(stream_, values);
        check("heat of " + std::to_string(width) + " x " + std::to_string(height),
              heat_of(values, width, height), values, [&](const Array<f32>& next, bool is_original) {
                  const std::array<u64, 2> groups = {width / 64, height / 8};
                  if (is_original) {
                      launch_original(stream_, stencil, groups, {64, 8}, next, now, c, width + 2);
                  } else if (fault_ == halo) {
                      heat_halo(stream_, {groups[0], groups[1]}, next, now, c, width + 2);
                  } else {
                      ::heat(stream_, {groups[0], groups[1]}, next, now, c, width + 2);
                  }
              });
    }
    void scan(u64 blocks) {
        const std::vector<f32> values = random_values(blocks * 256, 0, 1, blocks);
        const Array<f32> in(stream_, values);
        check(
            "sums of " + std::to_string(blocks) + " blocks", block_sums_of(values),
            std::vector<f32>(values.size(), NAN),
            [&](const Array<f32>& out, bool is_original) {
                if (is_original) {
                    launch_original(stream_, Original::scan, {blocks, 1}, {256, 1}, out, in);
                } else if (fault_ == ascending) {
                    block_sums_ascending(stream_, blocks, out, in);
                } else {
                    block_sums(stream_, blocks, out, in);
                }
            },
            1e-5);
    }

  private:
    // Compares the results of run(array, is_original), where the array holds `before`. tolerance: of the original.
    template <class F>
    void check(const std::string& what, const std::vector<f32>& expected, const std::vector<f32>& before,
               F run, f64 tolerance = 0) {
        const Array<f32> out(stream_, before);
        run(out, false);
        result_.bits(what, expected, out.to_host(stream_));
        if (stream_.device().traits().dialect != Dialect::cuda || fault_ != 0) return;
        const Array<f32> by_original(stream_, before);
        run(by_original, true);
        if (tolerance == 0) {
            result_.bits(what + ", original", expected, by_original.to_host(stream_));
        } else {
            result_.near(what + ", original", expected, by_original.to_host(stream_), tolerance, 1);
        }
    }

    Stream& stream_;
    Check& result_;
    u32 fault_;
};

void check_port(Stream& stream, Check& result, u32 fault) {
    Cases cases(stream, result, fault);
    for (const u64 n : {16, 32, 208})
        cases.lud(n);
    for (const auto& [rows, columns] : {std::pair<u64, u64>{1, 1}, {3, 255}, {5, 256}, {7, 1000}, {100, 33}})
        cases.layernorm(rows, columns);
    for (const u64 n : {32, 96})
        cases.product(n);
    for (const u64 n : {1024, 2048, 1 << 14})
        cases.bitonic(n);
    for (const auto& [width, height] : {std::pair<u64, u64>{64, 8}, {64, 80}, {320, 24}})
        cases.heat(width, height);
    for (const u64 blocks : {1, 77})
        cases.scan(blocks);
}

void measure_port(Stream& stream, Bench& result) {
    std::barrier<> threads(stream.device().traits().units);
    std::barrier<>* const all = &threads;
    for (const u64 n : {u64{512}, u64{2048}}) {
        const std::vector<f32> m = dominant(n);
        const Array<f32> from(stream, m), x(stream, n * n);
        result.work("LU of " + std::to_string(n) + " x " + std::to_string(n) + ", with a copy of the matrix",
                    n * n, 8 * n * n);
        result.row("CONCORD_GROUP_KERNEL", [&] {
            restore(stream, x, from);
            decompose(stream, x, n, 0);
        });
        if (result.has_cuda()) {
            result.row("original CUDA kernels", [&] {
                restore(stream, x, from);
                original_decompose(stream, x, n);
            });
        }
        std::vector<f32> to(n * n);
        f32* const y = to.data();
        const f32* const source = m.data();
        result.loop("C++ loop", host_kernel<&lud_loop>(), y, source, n, all);
    }
    {
        const u64 rows = 32768, columns = 1024, elements = rows * columns;
        const std::vector<f32> values = random_values(elements, -2, 3, 1), ones(columns, 1.0f);
        const Array<f32> in(stream, values), out(stream, elements), scale(stream, ones), shift(stream, ones);
        result.work("layer normalisation, 32768 rows of 1024", elements, 8 * elements);
        result.row("CONCORD_GROUP_KERNEL",
                   [&] { layernorm(stream, rows, out, in, scale, shift, columns, epsilon); });
        if (result.has_cuda()) {
            result.row("original CUDA kernel", [&] {
                launch_original(stream, normalise, {rows, 1}, {256, 1}, out, in, scale, shift, columns,
                                epsilon);
            });
        }
        std::vector<f32> to(elements);
        f32* const y = to.data();
        const f32 *const x = values.data(), *const a = ones.data();
        result.loop("C++ loop", host_kernel<&layernorm_loop>(), y, x, a, a, rows, columns);
    }
    {
        const u64 n = stream.device().traits().launch == LaunchModel::groups ? 2048 : 1024;
        const std::vector<f32> a = random_values(n * n, -1, 1, 1), b = random_values(n * n, -1, 1, 2);
        const Array<f32> left(stream, a), right(stream, b), out(stream, n * n);
        result.work("product of " + std::to_string(n) + " x " + std::to_string(n), n * n, 12 * n * n);
        result.row("CONCORD_GROUP_KERNEL", [&] { product(stream, {n / 32, n / 32}, out, left, right, n); });
        if (result.has_cuda()) {
            result.row("original CUDA kernel", [&] {
                launch_original(stream, multiply, {n / 32, n / 32}, {32, 8}, out, left, right, n);
            });
        }
        std::vector<f32> to(n * n);
        f32* const z = to.data();
        const f32 *const x = a.data(), *const y = b.data();
        result.loop("C++ loop", host_kernel<&product_loop>(), z, x, y, n);
    }
    for (const u64 n : {u64{1} << 16, u64{1} << 22}) {
        const std::vector<f32> keys = random_values(n, -100, 100, 1);
        const Array<f32> from(stream, keys), x(stream, n);
        result.work("bitonic sort of " + std::to_string(n) + " keys, with a copy of them", n, 8 * n);
        result.row("CONCORD_GROUP_KERNEL", [&] {
            restore(stream, x, from);
            sort_keys(stream, x, n, 0);
        });
        if (result.has_cuda()) {
            result.row("original CUDA kernels", [&] {
                restore(stream, x, from);
                original_sort_keys(stream, x, n);
            });
        }
        std::vector<f32> to(n);
        f32* const y = to.data();
        const f32* const source = keys.data();
        result.loop("C++ loop", host_kernel<&bitonic_loop>(), y, source, n, all);
    }
    for (const u64 side : {u64{512}, u64{8192}}) {
        const u64 points = side * side, pitch = side + 2;
        const std::vector<f32> now = random_values(pitch * pitch, -1, 1, 1);
        const Array<f32> from(stream, now), x(stream, now);
        result.work("heat, " + std::to_string(side) + " x " + std::to_string(side) + " points", points,
                    8 * points);
        result.row("CONCORD_GROUP_KERNEL", [&] { heat(stream, {side / 64, side / 8}, x, from, c, pitch); });
        if (result.has_cuda()) {
            result.row("original CUDA kernel", [&] {
                launch_original(stream, stencil, {side / 64, side / 8}, {64, 8}, x, from, c, pitch);
            });
        }
        std::vector<f32> to = now;
        f32* const y = to.data();
        const f32* const source = now.data();
        result.loop("C++ loop", host_kernel<&heat_loop>(), y, source, side, side);
    }
    for (const u64 blocks : {u64{1} << 10, u64{1} << 17}) {
        const std::vector<f32> values = random_values(blocks * 256, 0, 1, 1);
        const Array<f32> in(stream, values), out(stream, values.size());
        result.work("sums of " + std::to_string(blocks) + " blocks of 256", values.size(), 8 * values.size());
        result.row("CONCORD_GROUP_KERNEL", [&] { block_sums(stream, blocks, out, in); });
        if (result.has_cuda()) {
            result.row("original CUDA kernel", [&] {
                launch_original(stream, Original::scan, {blocks, 1}, {256, 1}, out, in);
            });
        }
        std::vector<f32> to(values.size());
        f32* const y = to.data();
        const f32* const x = values.data();
        result.loop("C++ loop", host_kernel<&scan_loop>(), y, x, blocks);
    }
}

// Compiles the kernels for all backends and looks for races.
std::vector<std::string> check_kernels() {
    const auto random = [](u64 count) { return random_values(count, 1, 2, count); };
    const std::vector<f32> m = dominant(48), row = random(300);
    check(lud_diagonal, 1, m, 48, 16);
    check(lud_perimeter, 2, m, 48, 0);
    check(lud_internal, {2, 2}, m, 48, 0);
    check(layernorm, 2, random(600), random(600), row, row, 300, epsilon);
    check(product, {2, 2}, random(64 * 64), random(64 * 64), random(64 * 64), 64);
    check(bitonic_tile, 2, random(2048), 2, 2048);
    check(bitonic_step, 2, random(2048), 2048, 1024);
    check(heat, {2, 2}, random(130 * 18), random(130 * 18), c, 130);
    return check(block_sums, 2, random(512), random(512));
}

}  // namespace

int main(int argc, char** argv) {
    return run(argc, argv,
               Port{"groups",
                    7,
                    check_port,
                    measure_port,
                    check_kernels,
                    {std::begin(originals), std::end(originals)}});
}
