// The host side of `scan_scatter`.

#include "compact_table.hpp"

#include <concord/internal/launch.hpp>
#include <concord/scan.hpp>

namespace concord::detail {

Support supports_scan_scatter(const Device& device, const CompactProblem& p) {
    if (Support group = supports_group(device, compact_group); !group) return group;
    if (Support scratch = supports_scratch(device, (p.in.count + 1) * sizeof(u64)); !scratch) return scratch;
    return supports_keep(device, p);
}

void run_compact_scan_scatter(Stream& stream, const CompactProblem& p) {
    Device& device = stream.device();
    auto step = [&](const char* entry, HostKernel CompactKernels::*host) {
        return compact_kernel(device, p, CompactSource::steps, entry, host);
    };
    const u64 n = p.in.count;
    const auto buffer = stream.scratch((n + 1) * sizeof(u64));
    const View positions{buffer.get(), 0, n + 1, Type::u64};
    const auto flags = step("compact_flags", &CompactKernels::flags);
    if (device.traits().compiles_source) {
        launch_elements(stream, *flags, n + 1, compact_group, p.values, p.in, positions, n);
    } else {
        const host::BlockFunction keep = compact_block_function(device, p);
        launch_elements(stream, *flags, n + 1, compact_group, p.values, p.in, positions, n,
                        size_of(p.in.type), keep.argument());
    }
    scan(stream, positions, positions, ReduceOp::sum, ScanKind::exclusive);
    launch_elements(stream, *step("compact_scatter", &CompactKernels::scatter), n, compact_group,
                    NoOperator{}, p.in, positions, p.out, p.count, n, u32{p.partition});
}

}  // namespace concord::detail
