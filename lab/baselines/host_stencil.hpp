#pragma once
// Stencils over oneTBB, of which host.cpp makes baselines.

#include "rows.hpp"

namespace concord::baselines {

/// Planes in parallel, plain loops.
std::vector<Row> tbb_stencils();
/// Tiles of rows in parallel, each through all planes.
std::vector<Row> tbb_tiled_stencils();

}  // namespace concord::baselines
