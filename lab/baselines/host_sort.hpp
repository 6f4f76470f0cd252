#pragma once
// host_sort.cpp: the rows of the CPU's libraries for sort, which take long to compile.

#include "rows.hpp"

namespace concord::baselines {

std::vector<Row> std_sorts();
std::vector<Row> std_stable_sorts();
std::vector<Row> std_par_sorts();
std::vector<Row> tbb_sorts();

}  // namespace concord::baselines
