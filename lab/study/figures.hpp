#pragma once
// Functions that several kinds of figures use.

#include <concord/study/internal/study.hpp>

namespace concord::study {

using Group = std::pair<std::string, std::vector<const Result*>>;

// The figure's results, grouped by the values of these attributes, in order of appearance.
std::vector<Group> groups(const Figure& figure, const std::vector<const Result*>& results,
                          const std::vector<By>& by);
// The axis for a quantity.
Scale scale_of(Measure measure);
// Adds the device's name to a selector: "tbb:0, AMD EPYC" for "tbb:0". Other words stay unchanged.
std::string panel_title(const std::string& words, const Data& data);
// The quantity of a result, with its quartiles.
Mark mark_of(const Result& r, Measure measure, double x);
// Adds a chart that has marks or missing results. Removes empty series, and sorts the marks of lines.
void add_chart(std::vector<Chart>& charts, Chart chart);
// A chart for each group of the results, which `draw` completes. Its title is the name of the group.
std::vector<Chart> charts_of(const Figure& figure, const Data& data, const std::vector<By>& by,
                             const std::function<void(Chart&, const Group&)>& draw);
// The largest size that at least 3/4 as many results have a time for as at the best-covered size.
u64 common_size(const std::vector<const Result*>& results);
// The number at the end of a variant's name: 4 for "overlapped4". 0: there is none.
u32 ranks_of(const Result& r);
// Ideal time of a result's ranks, relative to the time of one rank.
double ideal_times(const Result& r);

}  // namespace concord::study
