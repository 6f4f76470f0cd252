#pragma once
// Comparisons with peer libraries, for the study `headline` and the documentation.

#include "figures.hpp"

namespace concord::study {

// The rows of one workload, type and size on one device that were measured together.
struct PeerGroup {
    std::vector<const Result*> variants, peers;  // with a time, fastest first
    std::vector<const Result*> problems;         // without a time
    const ordered_json* run = nullptr;           // of a stored file

    const Result& best() const { return *variants.front(); }
    // Peer's time / Concord's.
    double speed_up(const Result& peer) const { return *peer.ms / *best().ms; }
};
// In order of appearance. Leaves out groups without a time of Concord.
std::vector<PeerGroup> peer_groups(const std::vector<const Result*>& results);

// The words without repetitions and empty ones.
std::string joined(const std::vector<std::string>& words, const char* separator);
// Bytes, operations or elements per second, by what bounds the work.
std::string rate_of(const Result& r);
// "copy of 2^28 f32".
std::string work_of_group(const Result& r);
// "CUB 3.5.0 (cub::DeviceReduce::Sum)".
std::string peer_name(const Result& peer);
// "CUB 3.5.0", with the function if the group has another peer of that library.
std::string peer_label(const Result& peer, const PeerGroup& group);
// Explains "> 100 %" in a table of these results: which rate each of them exceeds. Empty: there is none.
std::string above_ceiling(const std::vector<const Result*>& results);
// Leaves only the newest release of each library's function.
void keep_newest(std::vector<const Result*>& peers);

// A row for each comparison in which the peer is faster, the fastest first. The text counts them.
Chart faster_peers(const std::vector<PeerGroup>& groups);
// All groups with their rates and speed-ups. The remarks name peers, and explain marked and missing times.
Chart compared_rates(const std::vector<PeerGroup>& groups);

}  // namespace concord::study
