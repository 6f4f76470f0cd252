#pragma once
// Assignment of blocks of a fixed length (chunks of reduce, tiles of scan) to ranks whose parts have any length. A
// block belongs to the rank on which it begins. A rank sends its leading partial block to the rank that owns it.

#include <concord/communicator.hpp>

namespace concord::detail {

struct Blocks {
    // Elements of this rank's last block that another rank holds.
    struct Fragment {
        u32 rank;
        u64 at, count;  // elements; `at` counts from the beginning of the block
    };

    u64 all = 0;         // elements of all ranks
    u64 first = 0;       // global index of this part's first element
    u64 lead = 0;        // elements at the beginning of the part that belong to another rank's block
    u32 lead_owner = 0;  // owner of that block, if lead > 0
    u64 body = 0;        // elements of whole blocks after `lead`
    u64 rest = 0;        // elements of the last, partial block after `body`
    std::vector<Fragment> fragments;  // the last block's elements on other ranks, if rest > 0
    u64 tail = 0;                     // elements of the last block: rest and fragments

    // counts: lengths of the parts.
    Blocks(const std::vector<u64>& counts, u32 rank, u64 length);

    // Global index of the first element of this rank's own blocks.
    u64 begin() const { return first + lead; }
};

// Collective. Sends `lead` to its owner and returns this rank's last block as one range. That is the part's own
// memory if no other rank holds elements of the block, else `memory`.
View collect_tail(Communicator& ranks, Stream& stream, const Blocks& blocks, const View& in,
                  std::shared_ptr<Buffer>& memory);
// Collective. The reverse of collect_tail(): returns the results of the last block to the ranks that hold its
// elements, in `out`.
void return_tail(Communicator& ranks, Stream& stream, const Blocks& blocks, const View& result,
                 const View& out);

// Collective. Gathers the elements of all ranks on all hosts, in rank order.
std::vector<std::vector<std::byte>> gather_elements(Communicator& ranks, Stream& stream, const View& mine);

}  // namespace concord::detail
