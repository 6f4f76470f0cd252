// Host side of `reduce_then_scan`, and the totals of the tiles of a part.

#include "scan_sources.hpp"
#include "scan_variants.hpp"

#include <concord/internal/input.hpp>
#include <concord/internal/launch.hpp>

namespace concord::detail {
namespace {

constexpr u64 wide_tile = detail::host::scan_tile;

std::shared_ptr<Kernel> group_kernel(Device& device, const ScanProblem& p, const char* entry) {
    return scan_group_kernel(device, p, kernel_sources::scan(), entry);
}

// Computes the totals of the tiles, their exclusive scan by `run_scan`, and then the tiles, in groups of `group_size`
// work-items. `more`: further arguments of the last kernel.
template <class... A>
void run_tiles(Stream& stream, const ScanProblem& p, void (*run_scan)(Stream&, const ScanProblem&),
               std::shared_ptr<Kernel> (*kernel)(Device&, const ScanProblem&, const char*), u64 tile,
               u32 group_size, const A&... more) {
    Device& device = stream.device();
    const u64 n = p.in.count, tiles = divide_up(n, tile);
    const LaunchShape shape = LaunchShape::linear(tiles, group_size);
    const auto buffer = stream.scratch(tiles * size_of(p.type()));
    const View carries{buffer.get(), 0, tiles, p.type()};
    const InputArguments in(p.input());
    if (tiles > 1) {
        in.launch(stream, *kernel(device, p, "scan_totals"), shape, carries, n, p.identity, p.values);
        run_scan(stream, {.in = carries,
                          .out = carries,
                          .op = p.op,
                          .values = p.values,
                          .identity = p.identity,
                          .kind = ScanKind::exclusive,
                          .host = p.host});
    }
    in.launch(stream, *kernel(device, p, "scan_tiles"), shape, carries, p.out, n, p.exclusive(), more...,
              p.identity, p.values);
}

}  // namespace

Support supports_scan_reduce_then_scan(const Device& device, const ScanProblem& p) {
    const u64 bytes = scan_tile_room * size_of(p.type());
    if (Support local = supports_local_memory(device, bytes); !local) return local;
    return supports_problem_in<scan_group>(device, p);
}

// On GPUs three launches cost more than the redundant work of `lookback_fallback`. A few tiles take one launch.
// `lookback_fallback` does not compute expressions.
bool suits_scan_reduce_then_scan(const Device& device, const ScanProblem& p) {
    constexpr u64 few = 4 * scan_group_tile, many = u64{1} << 18;
    return p.in.count <= few || p.in.count > many || p.expression ||
           !supports_scan_lookback_fallback(device, p);
}

void run_scan_reduce_then_scan(Stream& stream, const ScanProblem& p) {
    run_tiles(stream, p, run_scan_reduce_then_scan, group_kernel, scan_group_tile, scan_group);
}

void run_scan_reduce_then_scan_wide(Stream& stream, const ScanProblem& p) {
    run_tiles(stream, p, run_scan_reduce_then_scan_wide, scan_wide_kernel, wide_tile, 1,
              stores_non_temporal(stream.device(), scan_stream_kib, point_of(p), 2 * p.in.bytes()));
}

u64 scan_tile(const Device& device) {
    return device.traits().launch == LaunchModel::groups ? scan_group_tile : wide_tile;
}

void scan_totals(Stream& stream, const ScanProblem& p) {
    Device& device = stream.device();
    const LaunchModel devices = device.traits().launch;
    const auto totals = devices == LaunchModel::groups ? group_kernel(device, p, "scan_totals")
                        : devices == LaunchModel::single_items
                            ? scan_wide_kernel(device, p, "scan_totals")
                            : host_kernel_of(device, "scan_totals", p.host->totals);
    const u32 group_size = devices == LaunchModel::groups ? scan_group : 1;
    launch(stream, *totals, LaunchShape::linear(divide_up(p.in.count, scan_tile(device)), group_size), p.in,
           p.out, p.in.count, p.identity, p.values);
}

}  // namespace concord::detail
