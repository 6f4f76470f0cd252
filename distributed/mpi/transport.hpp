#pragma once
// Transports of messages between CUDA devices, and the choice among them.

#include <concord/communicator.hpp>

#include <array>
#include <span>
#include <string>
#include <vector>

namespace concord::mpi {

// What CONCORD_MPI_TRANSPORT asks for.
enum class TransportChoice : u8 { automatic, nccl, ipc, mpi };
// Throws invalid_argument for other values.
TransportChoice chosen_transport();
std::string_view name_of(TransportChoice choice);

// Messages between CUDA devices that need no host.
class Transport {
  public:
    virtual ~Transport() = default;
    Transport(const Transport&) = delete;
    Transport& operator=(const Transport&) = delete;

    // For Communicator::path_to().
    virtual const char* name() const = 0;
    // Enqueues messages on their streams. They have a stream and at least one byte, and both ends agree on the number
    // of bytes. Does not wait for devices.
    virtual void enqueue(std::span<const Message> sends, std::span<const Message> receives) = 0;

  protected:
    Transport() = default;
};

// A rank's device and its transports. Every rank sends this struct to all others, byte by byte.
struct Endpoint {
    std::array<char, 128> host = {};     // name and boot
    std::array<char, 16> device = {};    // UUID of the CUDA device
    std::array<char, 48> selector = {};  // "cuda:0"
    std::array<char, 160> no_nccl = {};  // why the rank has no NCCL; empty: it has
    std::array<char, 160> no_ipc = {};   // why the rank has no CUDA IPC; empty: it has
    u32 is_cuda = 0;
    u32 nccl_version = 0;
};

// Copies a text, as much as there is space for.
template <std::size_t N>
void set_text(std::array<char, N>& to, std::string_view text) {
    to.fill(0);
    text.copy(to.data(), N - 1);
}

// The ranks of the NCCL communicator: CUDA ranks with one version of NCCL, each on a device of its own. Empty if there
// are fewer than two, or if two of them share a device, which NCCL does not support.
std::vector<u32> nccl_ranks(std::span<const Endpoint> ranks);
// Whether messages of two ranks may go through CUDA IPC. Processes that share a device run in turns, so they use it
// only if asked to.
bool may_use_ipc(const Endpoint& a, const Endpoint& b, TransportChoice choice);
// Why not all ranks can use the transport that is asked for, with the rank; empty if they can.
std::string why_not(TransportChoice choice, std::span<const Endpoint> ranks);

}  // namespace concord::mpi
