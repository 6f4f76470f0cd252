#pragma once
/// @file
/// Memory of one device.

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

/// Memory of one device, created by Device::allocate, or adopted from another owner by Device::adopt.
///
/// The memory returns to the device's pool when the last shared_ptr is destroyed. This is safe while queued work still
/// uses it. Base addresses are aligned to at least 256 bytes on GPUs and 64 bytes on CPUs. Contents are undefined until
/// written.
class Buffer final {
  public:
    /// Where the memory is.
    enum class Kind {
        device,  ///< device memory (Device::allocate)
        host     ///< page-locked host memory (Device::allocate_host), for copies only
    };

    ~Buffer();
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;

    /// The device that owns the memory.
    Device& device() const noexcept { return device_; }
    /// Where the memory is.
    Kind kind() const noexcept { return kind_; }
    /// The end of the memory in bytes from its base: the requested size, for adopted memory begin() + its size.
    u64 size() const noexcept { return size_; }
    /// Offset of the first byte. Not 0 only for adopted memory: its base is rounded down to a multiple of 256 bytes.
    u64 begin() const noexcept;
    /// Whether calls may only read the memory. Only adopted memory is read-only.
    bool read_only() const noexcept { return read_only_; }
    /// The allocated size in bytes (the pool rounds up).
    u64 capacity() const noexcept { return capacity_; }
    /// The host address of the base, null if the host cannot access it. Synchronize the stream before you access it.
    void* host_pointer() noexcept;
    /// The handle of the backend's own API, for use with other libraries: the device pointer of CUDA, the cl_mem of
    /// OpenCL, otherwise host_pointer(). The buffer keeps the ownership.
    void* native_handle() noexcept;

  private:
    friend struct detail::Access;
    friend backend::Memory& backend::memory_of(const Buffer& buffer) noexcept;
    Buffer(Device& device, Kind kind, u64 bytes, std::unique_ptr<backend::Memory> memory);

    Device& device_;
    Kind kind_;
    u64 size_;
    u64 capacity_;
    bool read_only_ = false;
    std::unique_ptr<backend::Memory> memory_;
    std::unique_ptr<detail::BufferState> state_;
};

}  // namespace concord
