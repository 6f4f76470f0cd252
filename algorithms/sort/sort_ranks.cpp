// The host side of `rank_merge`.

#include "sort_kernels.hpp"

#include <algorithm>

namespace concord {

namespace detail {
namespace {

constexpr u32 warp = 32;
constexpr u32 max_share = 256;  // elements that a group places

// The tile for n elements: the search takes as many steps as there are tiles. Measured on an H200.
SortTile tile_for(const Device& device, u64 n) {
    if (n <= u64{1} << 13) return {.group_size = 256, .items = 2};
    if (n <= u64{1} << 14) return {.group_size = 256, .items = 4};
    return sort_in_registers(device) ? SortTile{.group_size = 512, .items = 4}
                                     : SortTile{.group_size = 256, .items = 8};
}

// Bytes of local memory for the codes of all tiles.
u64 codes_bytes(const SortProblem& p, const SortTile& tile) {
    return (p.count() + divide_up(p.count(), tile.length())) * p.key_size();
}

}  // namespace

Support supports_sort_rank_merge(const Device& device, const SortProblem& p) {
    const SortTile tile = tile_for(device, p.count());
    const u64 tables = tile.group_size / warp * 256 * 2 * sizeof(u32),
              tile_bytes = tile.length() * std::max(p.key_size(), p.value_size()) + tables,
              bytes = std::max(codes_bytes(p, tile) + max_share * sizeof(u32), tile_bytes) + 2048;
    if (Support local = supports_local_memory(device, bytes); !local) return local;
    return supports_group(device, sort_in_registers(device) ? 1024 : 256);
}

void run_sort_rank_merge(Stream& stream, const SortProblem& p) {
    Device& device = stream.device();
    const u64 n = p.count();
    const SortTile tile = tile_for(device, n);
    const SortElements in = sort_input(p), out = sort_output(p);
    if (n <= tile.length()) return sort_each_tile(stream, p, tile, in, out);
    const SortScratch scratch(stream, p);
    const SortElements& sorted = scratch.elements;
    sort_each_tile(stream, p, tile, in, sorted);

    const SortCode code = p.code();
    const u32 group_size = sort_in_registers(device) ? 1024 : 256;
    const auto ranks = sort_kernel(device, p, kernel_sources::sort_ranks(), "sort_ranks", group_size,
                                   {{"TILE", tile.length()}, {"SHARE", max_share}});
    // As many groups as the device has units.
    const u64 share = std::min<u64>(divide_up(divide_up(n, device.traits().units), warp) * warp, max_share);
    launch(stream, *ranks, LaunchShape::linear(divide_up(n, share), group_size, codes_bytes(p, tile)),
           sorted.keys, sorted.values, out.keys, out.values, static_cast<u32>(n), static_cast<u32>(share),
           p.by.begin_bit, p.by.end_bit, code.flip, code.fold);
}

}  // namespace detail
}  // namespace concord
