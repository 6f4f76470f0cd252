#pragma once
/// The functions that make the algorithms' suites. CMake writes the list.

#include <concord/lab/suite.hpp>

#include <span>

namespace concord::lab {

struct SuiteEntry {
    std::string_view algorithm;
    Suite (*make)();  ///< without name, summary and variants, which are the algorithm's
};

extern const std::span<const SuiteEntry> suite_entries;

}  // namespace concord::lab
