#pragma once
// Gathers a few elements of all ranks on all of them, over links: one write and one wait per pair of ranks.

#include <concord/communicator.hpp>
#include <concord/internal/link.hpp>

#include <array>

namespace concord::detail {

// The kernel that writes, signals and waits (small_gather.cu). CUDA devices.
std::shared_ptr<Kernel> small_gather_kernel(Device& device);

// Memory of this rank that the others write into. Collective calls use it in turns.
class SmallGather {
  public:
    // Limit of the bytes of all ranks together.
    static constexpr u64 max_bytes = u64{1} << 18;

    // Whether calls of this rank on the stream may use it.
    static bool is_usable(const Communicator& ranks, const Stream& stream);
    // The same for all ranks, with the other arguments of agree().
    static bool all_usable(Communicator& ranks, const Stream& stream, const char* call,
                           const std::string& what);
    // Collective. It must be usable on all ranks. The first call makes the object, which the communicator
    // keeps. Null if not all ranks have links, or for more than `max_bytes`.
    static SmallGather* of(Communicator& ranks, Stream& stream, u64 bytes);

    // Starts a turn, and returns the memory for the elements of all ranks. The stream may write this rank's own part.
    View begin(Stream& stream, u64 count, Type type);
    // Writes `mine` to the same place, element `first`, on all other ranks. Later work of the stream sees the parts of
    // all other ranks.
    void exchange(Stream& stream, const View& mine, u64 first);
    // Ends the turn: the stream has read what it needs.
    void end(Stream& stream);

  private:
    static void decide(Communicator& ranks, Stream& stream);
    void exchange_in_kernels(Stream& stream, const View& mine, u64 first);

    std::array<std::shared_ptr<Buffer>, 2> memory_;
    std::shared_ptr<Buffer> flags_;             // one per rank, and a ticket
    std::vector<std::shared_ptr<Link>> links_;  // to the other ranks
    u32 rank_ = 0;
    bool in_kernels_ = false;  // whether kernels signal and wait, instead of streams
    u64 turn_ = 0;
    // A signal tells that the stream has read the last turn's memory. So a stream waits for the end of the last turn
    // on another one.
    std::shared_ptr<Event> ended_;
    const Stream* last_ = nullptr;
};

}  // namespace concord::detail
