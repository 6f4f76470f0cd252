#pragma once
// Shared by the .cpp files of compact: kernels, support checks and launch code.

#include <concord/compact.hpp>

namespace concord::detail {

inline constexpr u32 compact_group = 256;

enum class CompactSource { fused, wide, steps, lookback };

// The kernel `entry` for the problem's type and predicate.
std::shared_ptr<Kernel> compact_kernel(Device& device, const CompactProblem& problem, CompactSource which,
                                       const char* entry, HostKernel CompactHost::*host);

// The host kernels of a built-in predicate; null if the type does not support it.
const CompactHost* compact_builtin_host(KeepRule rule, Type type);

// Whether the device supports the predicate for the problem's type.
Support supports_keep(const Device& device, const CompactProblem& problem);

Support supports_scan_scatter(const Device& device, const CompactProblem& problem);
void run_compact_scan_scatter(Stream& stream, const CompactProblem& problem);

}  // namespace concord::detail
