#pragma once
// Messages between processes of one host through CUDA IPC, for ranks without NCCL.

#include "ipc.hpp"
#include "transport.hpp"

namespace concord::mpi {

// Why the stream's device has no CUDA IPC; empty if it has. Blocks until the stream is empty.
std::string ipc_problem(Stream& stream);

// Mailboxes of this rank: one for each other rank and direction, in the memory of the receiver.
class IpcMessages final : public Transport {
  public:
    explicit IpcMessages(Stream& stream);
    ~IpcMessages() override;

    // Collective between this rank and each of the others. Makes the mailboxes. Afterwards the object reaches those
    // with whom mapping succeeded on both ends.
    void connect(Correspondence& letters, Stream& stream, std::span<const u32> others);
    bool reaches(u32 rank) const { return find(rank) != nullptr; }

    const char* name() const override { return "CUDA IPC"; }
    void enqueue(std::span<const Message> sends, std::span<const Message> receives) override;

  private:
    struct Peer;
    struct Pipe;

    Peer* find(u32 rank) const;

    IpcContext context_;
    std::vector<std::unique_ptr<Peer>> peers_;
};

}  // namespace concord::mpi
