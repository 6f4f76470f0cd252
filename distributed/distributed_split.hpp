#pragma once
// Splitters of a distributed sort.

#include <concord/communicator.hpp>
#include <concord/sort.hpp>

#include <atomic>

namespace concord::detail {

// Chunks of a distributed sort's result per rank; 0: chosen by their size. For tests.
inline std::atomic<u32> tested_sort_chunks = 0;

// Collective. Returns cuts[c][r]: the number of rank r's sorted keys that precede position places[c] of the sorted
// whole. Equal keys are in rank order. places ascend and are the same on all ranks. counts: number of keys of each
// rank.
std::vector<std::vector<u64>> split_sorted(Communicator& ranks, Stream& stream, const View& keys,
                                           const SortBy& by, const std::vector<u64>& counts,
                                           const std::vector<u64>& places);

}  // namespace concord::detail
