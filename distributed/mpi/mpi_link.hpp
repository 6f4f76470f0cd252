#pragma once
// Links between processes of one host through CUDA IPC.

#include "ipc.hpp"

#include <concord/internal/link.hpp>

#include <span>

namespace concord::mpi {

// Implements Communicator::do_connect(). Collective between the ranks of the offers.
std::vector<std::shared_ptr<detail::Link>> connect_by_ipc(Correspondence& letters, Stream& stream,
                                                          std::span<const detail::LinkOffer> offers);

}  // namespace concord::mpi
