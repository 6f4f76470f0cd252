#pragma once
// Contents of a report, independent of its format.

#include <concord/study/internal/study.hpp>

#include <functional>

namespace concord::study {

// A figure and its charts. The charts' names are unique in the report: "reduce-steps-1-2".
struct Drawn {
    const Figure& figure;
    std::vector<std::pair<std::string, Chart>> charts;
};

// Calls `visit` for each study that ran and each imported file, with the figures that have charts. Skips sections
// without charts.
void for_each_section(const Records& records,
                      const std::function<void(const Study&, const std::vector<Drawn>&)>& visit);

// Measurements without a time in a chart.
struct Problems {
    std::vector<const Result*> failed;
    std::string left_out;  // lists the skipped measurements; empty: none
};
Problems problems_in(const Chart& chart);

// The ceilings of a device by name: {"copy", "4.26 TB/s"}. `device`: as in `concord bench --json`.
std::vector<std::pair<std::string, std::string>> ceilings_of(const ordered_json& device);
// The devices and their ceilings, one column per device. Leaves out rows without values.
Rows devices_rows(const Records& records);
// Machine, version and date of a run.
std::string machine_words(const ordered_json& run);

// A table, and what follows the heading of a chart.
std::string markdown_table(const Rows& rows);
std::string markdown_of(const Chart& chart);

inline constexpr const char* how_measured =
    "Results are verified before they are timed, and wrong results have no time. Times are medians. Calls "
    "alternate between copies of their data, so that caches do not hold them, unless a study says otherwise.";

}  // namespace concord::study
