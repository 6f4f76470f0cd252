#pragma once
// A device that only compiles, to test on machines without a GPU that kernels compile to machine code.

#include <concord/backend.hpp>

#include <atomic>

#include "cuda_compiler.hpp"
#include "cuda_launch.hpp"

namespace concord::cuda {

// Has the traits of a typical GPU of its architecture. Kernels are compiled. Launches are checked and not executed,
// writes, fills and copies are not executed. What needs a result throws unavailable: reads, and waits and callbacks
// after a launch.
class OfflineDevice final : public backend::Device {
  public:
    // `target` is "sm_90". Throws unsupported for a target that NVRTC does not support.
    static std::unique_ptr<OfflineDevice> open(std::string_view target);

    explicit OfflineDevice(u32 architecture);

    const DeviceInfo& info() const noexcept override { return info_; }
    const DeviceTraits& traits() const noexcept override { return traits_; }
    std::vector<DeviceProperty> properties() const override;
    std::unique_ptr<backend::Memory> allocate(u64 bytes) override;
    std::unique_ptr<backend::Memory> allocate_host(u64 bytes) override;
    std::unique_ptr<backend::Kernel> compile(const KernelSpec& spec) override;
    std::unique_ptr<backend::Event> create_event() override;
    std::unique_ptr<backend::Queue> create_queue(concord::Device& device, Priority priority) override;

  private:
    DeviceInfo info_;
    DeviceTraits traits_;
    Compiler compiler_;
    std::atomic<u64> allocated_ = 0;
};

}  // namespace concord::cuda
