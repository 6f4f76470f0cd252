#pragma once
// Work of the ranks in a study. ranks.cpp measures it.

#include <concord/communicator.hpp>
#include <concord/histogram.hpp>
#include <concord/study/internal/rank_studies.hpp>

namespace concord::study {

// Work of all ranks together.
struct RanksTask {
    std::string suite, variant;
    u64 n = 0;
    u32 ranks = 1;
    bool shares_host_memory = false;  // as in DeviceTraits
};

// Calls of one rank whose results have been verified.
struct RanksCalls {
    std::function<void(u64 count)> enqueue;  // collective: enqueues `count` calls
    // Verifies the result of the last call and poisons it. Throws device_failed with "WRONG: ..." for a wrong result.
    // Empty if each call continues from the one before.
    std::function<void()> verify = {};
};

struct RanksWork {
    u64 bytes = 0;   // bytes that a call reads and writes, over all ranks
    u64 memory = 0;  // bytes of device memory, over all ranks
    // Collective: prepares a rank and verifies its calls. Throws like RanksCalls::verify.
    std::function<RanksCalls(Communicator& ranks, Stream& stream)> prepare;
};

// A suite of the studies over ranks, and its variants.
struct RanksSuite {
    const char* name;
    std::vector<std::string> variants;
    RanksWork (*work)(const RanksTask& task);
    Type type = Type::f32;
};

// Steps of the stencil on the volume of ranks_shape().
RanksWork stencil_work(const RanksTask& task);
// Calls of distributed_reduce() (sum) and distributed_histogram() (256 even bins, u64 counters) on n f32 elements per
// rank. n is a power of two up to 2^22, or a multiple of 2^22.
RanksWork reduce_work(const RanksTask& task);
RanksWork histogram_work(const RanksTask& task);
// Calls of distributed_sort() on n u32 keys per rank, all of them different if they can be.
RanksWork sort_work(const RanksTask& task);

// Each rank's input repeats a block. Returns the blocks, one per rank.
std::vector<std::vector<f32>> throughput_blocks(const RanksTask& task);
// Expected results, computed on the host.
f32 expected_sum(const RanksTask& task, const std::vector<std::vector<f32>>& blocks);
std::vector<u64> expected_counts(const RanksTask& task, const std::vector<std::vector<f32>>& blocks);
// Bins of the histogram.
HistogramBins throughput_bins();

[[noreturn]] void throw_wrong(u32 rank, const std::string& what);

}  // namespace concord::study
