// Host side of `vectorized`: tiles, shifted tiles and strips of thin matrices.

#include "transpose_sources.hpp"
#include "transpose_variants.hpp"

#include <bit>

namespace concord::detail {
namespace {

constexpr u32 thin_stage = 16 << 10;  // bytes of local memory per group for a thin matrix
constexpr u32 thin_group_size = 256;
constexpr u32 shifted_group_size = 256;

// Rows of tiles per band; see transpose_tile.kernel.
u32 band_of(const Device& device, const TransposeProblem& p) {
    return static_cast<u32>(tuned(device, transpose_band, point_of(p), 8));
}

// Rows of 128 bytes for small elements, because their blocks take many registers; 256 bytes for others.
TransposeTiles vectorized_tiles(const TransposeProblem& p) {
    const u32 width = p.size() <= 2 ? 8 : 16;
    return {.side = width * transpose_pack_bytes / p.size(), .group_size = width * width, .width = width};
}

// Whether packs are aligned in every row of a view.
bool is_aligned(const View& view, u64 pitch) {
    return view.offset % transpose_pack_bytes == 0 && pitch * size_of(view.type) % transpose_pack_bytes == 0;
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
    const auto kernel =
        transpose_kernel(stream.device(), p, kernel_sources::transpose_thin(),
                         few_columns ? "transpose_few_columns" : "transpose_few_rows", thin_group_size,
                         {{"WORD", p.size() == 8 ? Type::u64 : Type::u32}, {"STAGE", thin_stage}});
    const View &short_rows = few_columns ? p.in : p.out, &long_rows = few_columns ? p.out : p.in;
    const u64 short_pitch = few_columns ? s.in_pitch : s.out_pitch,
              long_pitch = few_columns ? s.out_pitch : s.in_pitch;
    const u32 whole = short_pitch == thin && short_rows.offset % transpose_pack_bytes == 0 ? 1 : 0;
    const u32 aligned = is_aligned(long_rows, long_pitch) ? 1 : 0;
    launch(stream, *kernel, LaunchShape::linear(divide_up(length, u64{1} << shift), thin_group_size), p.in,
           p.out, s.rows, s.columns, s.in_pitch, s.out_pitch, shift, few_columns ? whole : aligned,
           few_columns ? aligned : whole);
}

// Smaller tiles where large ones leave units without work, although they load more rows twice.
u32 shifted_side(const Device& device, const TransposeProblem& p) {
    const u32 side = vectorized_tiles(p).side;
    const u64 tiles = divide_up(p.shape.rows, side) * divide_up(p.shape.columns, side);
    return p.size() >= 4 && tiles < u64{8} * device.traits().units ? side / 2 : side;
}

// A group stores pieces of rows that begin up to one sector before its tile, so down a column there may be one tile
// more.
void run_shifted(Stream& stream, const TransposeProblem& p) {
    constexpr u32 sector_bytes = 32;
    const TransposeTiles tiles{.side = shifted_side(stream.device(), p), .group_size = shifted_group_size};
    const auto kernel =
        transpose_kernel(stream.device(), p, kernel_sources::transpose_shifted(), "transpose_shifted",
                         tiles.group_size, {{"TILE", tiles.side}, {"PAD", 0}});
    const TransposeShape& s = p.shape;
    const u32 down = tiles_in(s.rows + sector_bytes / p.size() - 1, tiles.side),
              across = tiles_in(s.columns, tiles.side);
    launch(stream, *kernel, LaunchShape::linear(u64{down} * across, tiles.group_size), p.in, p.out, s.rows,
           s.columns, s.in_pitch, s.out_pitch, down, across, std::min(band_of(stream.device(), p), down));
}

}  // namespace

Support supports_transpose_vectorized(const Device& device, const TransposeProblem& p) {
    if (Support group = supports_group(
            device, std::max({thin_group_size, shifted_group_size, vectorized_tiles(p).group_size}));
        !group)
        return group;
    // Shifted tiles may have one row of tiles more; see run_shifted().
    const u32 side = vectorized_tiles(p).side;
    return is_thin(p) ? Support{} : supports_tiles(p, side / 2, side);
}

void run_transpose_vectorized(Stream& stream, const TransposeProblem& p) {
    if (transpose_by_copy(stream, p)) return;
    if (!p.in_place && is_thin(p)) return run_thin(stream, p);
    if (!p.in_place && !is_aligned(p.out, p.shape.out_pitch)) return run_shifted(stream, p);
    const TransposeTiles tiles = vectorized_tiles(p);
    const auto kernel =
        transpose_kernel(stream.device(), p, kernel_sources::transpose(),
                         p.in_place ? "transpose_vectorized_exchange" : "transpose_vectorized",
                         tiles.group_size, {{"TILE", tiles.side}, {"WIDTH", tiles.width}});
    if (p.in_place) return launch_pairs(stream, p, *kernel, tiles, u32{is_aligned(p.out, p.shape.out_pitch)});
    launch_tiles(stream, p, *kernel, tiles, tiles.side, tiles.side, band_of(stream.device(), p),
                 u32{is_aligned(p.in, p.shape.in_pitch)});
}

}  // namespace concord::detail
