#pragma once
// Names and shapes that the measurements and the figures of the studies over ranks share.

#include <concord/study/internal/study.hpp>

#include <concord/stencil.hpp>

namespace concord::study {

// Suites: the stencil with fixed work per rank (weak scaling) and with fixed total work (strong scaling), and
// collective calls with a fixed number of elements per rank.
inline constexpr const char *weak_ranks = "weak_ranks", *strong_ranks = "strong_ranks",
                            *reduce_ranks = "distributed_reduce", *histogram_ranks = "distributed_histogram";
// Workloads: one device per rank, or one device that all ranks share.
inline constexpr const char *ranks_apart = "one device per rank", *shared_ranks = "one shared device";

// The volume of n points: a cube if n is a cube number, otherwise with the proportions 5 : 6 : 6. For weak scaling n
// is the size per rank, and the depth grows with the ranks.
VolumeExtents ranks_shape(u64 n, bool is_weak, u32 ranks);
u32 ranks_radius();

// Measures the wanted results of a case on devices of one kind.
void run_ranks(const std::vector<std::shared_ptr<Device>>& devices, const Case& what, bool quick,
               const std::function<bool(const Result&)>& wanted,
               const std::function<void(const Result&, const ordered_json& row)>& done);

}  // namespace concord::study
