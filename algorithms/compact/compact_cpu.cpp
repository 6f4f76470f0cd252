// Host side of the variants with one work-item per group: `fused`, and `two_pass` and `serial` of host kernels.

#include "compact_move.hpp"
#include "compact_sources.hpp"
#include "compact_variants.hpp"

#include <concord/internal/input.hpp>
#include <concord/internal/launch.hpp>

namespace concord::detail {
namespace {

// One for small inputs, because waking threads costs more.
u64 max_groups(const Device& device, const CompactProblem& p) {
    const u64 min_bytes = tuned(device, compact_group_kib, point_of(p), min_group_kib(device.traits())) << 10;
    return std::max<u64>(1, p.in.bytes() / min_bytes);
}

u32 non_temporal(const Device& device, const CompactProblem& p) {
    return stores_non_temporal(device, compact_stream_kib, point_of(p), p.in.bytes() + p.out.bytes());
}

// The chunks of `fused`, some per thread, and the offsets of their results.
struct Chunks {
    Chunks(Stream& stream, const CompactProblem& p) {
        const Device& device = stream.device();
        const u64 each = tuned(device, compact_groups, point_of(p), 16);
        const u64 most =
            std::min<u64>({max_groups(device, p), device.traits().units * each, compact_max_chunks});
        length = divide_up(divide_up(p.in.count, most), 1024) * 1024;
        count = divide_up(p.in.count, length);
        buffer = stream.scratch(count * sizeof(u64));
        offsets = {buffer.get(), 0, count, Type::u64};
    }
    LaunchShape shape() const { return LaunchShape::linear(count, 1); }

    u64 length, count;
    std::shared_ptr<Buffer> buffer;
    View offsets;
};

// Counts the kept elements of each chunk, and turns the counts into offsets and their total.
void launch_offsets(Stream& stream, const CompactProblem& p, const Chunks& chunks) {
    Device& device = stream.device();
    const CompactKernels& kernels = compact_kernels(size_of(p.in.type));
    InputArguments(p.input()).launch(stream, *host_kernel_of(device, "compact_count", kernels.count),
                                     chunks.shape(), chunks.offsets, p.in.count, chunks.length,
                                     size_of(p.in.type), compact_block_function(device, p).argument(),
                                     p.values);
    launch(stream, *host_kernel_of(device, "compact_offsets", kernels.offsets), LaunchShape::linear(1, 1),
           chunks.offsets, p.count, chunks.count);
}

}  // namespace

void run_compact_fused_wide(Stream& stream, const CompactProblem& p) {
    Device& device = stream.device();
    const auto kernel = [&](const char* entry, CompactNeeds needs, bool partition) {
        return compact_kernel(device, p, kernel_sources::compact_wide(), entry, 1, needs,
                              {{"PARTITION", partition}});
    };
    const auto count = kernel("compact_count", CompactNeeds::predicate, false),
               sum = kernel("compact_offsets", CompactNeeds::neither, false),
               write = kernel("compact_write", CompactNeeds::predicate, p.partition);
    const Chunks chunks(stream, p);
    const InputArguments in(p.input());
    in.launch(stream, *count, chunks.shape(), chunks.offsets, p.in.count, chunks.length, p.values);
    launch(stream, *sum, LaunchShape::linear(1, 1), chunks.offsets, p.count, chunks.count);
    in.launch(stream, *write, chunks.shape(), p.out, chunks.offsets, p.count, p.in.count, chunks.length,
              non_temporal(device, p), p.values);
}

// In one group `two_pass` reads the elements once. It computes an expression once.
bool suits_compact_fused_host(const Device& device, const CompactProblem& p) {
    return max_groups(device, p) > 1 && (!p.expression || p.partition);
}

void run_compact_fused_host(Stream& stream, const CompactProblem& p) {
    Device& device = stream.device();
    const auto write = host_kernel_of(device, "compact_write", compact_kernels(size_of(p.in.type)).write);
    const Chunks chunks(stream, p);
    launch_offsets(stream, p, chunks);
    InputArguments(p.input()).launch(stream, *write, chunks.shape(), p.out, chunks.offsets, p.count,
                                     p.in.count, chunks.length, non_temporal(device, p), u32{p.partition},
                                     compact_block_function(device, p).argument(), p.values);
}

void run_compact_two_pass(Stream& stream, const CompactProblem& p) {
    Device& device = stream.device();
    const u64 n = p.in.count, size = size_of(p.in.type);
    const auto kernel =
        host_kernel_of(device, "compact_two_pass", compact_kernels(size_of(p.in.type)).two_pass);
    constexpr u64 slack = detail::host::compress_slack;
    // Two tiles fit the first-level cache. With many threads tiles are larger, because turns pass from tile to
    // tile.
    const u64 tile_bytes = tuned(device, compact_tile_kib, point_of(p), device.traits().units <= 8 ? 16 : 64)
                           << 10;
    const u64 tile = tile_bytes / size, tiles = divide_up(n, tile);
    const u64 groups = std::min<u64>({tiles, device.traits().units, max_groups(device, p)});
    if (p.partition) launch_offsets(stream, p, Chunks(stream, p));
    const u64 local = (p.partition ? 2 : 1) * (tile_bytes + slack);
    InputArguments(p.input()).launch(stream, *kernel, LaunchShape::linear(groups, 1, local), p.out, p.count,
                                     n, tile, non_temporal(device, p), u32{p.partition},
                                     compact_block_function(device, p).argument(), p.values);
}

void run_compact_serial(Stream& stream, const CompactProblem& p) {
    Device& device = stream.device();
    const auto kernel = host_kernel_of(device, "compact_serial", compact_kernels(size_of(p.in.type)).serial);
    InputArguments(p.input()).launch(stream, *kernel, LaunchShape::linear(1, 1), p.out, p.count, p.in.count,
                                     u32{p.partition}, compact_block_function(device, p).argument(),
                                     p.values);
}

}  // namespace concord::detail
