#pragma once
// What ranks do in a study, apart from how it is measured (ranks.cpp).

#include "rank_studies.hpp"

#include <concord/communicator.hpp>
#include <concord/histogram.hpp>

namespace concord::study {

/// What is asked of ranks together.
struct RanksTask {
    std::string suite, variant;
    u64 n = 0;
    u32 ranks = 1;
    bool shares_host_memory = false;  ///< of their devices
};

/// A rank's calls, once they are known to be right.
struct RanksCalls {
    std::function<void(u64 count)> enqueue;  ///< collective: so many calls one after another
    /// Throws device_failed, "WRONG: ...", unless the last call's result is right, and poisons it. Empty: each call builds on
    /// the one before.
    std::function<void()> verify = {};
};

struct RanksWork {
    u64 bytes = 0;   ///< that a call reads and writes, of all ranks together
    u64 memory = 0;  ///< that all ranks together take of their devices
    /// Collective: makes a rank ready and verifies its calls, which throws as RanksCalls::verify.
    std::function<RanksCalls(Communicator& ranks, Stream& stream)> prepare;
};

/// A suite of the studies over ranks: in its variants, or ways that are measured apart.
struct RanksSuite {
    const char* name;
    std::vector<std::string> variants;
    RanksWork (*work)(const RanksTask& task);
};

/// Steps of the stencil on a volume that ranks_shape() tells.
RanksWork stencil_work(const RanksTask& task);
/// Calls on n elements of f32 a rank: distributed_reduce(), a sum; distributed_histogram() in 256 even bins of u64. n is a
/// power of two or, from 2^22 on, a multiple of that.
RanksWork reduce_work(const RanksTask& task);
RanksWork histogram_work(const RanksTask& task);

/// A rank's elements are as many copies as they take of a block of its own: those blocks.
std::vector<std::vector<f32>> throughput_blocks(const RanksTask& task);
/// What the calls must give for them, computed on the host.
f32 expected_sum(const RanksTask& task, const std::vector<std::vector<f32>>& blocks);
std::vector<u64> expected_counts(const RanksTask& task, const std::vector<std::vector<f32>>& blocks);
/// The histogram's bins.
HistogramBins throughput_bins();

[[noreturn]] void throw_wrong(u32 rank, const std::string& what);

}  // namespace concord::study
