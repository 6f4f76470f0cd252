// The host side of `scan_scatter`.

#include "compact_table.hpp"

#include <concord/internal/launch.hpp>
#include <concord/scan.hpp>

namespace concord::detail {

Support supports_scan_scatter(const Device& device, const CompactProblem& p) {
    if (Support group = supports_group(device, compact_group); !group) return group;
    if (Support scratch = supports_scratch(device, (p.in.count + 1) * sizeof(u64)); !scratch) return scratch;
    if (Support keep = supports_keep(device, p); !keep || p.host == nullptr) return keep;
    return supports_textbook(device, "compact", p.op, p.host->flags);
}

void run_compact_scan_scatter(Stream& stream, const CompactProblem& p) {
    Device& device = stream.device();
    auto step = [&](const char* entry, HostKernel CompactHost::*host) {
        return compact_kernel(device, p, CompactSource::steps, entry, host);
    };
    const u64 n = p.in.count;
    const auto buffer = stream.scratch((n + 1) * sizeof(u64));
    const View positions{buffer.get(), 0, n + 1, Type::u64};
    launch_elements(stream, *step("compact_flags", &CompactHost::flags), n + 1, compact_group, p.values, p.in,
                    positions, n);
    scan(stream, positions, positions, ReduceOp::sum, ScanKind::exclusive);
    launch_elements(stream, *step("compact_scatter", &CompactHost::scatter), n, compact_group, NoOperator{},
                    p.in, positions, p.out, p.count, n, u32{p.partition});
}

}  // namespace concord::detail
