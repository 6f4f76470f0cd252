#pragma once
// Shared by the .cpp files of compact: kernels, support checks and launch code.

#include <concord/compact.hpp>
#include <concord/internal/block_function.hpp>

namespace concord::detail {

inline constexpr u32 compact_group = 256;

// The host kernels of compact, which take the predicate as an argument.
struct CompactKernels {
    HostKernel serial, two_pass, count, offsets, write, flags, scatter;
};
// Those for elements of `size` bytes.
const CompactKernels& compact_kernels(u32 size);

enum class CompactSource { fused, wide, steps, lookback };

// The kernel `entry` for the problem's type and predicate.
std::shared_ptr<Kernel> compact_kernel(Device& device, const CompactProblem& problem, CompactSource which,
                                       const char* entry, HostKernel CompactKernels::*host);

// A built-in predicate as compact_keep; null if the type does not support it.
const HostKernel* compact_builtin_host(KeepRule rule, Type type);

// The predicate as an argument of host kernels.
host::BlockFunction compact_block_function(const Device& device, const CompactProblem& problem);

// Whether the device supports the predicate for the problem's type.
Support supports_keep(const Device& device, const CompactProblem& problem);

Support supports_scan_scatter(const Device& device, const CompactProblem& problem);
void run_compact_scan_scatter(Stream& stream, const CompactProblem& problem);

}  // namespace concord::detail
