#pragma once
// Each algorithm's tunables, which lie beside its launch code.

#include <concord/tuning.hpp>

namespace concord::detail {

using Tunables = std::vector<const Tunable*>;

Tunables map_tunables();
Tunables reduce_tunables();
Tunables scan_tunables();
Tunables histogram_tunables();
Tunables compact_tunables();
Tunables sort_tunables();
Tunables transpose_tunables();
Tunables convolve_tunables();
Tunables stencil_tunables();
Tunables matmul_tunables();

}  // namespace concord::detail
