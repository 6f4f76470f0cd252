#pragma once
// Where the result of a sort is cut.

#include <concord/communicator.hpp>
#include <concord/sort.hpp>

namespace concord::detail {

/// Collective. cuts[c][r]: how many of rank r's keys, which are sorted, lie before place places[c] of all of them in order, equal
/// keys in the order of the ranks. places ascend and are the same on all ranks; counts: how many keys each rank has.
std::vector<std::vector<u64>> split_sorted(Communicator& ranks, Stream& stream, const View& keys,
                                           const SortBy& by, const std::vector<u64>& counts,
                                           const std::vector<u64>& places);

}  // namespace concord::detail
