// Host side of `blocked`, for groups of one work-item.

#include "transpose_sources.hpp"
#include "transpose_variants.hpp"

#include <bit>

namespace concord::detail {
namespace {

constexpr u64 stage_bytes = u64{84} << 10;  // bytes per stage, with the gaps between rows

std::shared_ptr<Kernel> wide_kernel(Device& device, const TransposeProblem& p, const char* entry) {
    constexpr const char* vectors[] = {"uchar16", "ushort8", "uint4", "ulong2"};
    return transpose_kernel(device, p, kernel_sources::transpose_wide(), entry, 1,
                            {{"VECTOR", vectors[std::countr_zero(p.size())]}, {"STAGE", stage_bytes}});
}

u64 round_up(u64 n, u64 multiple) {
    return divide_up(n, multiple) * multiple;
}

// Square tiles whose rows are a few cache lines long. Thin matrices get longer tiles, as large as the stages allow.
// turned: number of tiles in the second stage.
detail::host::Tiling tiling_of(const Device& device, const TransposeProblem& p, u64 turned) {
    const TransposeShape& s = p.shape;
    const u64 size = p.size(), side = transpose_pack_bytes / size, line = 64 / size;
    const u64 largest = size == 1 ? 256 : size <= 4 ? 128 : 64;  // largest tile that a stage holds
    const u64 square = std::min(largest, tuned(device, transpose_tile_side, point_of(p), largest));
    // The number of whole lines of `across` elements that a stage holds.
    auto longest = [&](u64 across) {
        const u64 length = (stage_bytes / size - side) / (round_up(across, side) + line);
        return std::max(square, length / line * line);
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
    const u64 min_bytes = tuned(device, transpose_group_kib, point_of(p), min_group_kib(device.traits()))
                          << 10,
              most = device.traits().units * tuned(device, transpose_groups_a_unit, point_of(p), 16);
    return std::clamp<u64>(p.shape.rows * p.shape.columns * p.size() / min_bytes, 1, most);
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
    if (p.in_place || s.rows * s.columns * p.size() <= staged_bytes) return false;
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
    parts.non_temporal = far ? 1 : 0;
    // Parts of whole tiles, along columns only if there are too few rows.
    const u64 groups = groups_of(device, p), down = std::min(groups, divide_up(s.rows, parts.tile_rows));
    parts.rows = round_up(divide_up(s.rows, down), parts.tile_rows);
    parts.down = std::max<u64>(1, s.rows / parts.rows);
    parts.columns = round_up(divide_up(s.columns, divide_up(groups, parts.down)), parts.tile_columns);
    parts.across = std::max<u64>(1, s.columns / parts.columns);
    const auto kernel = host_kernel_of(device, "transpose_direct", transpose_host(p.size()).direct);
    launch(stream, *kernel, LaunchShape::linear(parts.down * parts.across, 1), p.in, p.out, s.rows, s.columns,
           s.in_pitch, s.out_pitch, ValueBytes{std::as_bytes(std::span(&parts, 1))});
}

}  // namespace

void run_transpose_blocked_items(Stream& stream, const TransposeProblem& p) {
    Device& device = stream.device();
    const TransposeShape& s = p.shape;
    if (transpose_by_copy(stream, p)) return;
    const detail::host::Tiling t = tiling_of(device, p, p.in_place ? 2 : 1);
    const u64 each = tiles_each(device, p, t.tiles);
    const LaunchShape shape = LaunchShape::linear(divide_up(t.tiles, each), 1);
    const auto kernel =
        wide_kernel(device, p, p.in_place ? "transpose_exchange_blocked" : "transpose_blocked");
    if (p.in_place)
        return launch(stream, *kernel, shape, p.out, s.rows, s.in_pitch, each, t.tiles, t.tile_rows, t.rows,
                      t.from_pitch, t.to_pitch);
    launch(stream, *kernel, shape, p.in, p.out, s.rows, s.columns, s.in_pitch, s.out_pitch, each,
           u32{exceeds_cache(device, p)}, t.tiles, t.tile_rows, t.rows, t.columns, t.from_pitch, t.to_pitch,
           t.from_whole | t.to_whole << 1);
}

void run_transpose_blocked_host(Stream& stream, const TransposeProblem& p) {
    Device& device = stream.device();
    const TransposeShape& s = p.shape;
    if (transpose_by_copy(stream, p)) return;
    if (suits_direct(device, p)) return run_direct(stream, p);
    const detail::host::Tiling t = tiling_of(device, p, p.in_place ? 2 : 1);
    const u64 each = tiles_each(device, p, t.tiles);
    const LaunchShape shape = LaunchShape::linear(divide_up(t.tiles, each), 1, t.elements * p.size());
    const ValueBytes tiling{std::as_bytes(std::span(&t, 1))};
    if (p.in_place) {
        const auto kernel =
            host_kernel_of(device, "transpose_exchange_blocked", transpose_host(p.size()).exchange);
        return launch(stream, *kernel, shape, p.out, s.rows, s.in_pitch, each, tiling);
    }
    const auto kernel = host_kernel_of(device, "transpose_blocked", transpose_host(p.size()).blocked);
    launch(stream, *kernel, shape, p.in, p.out, s.rows, s.columns, s.in_pitch, s.out_pitch, each,
           u32{exceeds_cache(device, p)}, tiling);
}

}  // namespace concord::detail
