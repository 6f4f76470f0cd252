#pragma once
// Messages between CUDA devices of several processes and hosts through NCCL, which is opened at run time.

#include "transport.hpp"

namespace concord::mpi {

// The version of NCCL, for example 22304 for 2.23.4, if it works on the stream's device: opens the library and makes a
// communicator of one rank. A rank that failed later would leave the others waiting in NCCL. 0 if it does not, and why.
u32 nccl_version(Stream& stream, std::string& why);

// Collective over all ranks. Makes the NCCL communicator of the members, which are in ascending order. Returns the
// transport on the members if all of them succeed. Otherwise returns null on all ranks, and `why` with the rank.
std::shared_ptr<Transport> start_nccl(Communicator& ranks, Stream& stream, std::span<const u32> members,
                                      std::string& why);

// Collective. Returns the first text of the ranks that is not empty, after the rank: "rank 1: text".
std::string first_problem(Communicator& ranks, std::string_view mine);

}  // namespace concord::mpi
