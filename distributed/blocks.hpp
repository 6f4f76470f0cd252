#pragma once
// How the parts of the ranks, which are cut anywhere, meet blocks of a fixed length: chunks of reduce, tiles of scan. A block
// belongs to the rank on which it begins; those that hold the rest of it give it there.

#include <concord/communicator.hpp>

namespace concord::detail {

struct Blocks {
    /// What another rank has of this rank's last block.
    struct Fragment {
        u32 rank;
        u64 at, count;  ///< elements, from the block's beginning
    };

    u64 all = 0;                      ///< elements of all ranks
    u64 first = 0;                    ///< of this rank's part
    u64 lead = 0;                     ///< elements at the part's beginning, of a block of another rank's
    u32 lead_owner = 0;               ///< which; if lead > 0
    u64 body = 0;                     ///< elements behind them, of whole blocks
    u64 rest = 0;                     ///< elements behind those, of the last block
    std::vector<Fragment> fragments;  ///< of the last block, if rest > 0
    u64 tail = 0;                     ///< elements of the last block, or 0: rest and fragments

    /// counts: the lengths of the parts.
    Blocks(const std::vector<u64>& counts, u32 rank, u64 length);

    /// Where this rank's own blocks begin, in all.
    u64 begin() const { return first + lead; }
};

/// The last block as one range: the part's own memory where nobody else has any of it. All ranks call, with their lead on its
/// way to its owner. `memory` holds it otherwise.
View collect_tail(Communicator& ranks, Stream& stream, const Blocks& blocks, const View& in,
                  std::shared_ptr<Buffer>& memory);
/// The way back: what came out of that range goes to where its elements lie in `out`.
void return_tail(Communicator& ranks, Stream& stream, const Blocks& blocks, const View& result,
                 const View& out);

/// Everybody's elements, in the order of the ranks, on all hosts.
std::vector<std::vector<std::byte>> gather_elements(Communicator& ranks, Stream& stream, const View& mine);

}  // namespace concord::detail
