#pragma once
// A device that only compiles: shows on a machine without a GPU that kernels become machine code.

#include <concord/device.hpp>

#include <atomic>

#include "cuda_compiler.hpp"
#include "cuda_launch.hpp"

namespace concord::cuda {

/// Plans like a typical GPU of its architecture. Compiling is real; launches are checked like real ones and
/// then dropped, copies too (a read gives zeros), events are reached at once, callbacks run at once.
class OfflineDevice final : public Device {
  public:
    /// "sm_90". Throws unsupported for a target that NVRTC does not know.
    static std::shared_ptr<OfflineDevice> open(std::string_view target);

    explicit OfflineDevice(u32 architecture);
    ~OfflineDevice() override { release_pool(); }

    std::vector<Property> properties() const override;

  protected:
    std::shared_ptr<Stream> do_create_stream(Priority priority) override;
    std::shared_ptr<Event> do_create_event() override;
    std::unique_ptr<Buffer> do_allocate(u64 bytes) override;
    std::unique_ptr<Buffer> do_allocate_host(u64 bytes) override;
    std::shared_ptr<Kernel> do_compile(const KernelSpec& spec) override;

  private:
    Compiler compiler_;
    std::atomic<u64> allocated_ = 0;
};

}  // namespace concord::cuda
