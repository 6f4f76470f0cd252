#pragma once
// What the files of sort share: the launch code of the rows, and whether a row supports a problem.

#include <concord/sort.hpp>

namespace concord::detail {

/// The values as a launch takes them: where there are none, a range that there is, which the kernel does not look at.
inline const View& values_or(const SortProblem& p, const View& values, const View& otherwise) {
    return p.pairs() ? values : otherwise;
}

/// sort_steps.cpp: the standard libraries' sorts, on one thread.
Support supports_sort_std(const Device& device, const SortProblem& problem);
void run_sort_std(Stream& stream, const SortProblem& problem);

// --- Kernels that are text ------------------------------------------------------------------------------------------

/// sort_bitonic.cpp: sorting networks.
Support supports_sort_network(const Device& device, const SortProblem& problem);
void run_sort_bitonic(Stream& stream, const SortProblem& problem);
void run_sort_bitonic_fused(Stream& stream, const SortProblem& problem);
void run_sort_bitonic_local(Stream& stream, const SortProblem& problem);
void run_sort_odd_even(Stream& stream, const SortProblem& problem);

/// sort_radix.cpp: radix sorts of one, four and eight bits a pass.
Support supports_sort_radix(const Device& device, const SortProblem& problem);
void run_sort_radix1(Stream& stream, const SortProblem& problem);
void run_sort_radix4(Stream& stream, const SortProblem& problem);
void run_sort_radix4_local(Stream& stream, const SortProblem& problem);
void run_sort_radix4_vector(Stream& stream, const SortProblem& problem);
Support supports_sort_radix8_text(const Device& device, const SortProblem& problem);
void run_sort_radix8_text(Stream& stream, const SortProblem& problem);

/// sort_onesweep.cpp.
Support supports_sort_onesweep(const Device& device, const SortProblem& problem);
void run_sort_onesweep(Stream& stream, const SortProblem& problem);

/// sort_merge.cpp.
Support supports_sort_merge_text(const Device& device, const SortProblem& problem);
void run_sort_merge_text(Stream& stream, const SortProblem& problem);

}  // namespace concord::detail
