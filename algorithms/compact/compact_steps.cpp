// The host side of the textbook's way.

#include "compact_table.hpp"

namespace concord::detail {
namespace {

constexpr u64 host_block = u64{1} << 14;  // elements of a group on the CPU

u64 block_of(const Device& device) {
    return device.traits().dialect == Dialect::host ? host_block : compact_group;
}

// A launch of a step over n values, a block a group. Host kernels are told how long a block is.
template <class... A>
void launch_step(Stream& stream, const CompactProblem& p, const char* entry, HostKernel CompactHost::*host,
                 u64 n, const A&... arguments) {
    Device& device = stream.device();
    const auto kernel = compact_kernel(device, p, CompactText::steps, entry, host);
    const u64 block = block_of(device);
    launch(stream, *kernel, LaunchShape::linear(divide_up(n, block), lanes_of(device, compact_group)),
           arguments...);
}

View range(const std::shared_ptr<Buffer>& buffer, Type type) {
    return {buffer.get(), 0, buffer->size() / size_of(type), type};
}

/// Where each block's positions begin: the exclusive scan of the blocks' sums, level by level.
void scan_sums(Stream& stream, const CompactProblem& p, const View& sums) {
    const bool host = stream.device().traits().dialect == Dialect::host;
    const u64 n = sums.count, block = block_of(stream.device()), groups = divide_up(n, block);
    const auto buffer = stream.scratch(groups * sizeof(u64));
    const View upper = range(buffer, Type::u64);
    if (host) {
        launch_step(stream, p, "compact_scan_sums", &CompactHost::scan_sums, n, sums, sums, upper, n, block);
    } else {
        launch_step(stream, p, "compact_scan_sums", &CompactHost::scan_sums, n, sums, sums, upper, n);
    }
    if (groups == 1) return;
    scan_sums(stream, p, upper);
    if (host) {
        launch_step(stream, p, "compact_add_sums", &CompactHost::add_sums, n, sums, upper, n, block);
    } else {
        launch_step(stream, p, "compact_add_sums", &CompactHost::add_sums, n, sums, upper, n);
    }
}

/// The exclusive scan of the flags: positions within blocks, and where those begin.
void scan_flags(Stream& stream, const CompactProblem& p, const View& flags, const View& positions,
                const View& blocks) {
    const u64 n = flags.count;
    if (stream.device().traits().dialect == Dialect::host) {
        launch_step(stream, p, "compact_scan_flags", &CompactHost::scan_flags, n, flags, positions, blocks, n,
                    block_of(stream.device()));
    } else {
        launch_step(stream, p, "compact_scan_flags", &CompactHost::scan_flags, n, flags, positions, blocks,
                    n);
    }
    scan_sums(stream, p, blocks);
}

}  // namespace

Support supports_scan_scatter(const Device& device, const CompactProblem& p) {
    if (Support group = supports_group(device, compact_group); !group) return group;
    const DeviceTraits& traits = device.traits();
    if (const u64 scratch = 8 * p.in.count; scratch > traits.global_memory / 4 && traits.runs)
        return Support::no(std::to_string(scratch) +
                           " bytes of flags and positions are more than a quarter of the " +
                           std::to_string(traits.global_memory) + " of " + device.info().selector);
    return supports_keep(device, p);
}

void run_compact_scan_scatter(Stream& stream, const CompactProblem& p) {
    const bool host = stream.device().traits().dialect == Dialect::host;
    const u64 n = p.in.count, block = block_of(stream.device());
    const auto flag_buffer = stream.scratch(n * sizeof(u32)),
               position_buffer = stream.scratch(n * sizeof(u32)),
               block_buffer = stream.scratch(divide_up(n, block) * sizeof(u64));
    const View flags = range(flag_buffer, Type::u32), positions = range(position_buffer, Type::u32),
               blocks = range(block_buffer, Type::u64);
    if (host) {
        launch_step(stream, p, "compact_flags", &CompactHost::flags, n, p.in, flags, n, block, p.values);
    } else {
        launch_step(stream, p, "compact_flags", &CompactHost::flags, n, p.in, flags, n, p.values);
    }
    scan_flags(stream, p, flags, positions, blocks);
    const u32 partition = p.partition ? 1 : 0;
    if (host) {
        launch_step(stream, p, "compact_scatter", &CompactHost::scatter, n, p.in, flags, positions, blocks,
                    p.out, p.count, n, block, partition);
    } else {
        launch_step(stream, p, "compact_scatter", &CompactHost::scatter, n, p.in, flags, positions, blocks,
                    p.out, p.count, n, partition);
    }
}

}  // namespace concord::detail
