#pragma once
// Stencils on oneTBB. host.cpp registers them as baselines.

#include "rows.hpp"

namespace concord::baselines {

// Parallel over planes, with plain loops.
std::vector<Row> tbb_stencils();
// Parallel over tiles of rows. Each tile runs through all planes.
std::vector<Row> tbb_tiled_stencils();

}  // namespace concord::baselines
