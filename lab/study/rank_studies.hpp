#pragma once
/// What the studies over ranks share between their measuring and their figures.

#include "study.hpp"

#include <concord/stencil.hpp>

namespace concord::study {

/// The suites' names: the stencil, as much work for each rank and the same work for all together; and calls on as many elements
/// for each rank.
inline constexpr const char *weak_ranks = "weak_ranks", *strong_ranks = "strong_ranks",
                            *reduce_ranks = "distributed_reduce", *histogram_ranks = "distributed_histogram";
/// Workloads: a device for each rank, or one for all.
inline constexpr const char *ranks_apart = "a device each", *shared_ranks = "one device for all";

/// The volume that n points stand for: a cube if they make one, else 5 : 6 : 6; of weak scaling n is a rank's, and the volume
/// as many times as deep.
StencilShape ranks_shape(u64 n, bool is_weak, u32 ranks);
u32 ranks_radius();

/// Measures what is wanted of a case on those devices, which are of one kind.
void run_ranks(const std::vector<std::shared_ptr<Device>>& devices, const Case& what, bool quick,
               const std::function<bool(const Result&)>& wanted,
               const std::function<void(const Result&, const ordered_json& row)>& done);

}  // namespace concord::study
