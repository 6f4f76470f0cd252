#pragma once
/// What a report has in it, whatever it is written as.

#include "study.hpp"

#include <functional>

namespace concord::study {

/// A figure with what was drawn for it; the charts' names are unique in the report: "reduce-steps-1-2".
struct Drawn {
    const Figure& figure;
    std::vector<std::pair<std::string, Chart>> charts;
};

/// Calls visit for each study that was run and each file that was taken in, with the figures that have a chart, unless none has.
void for_each_section(const Records& records,
                      const std::function<void(const Study&, const std::vector<Drawn>&)>& visit);

/// What a chart lacks.
struct Problems {
    std::vector<const Result*> failed;
    std::string left_out;  ///< how much of what, in words; empty: nothing was
};
Problems problems_in(const Chart& chart);

/// The devices and their ceilings: a column a device, with no header for the first.
Rows devices_rows(const Records& records);
/// The machine, the version and the day, from a run's line.
std::string machine_words(const ordered_json& run);

inline constexpr const char* how_measured =
    "Results are verified before they are timed; what is wrong has no number. Times are medians. Calls take "
    "turns on copies "
    "of their data, against caches.";

}  // namespace concord::study
