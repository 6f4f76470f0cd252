#pragma once
// Three kinds of memory: device memory, host memory that a CPU device accesses in place, and page-locked host memory.

#include "opencl_api.hpp"

#include <concord/backend/device.hpp>
#include <concord/internal/host_block.hpp>

#include <map>
#include <shared_mutex>

namespace concord::opencl {

// The address ranges of a device's page-locked memory.
class PinnedRanges {
  public:
    void add(const void* base, u64 bytes);
    void remove(const void* base) noexcept;
    bool contains(const void* from, u64 bytes) const;

  private:
    mutable std::shared_mutex mutex_;
    std::map<std::uintptr_t, u64> bytes_by_base_;
};

// The base class of all memory of this backend.
class OpenClMemory : public backend::Memory {
  public:
    virtual cl_mem memory() const noexcept = 0;
    void* native_handle() noexcept override { return memory(); }
};

// Device memory that the host cannot access.
class DeviceMemory final : public OpenClMemory {
  public:
    // Uses `queue` to make the driver allocate now. Throws out_of_memory.
    DeviceMemory(const backend::Device& device, cl_context context, cl_command_queue queue, u64 bytes);
    cl_mem memory() const noexcept override { return memory_.get(); }
    void* host_pointer() noexcept override { return nullptr; }

  private:
    MemoryHandle memory_;
};

// Host memory that a CPU device accesses in place.
class SharedMemory final : public OpenClMemory {
  public:
    // Throws out_of_memory.
    SharedMemory(const backend::Device& device, cl_context context, u64 bytes);
    ~SharedMemory() override;
    cl_mem memory() const noexcept override { return memory_.get(); }
    void* host_pointer() noexcept override { return block_->base(); }

  private:
    std::unique_ptr<detail::HostBlock> block_;
    MemoryHandle memory_;  // destroyed before block_
};

// A buffer of another owner.
class AdoptedBuffer final : public OpenClMemory {
  public:
    // Retains the buffer. Throws invalid_argument unless it is one of the context with at least `bytes` bytes.
    AdoptedBuffer(cl_context context, cl_mem memory, u64 bytes);
    cl_mem memory() const noexcept override { return memory_.get(); }
    void* host_pointer() noexcept override { return nullptr; }

  private:
    MemoryHandle memory_;
};

// Host memory of another owner that the device accesses in place: any memory on CPUs, shared virtual memory elsewhere.
class AdoptedHostMemory final : public OpenClMemory {
  public:
    // Throws unsupported if the device does not share host memory and this is not shared virtual memory.
    AdoptedHostMemory(const backend::Device& device, cl_context context, void* pointer, u64 bytes);
    cl_mem memory() const noexcept override { return memory_.get(); }
    // Other devices than CPUs may need a map before the host accesses the memory.
    void* host_pointer() noexcept override { return on_cpu_ ? address_.base : nullptr; }
    u64 begin() const noexcept override { return address_.begin; }

  private:
    bool on_cpu_;
    detail::AdoptedAddress address_;
    MemoryHandle memory_;
};

// Page-locked host memory of the driver, mapped during its lifetime.
class PinnedMemory final : public OpenClMemory {
  public:
    // Uses `queue` for mapping. Throws out_of_memory.
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

// A new reference to a queue of another owner. Throws invalid_argument or wrong_device unless it is an in-order queue
// of the context and the device.
QueueHandle retained_queue(cl_context context, cl_device_id device, cl_command_queue queue);

}  // namespace concord::opencl
