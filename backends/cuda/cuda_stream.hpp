#pragma once
// A CUstream behind core's interface.

#include "cuda_event.hpp"
#include "cuda_kernel.hpp"
#include "cuda_recording.hpp"
#include "cuda_staging.hpp"

namespace concord::cuda {

class CudaStream final : public Stream {
  public:
    CudaStream(const std::shared_ptr<CudaDevice>& device, Priority priority);
    ~CudaStream() override;
    void* native_handle() noexcept override { return stream_; }

  protected:
    void do_write(Buffer& to, u64 offset, const void* from, u64 bytes) override;
    void do_read(void* to, const Buffer& from, u64 offset, u64 bytes) override;
    void do_copy(Buffer& to, u64 to_offset, const Buffer& from, u64 from_offset, u64 bytes) override;
    void do_fill(Buffer& to, u64 offset, u64 bytes, const void* pattern, u32 pattern_size) override;
    void do_launch(const Kernel& kernel, const LaunchShape& shape,
                   std::span<const KernelArgument> arguments) override;
    void do_record(Event& event) override;
    void do_wait(const Event& event) override;
    void do_callback(std::function<void()> f) override;
    void do_synchronize() override;
    bool do_idle() override;
    bool do_begin_capture() override;
    std::shared_ptr<void> do_end_capture() override;
    void do_replay(void* captured) override;

  private:
    /// Whether a copy of `bytes` from or to `host` goes through page-locked chunks.
    bool staged(const void* host, u64 bytes);
    /// Repeats eight bytes that are not twice the same four, which the driver has no function for.
    void fill_8(Buffer& to, u64 offset, u64 count, u64 value);

    CudaDevice& device_;  // kept alive by the base class
    std::shared_ptr<Context> context_;
    const Driver& driver_;
    CUstream stream_ = nullptr;
    CUstream target_ = nullptr;  // where copies, fills and launches go: stream_, or what captures them
    std::unique_ptr<CudaStaging> staging_;
    std::unique_ptr<CudaCapture> capture_;
    const std::shared_ptr<StreamCallbacks> callbacks_;
};

}  // namespace concord::cuda
