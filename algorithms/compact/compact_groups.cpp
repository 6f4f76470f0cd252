// Host side of `lookback`, and of `fused` in groups of many work-items.

#include "compact_sources.hpp"
#include "compact_variants.hpp"

#include <concord/internal/input.hpp>
#include <concord/internal/launch.hpp>
#include <concord/internal/lookback.hpp>

#include <algorithm>

namespace concord::detail {
namespace {

// Accesses of 16 bytes in flight per work-item. `lookback` has more of them, because they do not take registers.
constexpr u32 rows = 4, lookback_rows = 8;

// Bytes of local memory for the elements of a tile of `lookback`: one part per warp, with room for one more pack.
constexpr u64 lookback_parts = compact_group / 32 * (u64{32} * lookback_rows + 1) * compact_pack_bytes;

// Tiles from the 16-byte boundary at or before the input, and the number of elements from there to the input.
struct Tiles {
    u64 count;
    u32 shift;
};

Tiles tiles_of(const CompactProblem& p, u32 rows_of_tile) {
    const u64 size = size_of(p.in.type), pack = compact_pack_bytes / size;
    const u32 shift = static_cast<u32>(p.in.offset / size % pack);  // 0 for an expression
    return {divide_up(p.in.count + shift, u64{compact_group} * rows_of_tile * pack), shift};
}

std::shared_ptr<Kernel> fused_kernel(Device& device, const CompactProblem& p, const char* entry,
                                     CompactNeeds needs, bool partition = false) {
    return compact_kernel(device, p, kernel_sources::compact(), entry, compact_group, needs,
                          {{"ROWS", rows}, {"PARTITION", partition}});
}

}  // namespace

Support supports_compact_lookback(const Device& device, const CompactProblem& p) {
    if (p.partition) return Support::no("does not support partition; use the variant 'fused'");
    if (Support waiting = supports_waiting(device); !waiting) return waiting;
    if (Support fence = supports_device_fence(device); !fence) return fence;
    if (const u64 tiles = tiles_of(p, lookback_rows).count; tiles > ~u32{0})
        return Support::no("supports fewer than 2^32 tiles, got {}", tiles);
    // The parts, an exchange of 64-bit counts and one of totals between lanes, and the totals before the tile.
    if (Support local = supports_local_memory(device, lookback_parts + 16 * compact_group + 256); !local)
        return local;
    return supports_problem_in<compact_group>(device, p);
}

// Without shuffles, lanes exchange values through local memory.
bool suits_compact_lookback(const Device& device, const CompactProblem& /*p*/) {
    return device.traits().shuffles;
}

void run_compact_lookback(Stream& stream, const CompactProblem& p) {
    Device& device = stream.device();
    const Type count = p.in.count >> 32 != 0 ? Type::u64 : Type::u32;
    const u64 resident = p.expression ? expression_resident : tuned(device, compact_resident, point_of(p), 6);
    const auto kernel = compact_kernel(device, p, kernel_sources::compact_lookback(), "compact_lookback",
                                       compact_group, CompactNeeds::predicate,
                                       {{"ROWS", lookback_rows},
                                        {"RESIDENT", resident},
                                        {"TILES", 1},
                                        {"TOTAL", count},
                                        {"JOIN(op, x, y)", "((x) + (y))"}});
    const auto [tiles, shift] = tiles_of(p, lookback_rows);
    const Lookback lookback(stream, tiles, size_of(count));
    InputArguments(p.input()).launch(
        stream, *kernel, LaunchShape::linear(tiles, compact_group, lookback_parts), p.out, p.count,
        lookback.view, p.in.count, shift, static_cast<u32>(tiles), u32{p.in_place()}, p.values);
}

// Counts the kept elements of each chunk of tiles, turns the counts into offsets and their total, writes the elements.
void run_compact_fused(Stream& stream, const CompactProblem& p) {
    Device& device = stream.device();
    const auto count = fused_kernel(device, p, "compact_count", CompactNeeds::predicate),
               sum = fused_kernel(device, p, "compact_offsets", CompactNeeds::neither),
               write = fused_kernel(device, p, "compact_write", CompactNeeds::predicate, p.partition);
    const auto [tiles, shift] = tiles_of(p, rows);
    // A few waves of resident groups.
    const i64 resident = write->attributes().groups_per_unit;
    const u64 wave = (resident > 0 ? static_cast<u64>(resident) : 8) * device.traits().units;
    const u64 most = wave * tuned(device, compact_waves, point_of(p), 4);
    const u64 length = divide_up(tiles, std::min({tiles, most, compact_max_chunks}));
    const u64 n = p.in.count, chunks = divide_up(tiles, length);
    const auto buffer = stream.scratch(chunks * sizeof(u64));
    const View offsets{buffer.get(), 0, chunks, Type::u64};
    const LaunchShape shape = LaunchShape::linear(chunks, compact_group);
    const InputArguments in(p.input());
    in.launch(stream, *count, shape, offsets, n, shift, length, p.values);
    launch(stream, *sum, LaunchShape::linear(1, compact_group), offsets, p.count, chunks);
    in.launch(stream, *write, shape, p.out, offsets, p.count, n, shift, length, p.values);
}

}  // namespace concord::detail
