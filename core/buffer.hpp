#pragma once
/// Bytes on one device.

#include <concord/types.hpp>

#include <memory>

namespace concord {

class Buffer;
class Device;
namespace backend {
class Memory;
Memory& memory_of(const Buffer& buffer) noexcept;
}  // namespace backend
namespace detail {
struct Access;
struct BufferState;
}  // namespace detail

/// Owned memory of one device, created by Device::allocate. The memory returns to the device's pool when the last
/// shared_ptr goes; that is safe while work that uses it is still queued. Base addresses are aligned to at least 256 bytes
/// on GPUs and 64 on CPUs. Contents are undefined until written.
class Buffer final {
  public:
    /// Device memory, or page-locked host memory (Device::allocate_host), which takes part in copies only.
    enum class Kind { device, host };

    ~Buffer();
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;

    Device& device() const noexcept { return device_; }
    Kind kind() const noexcept { return kind_; }
    /// The requested size in bytes.
    u64 size() const noexcept { return size_; }
    /// The allocated size in bytes (the pool rounds up).
    u64 capacity() const noexcept { return capacity_; }
    /// The address at which the host sees the memory; null if the host does not see it. Synchronize the stream before you
    /// access it.
    void* host_pointer() noexcept;
    /// The memory as the backend's own API knows it, for use with other libraries: CUDA's device pointer, OpenCL's cl_mem,
    /// else host_pointer(). The buffer keeps the ownership.
    void* native_handle() noexcept;

  private:
    friend struct detail::Access;
    friend backend::Memory& backend::memory_of(const Buffer& buffer) noexcept;
    Buffer(Device& device, Kind kind, u64 bytes, std::unique_ptr<backend::Memory> memory);

    Device& device_;
    Kind kind_;
    u64 size_;
    u64 capacity_;
    std::unique_ptr<backend::Memory> memory_;
    std::unique_ptr<detail::BufferState> state_;
};

}  // namespace concord
