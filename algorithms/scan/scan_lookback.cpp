// Host side of the variants with one launch, whose groups take the totals of earlier tiles from other groups.

#include "scan_sources.hpp"
#include "scan_variants.hpp"

#include <concord/internal/input.hpp>
#include <concord/internal/launch.hpp>
#include <concord/internal/lookback.hpp>
#include <concord/stream_memory.hpp>

#include <algorithm>

namespace concord::detail {
namespace {

constexpr u64 host_tile = detail::host::scan_tile;

// Elements of local memory per group for look-back: an exchange between lanes, and the totals before the tiles.
constexpr u64 lookback_room = scan_group + 8 + 4;

// Specialisation of `lookback`: tiles per group, and resident groups per multiprocessor, for which the compiler
// limits registers. Measured on an H200: many tiles per group have more loads in flight, few keep all multiprocessors
// busy.
struct LookbackShape {
    u64 tiles, resident;
};

// Where the compiler bounds registers, a group keeps its tiles in local memory, at most 32 KiB.
u64 max_lookback_tiles(const Device& device, Type type) {
    return device.traits().bounds_registers ? std::max<u64>(1, 8 / size_of(type)) : 16;
}

LookbackShape default_shape(const Device& device, Type type, u64 n) {
    if (n < u64{1} << 24) return {1, 4};
    if (size_of(type) == 1) return {2, 8};
    if (device.traits().bounds_registers) return {max_lookback_tiles(device, type), 6};
    return {size_of(type) == 4 ? 4U : 2U, 2};
}

// The totals of all levels above the tiles, and for each a flag that it is published, initially zero. At least 16 of
// each, for the nodes of a shared tile.
struct Totals {
    Totals(Stream& stream, u64 tiles, Type type) {
        const u64 count = std::max<u64>(lookback_totals(tiles) + 1, 16);
        total_buffer = stream.scratch(count * size_of(type));
        flag_buffer = stream.scratch(count * sizeof(u32));
        totals = {total_buffer.get(), 0, count, type};
        flags = {flag_buffer.get(), 0, count, Type::u32};
        const u32 zero = 0;
        if (tiles > 1) stream.fill(*flag_buffer, 0, flags.bytes(), &zero, sizeof zero);
    }
    // For a single group that scans a single tile, which publishes nothing.
    static Totals unused(Stream& stream, Type type) {
        Totals none;
        none.totals = {&zero_counters(stream), 0, 1, type};
        none.flags = {none.totals.buffer, 0, 1, Type::u32};
        return none;
    }

    std::shared_ptr<Buffer> total_buffer, flag_buffer;
    View totals, flags;

