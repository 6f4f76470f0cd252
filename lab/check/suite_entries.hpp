#pragma once
// Registry of the algorithms' suites. CMake generates the table from CONCORD_ALGORITHMS.

#include <concord/lab/suite.hpp>

#include <span>

namespace concord::lab {

struct SuiteEntry {
    std::string_view algorithm;
    Suite (*make)();  // leaves name, summary and variants to the algorithm's descriptor
};

extern const std::span<const SuiteEntry> suite_entries;

}  // namespace concord::lab
