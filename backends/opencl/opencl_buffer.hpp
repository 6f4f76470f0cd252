#pragma once
// Three kinds of memory: a device's own, host memory that a CPU device works in, page-locked host memory.

#include "opencl_api.hpp"

#include <concord/backend/device.hpp>

#include <map>
#include <shared_mutex>

namespace concord::opencl {

/// The address ranges of a device's page-locked memory, to know such memory again by its address.
class PinnedRanges {
  public:
    void add(const void* base, u64 bytes);
    void remove(const void* base) noexcept;
    bool contains(const void* from, u64 bytes) const;

  private:
    mutable std::shared_mutex mutex_;
    std::map<std::uintptr_t, u64> bytes_by_base_;
};

/// What all memory of this backend has.
class OpenClMemory : public backend::Memory {
  public:
    virtual cl_mem memory() const noexcept = 0;
    void* native_handle() noexcept override { return memory(); }
};

/// Memory of the device, which the host does not see.
class DeviceMemory final : public OpenClMemory {
  public:
    /// Uses `queue` to make the driver allocate now. Throws out_of_memory.
    DeviceMemory(const backend::Device& device, cl_context context, cl_command_queue queue, u64 bytes);
    cl_mem memory() const noexcept override { return memory_.get(); }
    void* host_pointer() noexcept override { return nullptr; }

  private:
    MemoryHandle memory_;
};

/// Aligned memory of the process; base() is null if there was none.
class HostBlock {
  public:
    explicit HostBlock(u64 bytes);
    ~HostBlock();
    HostBlock(const HostBlock&) = delete;
    HostBlock& operator=(const HostBlock&) = delete;
    std::byte* base() const noexcept { return base_; }

  private:
    void* mapping_ = nullptr;
    u64 mapped_ = 0;
    std::byte* base_ = nullptr;
};

/// Memory of the process that a CPU device uses where it is.
class SharedMemory final : public OpenClMemory {
  public:
    /// Throws out_of_memory.
    SharedMemory(const backend::Device& device, cl_context context, u64 bytes);
    cl_mem memory() const noexcept override { return memory_.get(); }
    void* host_pointer() noexcept override { return block_.base(); }

  private:
    HostBlock block_;
    MemoryHandle memory_;  // goes before its block
};

/// Page-locked host memory: the driver's, mapped for as long as it lives.
class PinnedMemory final : public OpenClMemory {
  public:
    /// Uses `queue` for mapping. Throws out_of_memory.
    PinnedMemory(const backend::Device& device, PinnedRanges& ranges, cl_context context,
                 cl_command_queue queue, u64 bytes);
    ~PinnedMemory() override;
    cl_mem memory() const noexcept override { return memory_.get(); }
    void* host_pointer() noexcept override { return base_; }

  private:
    PinnedRanges& ranges_;
    cl_command_queue queue_;
    MemoryHandle memory_;
    void* base_ = nullptr;
};

}  // namespace concord::opencl
