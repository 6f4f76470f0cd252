#pragma once
// Communicator of ranks that are processes under MPI.

#include "transport.hpp"

#include <concord/communicator.hpp>

#include <mpi.h>

#include <map>
#include <string>

namespace concord::mpi {

// Throws device_failed with the name of the MPI function if it failed. `call` is the call of Concord that needed it.
void check(const char* function, int result, const char* call);

// Called when all ranks end on their own: none waits for another.
void end_together();

// Whether the buffers of the stream's device are CUDA memory.
bool is_cuda_memory(const Stream& stream);

// Whether MPI accepts pointers to CUDA device memory: CONCORD_MPI_CUDA if set, else the answer of the library.
bool takes_cuda_memory();

// Makes the CUDA context of a stream current on this thread, so that MPI can use its device pointers. No effect for
// other memory.
class CurrentContext {
  public:
    explicit CurrentContext(Stream& stream);
    ~CurrentContext();
    CurrentContext(const CurrentContext&) = delete;
    CurrentContext& operator=(const CurrentContext&) = delete;

  private:
    bool pushed_ = false;
};

class MpiCommunicator final : public Communicator {
  public:
    // Duplicates the communicator.
    MpiCommunicator(MPI_Comm comm, u32 rank, u32 size);
    ~MpiCommunicator() override;

    void fail(std::string_view why) noexcept override;
    bool all_fail(double seconds) noexcept override;

  protected:
    bool do_prepare(Stream& stream, u64 bytes) override;
    void do_exchange(Stream& stream, std::span<const Message> sends,
                     std::span<const Message> receives) override;
    std::vector<std::vector<std::byte>> do_all_gather(std::span<const std::byte> mine) override;
    std::string do_path_to(u32 rank) const override;
    std::vector<std::shared_ptr<detail::Link>> do_connect(Stream& stream,
                                                          std::span<const detail::LinkOffer> offers) override;

  private:
    class Exchange;
    class Letters;

    // Starts NCCL among the ranks that have it, and CUDA IPC between those that have no NCCL. Collective.
    void start_nccl(Stream& stream, std::span<const Endpoint> ends);
    void start_ipc(Stream& stream, std::span<const Endpoint> ends);
    [[noreturn]] void refuse_transport(const std::string& why) const;
    // The transport of messages to a rank; null for MPI.
    Transport* transport_to(u32 rank) const { return transports_.empty() ? nullptr : transports_[rank]; }
    // Compares the lengths of messages that do not go through MPI with those at the other ends.
    void compare_lengths(std::span<const Message> sends, std::span<const Message> receives);
    [[noreturn]] void refuse_length(u32 from, const std::string& sent, u64 expected) const;

    // The tag of the next message to or from a rank.
    int next_tag(std::vector<u64>& count, u32 rank) const;

    MPI_Comm comm_ = MPI_COMM_NULL;
    MPI_Comm failures_ = MPI_COMM_NULL;  // used by all_fail() only
    u64 piece_;                          // maximum bytes per MPI message
    int tags_;                           // largest tag
    // Number of messages to and from each rank so far; the message number selects the tag.
    std::vector<u64> sent_, received_;
    std::vector<bool> linked_;  // ranks that had a link
    TransportChoice choice_;
    u64 announced_ = 0;               // bytes of prepare()
    const Device* device_ = nullptr;  // that of prepare(), if there are transports
    std::shared_ptr<Transport> nccl_, ipc_;
    std::vector<Transport*> transports_;  // by rank, null for MPI; empty before prepare()
    bool direct_ = false;                 // the last device message was passed to MPI without staging
    std::vector<std::shared_ptr<Buffer>> abandoned_;  // staging buffers of sends that were never received
};

}  // namespace concord::mpi
