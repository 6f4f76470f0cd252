#pragma once
// Messages between processes, by MPI.

#include <concord/communicator.hpp>

#include <mpi.h>

#include <map>
#include <string>

namespace concord::mpi {

/// Throws device_failed unless the result is a success.
void check(int result, const char* call);

/// All ranks end now, each of its own accord: none waits for another.
void end_together();

/// Whether MPI takes pointers to memory of CUDA devices: asked of the library, unless CONCORD_MPI_CUDA says so.
bool takes_cuda_memory();

/// Makes the context of a stream current on this thread, for MPI to work with pointers of its device; for other than CUDA's
/// streams it does nothing.
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
    /// Duplicates the communicator.
    MpiCommunicator(MPI_Comm comm, u32 rank, u32 size);
    ~MpiCommunicator() override;

    void fail(std::string_view why) noexcept override;
    bool all_fail(double seconds) noexcept override;
    std::string path_to(u32 rank) const override;

  protected:
    void do_exchange(Stream& stream, std::span<const Message> sends,
                     std::span<const Message> receives) override;
    std::vector<std::vector<std::byte>> do_all_gather(std::span<const std::byte> mine) override;

  private:
    class Exchange;

    MPI_Comm comm_ = MPI_COMM_NULL;
    MPI_Comm failures_ = MPI_COMM_NULL;  // nothing else is said there
    u64 piece_;                          // most bytes of one message of MPI's
    int tags_;                           // how many may be in use at once
    std::vector<u64> sent_,
        received_;         // messages to and from each rank so far: what comes when has its own tag
    bool direct_ = false;  // the last device's memory was given to MPI
    std::vector<std::shared_ptr<Buffer>> abandoned_;  // copies, of sends that nobody took
};

}  // namespace concord::mpi
