#pragma once
// Names and shapes that the measurements and the figures of the studies over ranks share.

#include <concord/study/internal/study.hpp>

#include <concord/communicator.hpp>
#include <concord/stencil.hpp>

namespace concord::study {

// Suites: the stencil with fixed work per rank (weak scaling) and with fixed total work (strong scaling), and
// collective calls with a fixed number of elements per rank.
inline constexpr const char *weak_ranks = "weak_ranks", *strong_ranks = "strong_ranks",
                            *reduce_ranks = "distributed_reduce", *histogram_ranks = "distributed_histogram",
                            *sort_ranks = "distributed_sort";
// Workloads: one device per rank, or one device that all ranks share; and the same if ranks are processes.
inline constexpr const char *ranks_apart = "one device per rank", *shared_ranks = "one shared device",
                            *processes_apart = "one device per process",
                            *shared_processes = "one device shared by processes";
// Whether the ranks of a result shared a device.
bool is_shared(const Result& r);

// The volume of n points: a cube if n is a cube number, otherwise with the proportions 5 : 6 : 6. For weak scaling n
// is the size per rank, and the depth grows with the ranks.
VolumeExtents ranks_shape(u64 n, bool is_weak, u32 ranks);
u32 ranks_radius();

// Ranks that are processes. Each has such an object. Rank 0 calls run_studies(), the others serve_ranks().
struct RankProcesses {
    Communicator& all;
    std::shared_ptr<Device> device;  // of this rank
    bool is_shared;                  // whether it is the device of all ranks
    // Collective. Returns a communicator of the first `count` ranks, null on the others.
    std::function<std::shared_ptr<Communicator>(u32 count)> first_ranks;
};
// Takes part in the measurements of rank 0 until it calls release_ranks(). Throws if a measurement fails on this rank
// in another way than by a wrong result; the job cannot continue then.
void serve_ranks(const RankProcesses& processes);
// Rank 0: ends serve_ranks() on the others.
void release_ranks(const RankProcesses& processes);

// Measures the wanted results of a case on devices of one kind, or on processes if there are some.
void run_ranks(const std::vector<std::shared_ptr<Device>>& devices, const Case& what, bool quick,
               const RankProcesses* processes, const std::function<bool(const Result&)>& wanted,
               const std::function<void(const Result&, const ordered_json& row)>& done);

}  // namespace concord::study
