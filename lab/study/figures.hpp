#pragma once
/// What the ways to build a figure share.

#include "study.hpp"

namespace concord::study {

using Group = std::pair<std::string, std::vector<const Result*>>;

/// The results that are the figure's, by what those parts of them say, in order of appearance.
std::vector<Group> groups(const Figure& figure, const std::vector<const Result*>& results,
                          const std::vector<By>& by);
/// The axis of a measure.
Scale scale_of(Measure measure);
/// "tbb:0, AMD EPYC" for "tbb:0"; other words as they are.
std::string panel_title(const std::string& words, const Data& data);
/// The result's measure, with its quartiles.
Mark mark_of(const Result& r, Measure measure, double x);
/// The largest size at which nearly all have a time that have one anywhere.
u64 common_size(const std::vector<const Result*>& results);

}  // namespace concord::study
