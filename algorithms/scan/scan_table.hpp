#pragma once
// Kernels and launch code that scan.cpp and scan_steps.cpp share.

#include <concord/scan.hpp>

namespace concord::detail {

inline constexpr u32 scan_group = 256;

enum class ScanSource { tiles, lookback, fallback, wide, steps };

// The kernel `entry` for the problem's type and operator.
std::shared_ptr<Kernel> scan_kernel(Device& device, const ScanProblem& problem, ScanSource from,
                                    const char* entry, HostKernel ScanHost::*host = nullptr);

// The host kernels of a built-in operator.
const ScanHost& scan_builtin(ReduceOp op, Type type);

void run_scan_hillis_steele(Stream& stream, const ScanProblem& problem);
void run_scan_blelloch(Stream& stream, const ScanProblem& problem);
void run_scan_kogge_stone(Stream& stream, const ScanProblem& problem);
void run_scan_brent_kung(Stream& stream, const ScanProblem& problem);
void run_scan_recursive(Stream& stream, const ScanProblem& problem);
void run_scan_conflict_free(Stream& stream, const ScanProblem& problem);
void run_scan_recursive_vector(Stream& stream, const ScanProblem& problem);

}  // namespace concord::detail
