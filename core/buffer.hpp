#pragma once
/// Bytes on one device.

#include <concord/types.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

namespace concord {

class Device;
class Stream;
class BufferPool;

/// Owned memory of one device, handed out by Device::allocate and given back to the device's pool when the
/// last shared_ptr goes, which is safe while work that uses it is still queued. Bases are aligned to 256
/// bytes at least on GPUs and 64 on CPUs. Contents are undefined until written.
class Buffer {
  public:
    /// Device memory, or page-locked host memory (Device::allocate_host), which takes part in copies only.
    enum class Kind { device, host };

    virtual ~Buffer() = default;
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;

    Device& device() const noexcept { return device_; }
    Kind kind() const noexcept { return kind_; }
    /// Bytes asked for.
    u64 size() const noexcept { return size_; }
    /// Bytes held (the pool rounds up).
    u64 capacity() const noexcept { return capacity_; }
    /// The memory as the host sees it, or null where the host cannot. Synchronize the stream before touching
    /// it.
    virtual void* host_pointer() noexcept = 0;
    /// The memory as the backend's own API knows it, for use beside other libraries: CUDA's device pointer, OpenCL's
    /// cl_mem, else host_pointer(). The buffer keeps the ownership.
    virtual void* native_handle() noexcept { return host_pointer(); }

  protected:
    Buffer(Device& device, Kind kind, u64 capacity)
        : device_(device), kind_(kind), size_(capacity), capacity_(capacity) {}

  private:
    friend class BufferPool;
    friend class Stream;
    friend class Recording;

    /// The last thing that a stream was asked to do with this buffer.
    struct Use {
        std::weak_ptr<Stream> stream;
        std::shared_ptr<const std::atomic<bool>> ended;  // a stream is gone before its last work is done
        const Stream* id;
        u64 ticket;
    };
    void note_use(Stream& stream, u64 ticket);

    Device& device_;
    Kind kind_;
    u64 size_;
    u64 capacity_;
    std::weak_ptr<Buffer> self_;  // while it is handed out
    std::mutex uses_mutex_;
    std::vector<Use> uses_;
};

}  // namespace concord
