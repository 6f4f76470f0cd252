#pragma once
// CUDA IPC: memory of other processes on this host, and signals in it. Uses the CUDA driver that the CUDA backend has
// loaded; nothing of CUDA is linked.

#include <concord/device.hpp>

#include <array>
#include <memory>
#include <span>
#include <string>

namespace concord::mpi {

// Messages of fixed size between hosts.
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

// Name and boot of this host.
std::array<char, 128> host_of_process();

using DeviceId = std::array<char, 16>;   // CUuuid
using IpcHandle = std::array<char, 64>;  // CUipcMemHandle

// The context of a CUDA stream.
class IpcContext {
  public:
    // Without a context if the driver is not loaded or lacks functions of IPC.
    explicit IpcContext(Stream& stream);

    bool is_there() const { return context_ != nullptr; }
    // Identifies the device. Returns whether that succeeds.
    bool identify(DeviceId& id) const;
    // Describes memory of Device::allocate() to other processes. Returns whether that succeeds.
    bool share(Buffer& buffer, IpcHandle& handle) const;
    // Maps memory of another process. Null if that fails. The last pointer unmaps it, after the work that uses it.
    std::shared_ptr<Buffer> map(Device& device, const IpcHandle& handle, u64 bytes) const;

    // Enqueues a write of a counter, after the earlier work of the stream.
    void signal(Stream& stream, Buffer& memory, u64 offset, u32 value) const;
    // Makes later work of the stream wait until a counter of this rank has a value. The comparison wraps around.
    void wait(Stream& stream, Buffer& memory, u64 offset, u32 value) const;
    // Tries signals on a counter that is 0: writes 0, and waits for it if the memory is this rank's. Blocks until that
    // is done. Returns whether the driver supports them.
    bool can_signal(Stream& stream, Buffer& memory, u64 offset, bool is_own) const;

  private:
    void* context_ = nullptr;
};

// A CUDA context that is current during the scope.
class InContext {
  public:
    explicit InContext(void* context);
    ~InContext();
    InContext(const InContext&) = delete;
    InContext& operator=(const InContext&) = delete;

  private:
    bool pushed_;
};

// The context of a CUDA stream, null if the driver does not tell.
void* context_of(Stream& stream);

}  // namespace concord::mpi
