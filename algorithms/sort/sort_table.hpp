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

}  // namespace concord::detail
