#pragma once
/// @file
/// The backend's part of a Device.

#include <concord/backend/event.hpp>
#include <concord/backend/kernel.hpp>
#include <concord/backend/memory.hpp>
#include <concord/backend/queue.hpp>
#include <concord/device.hpp>

#include <memory>
#include <string>
#include <vector>

namespace concord::backend {

/// One device, opened by Backend::open. Any thread may call it. Core pools the memory and caches the kernels.
///
/// The device outlives all objects that it creates, except kernels that a program holds longer than the device.
class Device {
  public:
    Device() = default;
    virtual ~Device() = default;
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;

    /// Name, driver and selector. Does not change.
    virtual const DeviceInfo& info() const noexcept = 0;
    /// What algorithms plan with. Does not change.
    virtual const DeviceTraits& traits() const noexcept = 0;
    /// Everything that the driver reports about the device, under the driver's names.
    virtual std::vector<DeviceProperty> properties() const = 0;

    /// Allocates device memory of `bytes` bytes, more than zero. Throws out_of_memory.
    virtual std::unique_ptr<Memory> allocate(u64 bytes) = 0;
    /// Allocates page-locked host memory, whose host_pointer() is not null. Throws out_of_memory.
    virtual std::unique_ptr<Memory> allocate_host(u64 bytes) = 0;
    /// Memory of another owner at a native handle, see concord::Device::adopt. Core has checked handle and size, and
    /// keeps `release`. Throws invalid_argument, wrong_device, and unsupported, the default.
    virtual std::unique_ptr<Memory> adopt(const ForeignMemory& memory);
    /// Host memory of another owner, see concord::Device::adopt_host. Throws like adopt(). Default: throws unsupported.
    virtual std::unique_ptr<Memory> adopt_host(const ForeignMemory& memory);
    /// A queue on a queue of another owner, see concord::Device::adopt_stream. Throws like adopt(). Default: throws
    /// unsupported.
    virtual std::unique_ptr<Queue> adopt_queue(concord::Device& device, void* handle);
    /// An event of another owner, which counts as recorded, see concord::Device::adopt_event. Throws like adopt().
    /// Default: throws unsupported.
    virtual std::unique_ptr<Event> adopt_event(void* handle);
    /// The handle of the backend's own API: a context. Default: null.
    virtual void* native_handle() noexcept { return nullptr; }
    /// Compiles or loads a kernel that has a source in the device's language. Throws compile_failed with the compiler's
    /// log.
    virtual std::unique_ptr<Kernel> compile(const KernelSpec& spec) = 0;
    /// Creates an event without a mark.
    virtual std::unique_ptr<Event> create_event() = 0;
    /// Creates a queue. `device` is the user's object of this device; a queue may take page-locked memory from its
    /// pool.
    virtual std::unique_ptr<Queue> create_queue(concord::Device& device, Priority priority) = 0;

    /// Whether queues of this device can copy from and to memory of `other`, a device of the same backend; enables such
    /// access if needed. Otherwise writes the reason to `why`. Default: false.
    virtual bool reach(const Device& other, std::string& why);
};

}  // namespace concord::backend
