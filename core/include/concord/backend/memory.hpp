#pragma once
/// @file
/// The backend's part of a Buffer.

#include <concord/buffer.hpp>

#include <cstddef>
#include <cstdint>

namespace concord::backend {}  // namespace concord::backend

namespace concord::detail {
// An adopted address as a base, rounded down to a multiple of the alignment of the backend's own memory, and the offset
// from it.
struct AdoptedAddress {
    explicit AdoptedAddress(void* pointer, u64 alignment = 256)
        : begin(reinterpret_cast<std::uintptr_t>(pointer) % alignment),
          base(static_cast<std::byte*>(pointer) - begin) {}

    u64 begin;
    std::byte* base;
};
}  // namespace concord::detail

namespace concord::backend {

/// A block of memory of one device, allocated by Device::allocate or allocate_host and freed by the destructor. Core
/// keeps freed blocks in a pool and checks ranges.
class Memory {
  public:
    Memory() = default;
    virtual ~Memory() = default;
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;

    /// The host address of the memory, null if the host cannot access it.
    virtual void* host_pointer() noexcept = 0;
    /// Offset in bytes of the first byte that belongs to the buffer. Not 0 only for adopted memory, whose base is
    /// rounded down so that offsets preserve the alignment. Default: 0.
    virtual u64 begin() const noexcept { return 0; }
    /// The handle of the backend's own API. Default: host_pointer().
    virtual void* native_handle() noexcept { return host_pointer(); }
    /// The address that kernels use, if the backend's API has addresses: two blocks share memory where their ranges
    /// overlap. Null: equal native handles mean the same memory. Default: host_pointer().
    virtual void* device_address() noexcept { return host_pointer(); }
};

/// The memory behind a buffer, for KernelArgument::buffer.
inline Memory& memory_of(const Buffer& buffer) noexcept {
    return *buffer.memory_;
}

}  // namespace concord::backend
