#pragma once
// Rows of the CPU libraries for sort (host_sort.cpp), in a separate file because they compile slowly.

#include "rows.hpp"

namespace concord::baselines {

std::vector<Row> std_sorts();
std::vector<Row> std_stable_sorts();
std::vector<Row> std_par_sorts();
std::vector<Row> tbb_sorts();

}  // namespace concord::baselines
