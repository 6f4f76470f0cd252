#pragma once
// A CUstream behind the backend interface.

#include <atomic>

#include "cuda_event.hpp"
#include "cuda_kernel.hpp"
#include "cuda_recording.hpp"
#include "cuda_staging.hpp"

namespace concord::cuda {

class CudaQueue final : public backend::Queue {
  public:
    CudaQueue(CudaDevice& device, concord::Device& pool, Priority priority);
    // On a stream of another owner.
    CudaQueue(CudaDevice& device, concord::Device& pool, CUstream stream);
    ~CudaQueue() override;
    void* native_handle() noexcept override {
        after_kernel_ = false;
        return stream_;
    }

    void write(backend::Memory& to, u64 offset, const void* from, u64 bytes) override;
    void read(void* to, const backend::Memory& from, u64 offset, u64 bytes) override;
    void copy(backend::Memory& to, u64 to_offset, const backend::Memory& from, u64 from_offset,
              u64 bytes) override;
    void fill(backend::Memory& to, u64 offset, u64 bytes, const void* pattern, u32 pattern_size) override;
    void launch(const backend::Kernel& kernel, const LaunchShape& shape,
                std::span<const KernelArgument> arguments) override;
    void record(backend::Event& event) override;
    void wait(const backend::Event& event) override;
    void callback(std::function<void()> f) override;
    void synchronize() override;
    bool idle() override;
    bool captured() override;
    bool begin_capture() override;
    std::shared_ptr<void> end_capture() override;
    void replay(void* captured) override;

  private:
    // Throws unsupported if the owner captures the stream. `what` says what the call does.
    void check_not_captured(const char* call, const char* what);
    // The same for a copy of pageable memory.
    void check_host(const char* call, const void* host, u64 bytes);
    // Whether a copy of `bytes` from or to `host` goes through page-locked chunks.
    bool staged(const void* host, u64 bytes);
    void launch(const CudaKernel& kernel, const LaunchShape& shape, void** arguments);
    // Fills with a pattern of eight bytes whose halves differ, for which the driver has no function.
    void fill_8(CUdeviceptr to, u64 count, u64 value);

    CudaDevice& device_;
    concord::Device& pool_;  // source of page-locked memory
    std::shared_ptr<Context> context_;
    const Driver& driver_;
    CUstream stream_ = nullptr;
    bool is_adopted_ = false;
    // Whether the owner may capture the stream: it is adopted, or has waited for an event of a capture.
    std::atomic<bool> may_be_captured_ = false;
    // Whether the last operation is a kernel, so that the next kernel may be launched before it ends. An owner of the
    // stream may have enqueued other work since, so that this is used on Concord's own streams only, and not directly
    // after native_handle(). Kernels that the caller enqueues there later are not overtaken: a kernel of Concord waits
    // for the one before it, which waited for Concord's.
    std::atomic<bool> after_kernel_ = false;
    CUstream target_ = nullptr;  // the stream for copies, fills and launches: stream_, or the capturing one
    std::unique_ptr<CudaStaging> staging_;
    std::unique_ptr<CudaCapture> capture_;
    const std::shared_ptr<StreamCallbacks> callbacks_;
};

}  // namespace concord::cuda
