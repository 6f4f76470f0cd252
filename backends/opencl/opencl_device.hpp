#pragma once
// One OpenCL device in a context of its own.

#include "opencl_buffer.hpp"
#include "opencl_traits.hpp"

#include <concord/device.hpp>

namespace concord::opencl {

class OpenClDevice final : public Device {
  public:
    OpenClDevice(cl_device_id id, DeviceInfo info);
    ~OpenClDevice() override { release_pool(); }
    std::vector<Property> properties() const override;

    cl_device_id id() const noexcept { return id_; }
    cl_context context() const noexcept { return context_.get(); }
    const Language& language() const noexcept { return language_; }
    const PinnedRanges& pinned() const noexcept { return pinned_; }

    QueueHandle create_queue() const;
    /// A command that ends when all before it in the queue have, and whose end has a time.
    EventHandle enqueue_mark(cl_command_queue queue) const;

  protected:
    std::shared_ptr<Stream> do_create_stream(Priority priority) override;
    std::shared_ptr<Event> do_create_event() override;
    std::unique_ptr<Buffer> do_allocate(u64 bytes) override;
    std::unique_ptr<Buffer> do_allocate_host(u64 bytes) override;
    std::shared_ptr<Kernel> do_compile(const KernelSpec& spec) override;

  private:
    /// Finds out by a small experiment what the standard leaves open.
    void observe();

    cl_device_id id_;
    ContextHandle context_;
    QueueHandle queue_;  // for allocation; work goes through streams
    Language language_;
    PinnedRanges pinned_;
    MemoryHandle mark_target_;  // four bytes to fill where markers have no time; else null
};

}  // namespace concord::opencl
