#pragma once
// One OpenCL device with a context.

#include "opencl_buffer.hpp"
#include "opencl_traits.hpp"

#include <concord/backend.hpp>

#include <mutex>

namespace concord::opencl {

class OpenClKernel;

class OpenClDevice final : public backend::Device {
  public:
    // With a new context.
    OpenClDevice(cl_device_id id, DeviceInfo info);
    // With a context of another owner.
    OpenClDevice(cl_device_id id, DeviceInfo info, ContextHandle context);
    const DeviceInfo& info() const noexcept override { return info_; }
    const DeviceTraits& traits() const noexcept override { return traits_; }
    std::vector<DeviceProperty> properties() const override;
    std::unique_ptr<backend::Memory> allocate(u64 bytes) override;
    std::unique_ptr<backend::Memory> allocate_host(u64 bytes) override;
    std::unique_ptr<backend::Memory> adopt(const ForeignMemory& memory) override;
    std::unique_ptr<backend::Memory> adopt_host(const ForeignMemory& memory) override;
    std::unique_ptr<backend::Queue> adopt_queue(concord::Device& device, void* handle) override;
    std::unique_ptr<backend::Event> adopt_event(void* handle) override;
    void* native_handle() noexcept override { return context_.get(); }
    std::unique_ptr<backend::Kernel> compile(const KernelSpec& spec) override;
    std::unique_ptr<backend::Event> create_event() override;
    std::unique_ptr<backend::Queue> create_queue(concord::Device& device, Priority priority) override;

    cl_device_id id() const noexcept { return id_; }
    cl_context context() const noexcept { return context_.get(); }
    const CompilerSetup& compiler_setup() const noexcept { return compiler_setup_; }
    const PinnedRanges& pinned() const noexcept { return pinned_; }
    // Whether the driver starts commands without a flush, which the standard does not promise.
    bool starts_unflushed() const noexcept { return starts_unflushed_; }

    QueueHandle create_command_queue() const;
    // The kernel of large fills.
    const OpenClKernel& fill_kernel();
    // Enqueues a command that ends after all earlier commands of the queue and whose end time is reported.
    EventHandle enqueue_mark(cl_command_queue queue) const;

  private:
    // Tests properties of the driver that the standard leaves open.
    void observe();
    void observe_start();

    DeviceInfo info_;
    cl_device_id id_;
    ContextHandle context_;
    QueueHandle queue_;  // for allocations; streams have their own
    DeviceTraits traits_;
    CompilerSetup compiler_setup_;
    PinnedRanges pinned_;
    bool starts_unflushed_ = false;
    MemoryHandle mark_target_;  // four bytes to fill if markers have no times; otherwise null
    std::mutex fill_mutex_;
    std::unique_ptr<backend::Kernel> fill_kernel_;  // null until the first large fill
};

// A device on a context of another owner, see Backend::adopt.
AdoptedDevice adopt_context(const ForeignDevice& device, const std::string& selector,
                            std::span<backend::Device* const> open);

}  // namespace concord::opencl