  private:
    Totals() = default;
};

// Groups take tiles by ticket. One group while the input is small, because waking a thread costs more. shared: several
// groups may share a single tile, in nodes.
void launch_partitioned(Stream& stream, const ScanProblem& p, const Kernel& scan, bool shared) {
    Device& device = stream.device();
    const u64 n = p.in.count, tiles = divide_up(n, host_tile);
    const u64 most = std::max<u64>(1, p.in.bytes() / scan_group_bytes(device, p));
    const u64 parts = shared && tiles == 1 ? divide_up(n, detail::host::scan_node) : tiles;
    const u64 groups = std::min<u64>({parts, most, device.traits().units});
    const Totals above =
        tiles == 1 && groups == 1 ? Totals::unused(stream, p.type()) : Totals(stream, tiles, p.type());
    InputArguments(p.input()).launch(
        stream, scan, LaunchShape::linear(groups, 1), p.out, above.totals, above.flags, n, p.exclusive(),
        stores_non_temporal(device, scan_stream_kib, point_of(p), 2 * p.in.bytes()), p.identity, p.values);
}

Support supports_tiles(const ScanProblem& p) {
    const u64 tiles = divide_up(p.in.count, scan_group_tile);
    if (tiles < u64{1} << 32) return {};
    return Support::no("supports at most 2^32 - 1 tiles of {} elements, got {}", scan_group_tile, tiles);
}

}  // namespace

Support supports_scan_lookback(const Device& device, const ScanProblem& p) {
    if (Support tiles = supports_tiles(p); !tiles) return tiles;
    if (Support waiting = supports_waiting(device); !waiting) return waiting;
    if (Support fence = supports_device_fence(device); !fence) return fence;
    // The totals of the blocks and nodes of three more tiles.
    constexpr u64 room = scan_tile_room + lookback_room + 3 * (scan_group + 16);
    if (Support local = supports_local_memory(device, room * size_of(p.type()) + 64); !local) return local;
    return supports_problem_in<scan_group>(device, p);
}

// A large array of bytes has many tiles. If it fits the cache, reading it twice is faster than that much look-back.
// Without shuffles, lanes exchange values through local memory.
bool suits_scan_lookback(const Device& device, const ScanProblem& p) {
    constexpr u64 many = u64{1} << 22;
    if (!device.traits().shuffles) return false;
    return size_of(p.type()) > 1 || p.in.count < many || 2 * p.in.bytes() > device.traits().cache;
}

void run_scan_lookback(Stream& stream, const ScanProblem& p) {
    Device& device = stream.device();
    const LookbackShape shape = default_shape(device, p.type(), p.in.count);
    const u64 tiles_a_group = std::min(tuned(device, scan_lookback_tiles, point_of(p), shape.tiles),
                                       max_lookback_tiles(device, p.type()));
    const u64 resident = p.expression ? expression_resident
                                      : tuned(device, scan_lookback_resident, point_of(p), shape.resident);
    const auto scan = scan_group_kernel(device, p, kernel_sources::scan_lookback(), "scan_lookback",
                                        tiles_a_group, resident);
    const u64 n = p.in.count, tiles = divide_up(n, scan_group_tile);
    const Lookback lookback(stream, tiles, size_of(p.type()));
    InputArguments(p.input()).launch(
        stream, *scan, LaunchShape::linear(divide_up(tiles, tiles_a_group), scan_group), p.out, lookback.view,
        n, static_cast<u32>(tiles), p.exclusive(), p.identity, p.values);
}

Support supports_scan_lookback_fallback(const Device& device, const ScanProblem& p) {
    if (overlap(p.in, p.out))
        return Support::no("does not support in-place operation; pass a distinct output");
    if (Support fence = supports_device_fence(device); !fence) return fence;
    if (Support tiles = supports_tiles(p); !tiles) return tiles;
    constexpr u64 siblings = 128, room = scan_tile_room + lookback_room + siblings + scan_group + 16;
    const u64 bytes = room * size_of(p.type()) + (siblings + 2) * sizeof(u32) + 64;
    if (Support local = supports_local_memory(device, bytes); !local) return local;
    return supports_problem_in<scan_group>(device, p);
}

void run_scan_lookback_fallback(Stream& stream, const ScanProblem& p) {
    const auto scan = scan_group_kernel(stream.device(), p, kernel_sources::scan_fallback(), "scan_fallback");
    const u64 n = p.in.count, tiles = divide_up(n, scan_group_tile);
    const Totals above(stream, tiles, p.type());
    launch(stream, *scan, LaunchShape::linear(tiles, scan_group), p.in, p.out, above.totals, above.flags, n,
           static_cast<u32>(tiles), p.exclusive(), p.identity, p.values);
}

Support supports_scan_partitioned(const Device& device, const ScanProblem& p) {
    if (Support waiting = supports_waiting(device); !waiting) return waiting;
    return supports_problem(device, p);
}

void run_scan_partitioned(Stream& stream, const ScanProblem& p) {
    launch_partitioned(stream, p, *scan_wide_kernel(stream.device(), p, "scan_partitioned"), false);
}

void run_scan_partitioned_host(Stream& stream, const ScanProblem& p) {
    launch_partitioned(stream, p, *host_kernel_of(stream.device(), "scan_partitioned", p.host->partitioned),
                       true);
}

}  // namespace concord::detail
