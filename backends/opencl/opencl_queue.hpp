#pragma once
// An in-order command queue.

#include "opencl_callbacks.hpp"
#include "opencl_device.hpp"
#include "opencl_staging.hpp"

namespace concord::opencl {

class OpenClQueue final : public backend::Queue {
  public:
    OpenClQueue(OpenClDevice& device, concord::Device& pool, QueueHandle queue);
    ~OpenClQueue() override;
    void* native_handle() noexcept override { return queue_.get(); }

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
    void time(backend::Event& begin, backend::Event& end, const std::function<void()>& enqueue) override;

  private:
    void fill_by_kernel(backend::Memory& to, u64 offset, u64 bytes, const void* pattern, u32 pattern_size);
    // Where a command stores its event during time(). Null otherwise.
    cl_event* timed() const { return timed_ != nullptr ? timed_->out() : nullptr; }
    // Calls f, which enqueues commands, flushes the queue unless told otherwise, and counts the commands.
    template <class F>
    void submit(const char* call, F&& f, bool flush = true);
    // Whether a copy of `bytes` from or to `host` goes through page-locked chunks.
    bool staged(const void* host, u64 bytes);

    OpenClDevice& device_;
    QueueHandle queue_;
    OpenClStaging staging_;
    Callbacks callbacks_;
    EventHandle* timed_ = nullptr;

    // State of idle(), which may run at the same time as the other calls.
    std::atomic<u64> submitted_ = 0;  // commands in the queue so far
    std::mutex idle_mutex_;
    u64 finished_ = 0;  // commands known to be done
    EventHandle tail_;  // a marker after the first tail_at_ commands
    u64 tail_at_ = 0;
};

}  // namespace concord::opencl
