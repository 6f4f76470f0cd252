#pragma once
// What the fuzzers of a study's input files share.

#include "fuzz.hpp"

#include <concord/study/internal/study.hpp>

#include <sstream>

using namespace concord;
using namespace concord::fuzz;
using namespace concord::study;

// Writes every kind of report.
inline void report_all(const Records& records) {
    require(!report(records, [](const std::string&, const std::string&) {}).empty(), "the report has a page");
    markdown(records);
    results_json(records);
}
