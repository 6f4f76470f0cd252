#pragma once
// Links between processes of one host through CUDA IPC.

#include <concord/internal/link.hpp>

#include <mpi.h>

#include <span>
#include <string>

namespace concord::mpi {

// A place for messages of fixed size between two ranks that connect.
class Correspondence {
  public:
    virtual ~Correspondence() = default;
    // Sends `mine` to a rank and receives as many bytes from it, for all ranks at a time.
    struct Letter {
        u32 rank;
        std::span<const std::byte> mine;
        std::span<std::byte> theirs;
    };
    virtual void exchange(std::span<const Letter> letters) = 0;
};

// Implements Communicator::do_connect(). Collective between the ranks of the offers.
std::vector<std::shared_ptr<detail::Link>> connect_by_ipc(Correspondence& letters, Stream& stream,
                                                          std::span<const detail::LinkOffer> offers);

}  // namespace concord::mpi
