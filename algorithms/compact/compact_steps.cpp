// The host side of `scan_scatter`.

#include "compact_sources.hpp"
#include "compact_variants.hpp"

#include <concord/internal/launch.hpp>
#include <concord/scan.hpp>

namespace concord::detail {
namespace {

// flag(positions) enqueues the flags of all elements, and one more.
template <class F>
void run(Stream& stream, const CompactProblem& p, const Kernel& scatter, const F& flag) {
    const u64 n = p.in.count;
    const auto buffer = stream.scratch((n + 1) * sizeof(u64));
    const View positions{buffer.get(), 0, n + 1, Type::u64};
    flag(positions);
    scan(stream, positions, positions, ReduceOp::sum, ScanKind::exclusive);
    launch_elements(stream, scatter, n, compact_group, NoOperator{}, p.in, positions, p.out, p.count, n,
                    u32{p.partition});
}

}  // namespace

Support supports_compact_scan_scatter(const Device& device, const CompactProblem& p) {
    if (Support apart = supports_apart(p); !apart) return apart;
    if (p.selects)
        return Support::no("supports predicates only, got a flag for each element; use the variant 'fused'");
    if (Support group = supports_group(device, compact_group); !group) return group;
    if (Support scratch = supports_scratch(device, (p.in.count + 1) * sizeof(u64)); !scratch) return scratch;
    return supports_problem(device, p);
}

void run_compact_scan_scatter(Stream& stream, const CompactProblem& p) {
    Device& device = stream.device();
    const auto flags = compact_kernel(device, p, kernel_sources::compact_steps(), "compact_flags",
                                      compact_group, CompactNeeds::predicate);
    run(stream, p,
        *compact_kernel(device, p, kernel_sources::compact_steps(), "compact_scatter", compact_group,
                        CompactNeeds::size),
        [&](const View& positions) {
            launch_elements(stream, *flags, p.in.count + 1, compact_group, p.values, p.in, positions,
                            p.in.count);
        });
}

void run_compact_scan_scatter_host(Stream& stream, const CompactProblem& p) {
    Device& device = stream.device();
    const CompactKernels& kernels = compact_kernels(size_of(p.in.type));
    const auto flags = host_kernel_of(device, "compact_flags", kernels.flags);
    run(stream, p, *host_kernel_of(device, "compact_scatter", kernels.scatter), [&](const View& positions) {
        const host::BlockFunction keep = compact_block_function(device, p);
        launch_elements(stream, *flags, p.in.count + 1, compact_group, p.values, p.in, positions, p.in.count,
                        size_of(p.in.type), keep.argument());
    });
}

}  // namespace concord::detail
