#pragma once
// Marks in streams.

#include <atomic>

#include "cuda_device.hpp"

namespace concord::cuda {

// A CUevent. Owns it unless it is adopted.
class EventHandle {
  public:
    EventHandle(std::shared_ptr<Context> context, unsigned flags, const char* call);
    // An event of another owner.
    EventHandle(std::shared_ptr<Context> context, CUevent adopted);
    ~EventHandle();
    EventHandle(const EventHandle&) = delete;
    EventHandle& operator=(const EventHandle&) = delete;

    CUevent get() const { return event_; }
    bool is_adopted() const { return is_adopted_; }

  private:
    std::shared_ptr<Context> context_;
    CUevent event_ = nullptr;
    bool is_adopted_ = false;
};

class CudaEvent final : public backend::Event {
  public:
    explicit CudaEvent(CudaDevice& device);
    // An event of another owner. Throws invalid_argument if it is null.
    CudaEvent(CudaDevice& device, CUevent adopted);

    void* native_handle() const noexcept override { return handle_.get(); }
    bool done() const override;
    void synchronize() const override;
    double milliseconds_since(const backend::Event& start) const override;

    // Enqueues the mark. `capture`: what the stream's owner does. The context must be current.
    enum class Capture { never, possible, now };
    void record(CUstream stream, Capture capture);
    // Makes the stream wait for the mark. The context must be current.
    void hold(CUstream stream) const;
    // Whether the mark may be part of a capture, which a stream joins that waits for it.
    bool may_be_captured() const { return capture_ != Capture::never; }

  private:
    // Throws unsupported if the mark is part of a capture. A query would end the capture with an error.
    void check_not_captured(const char* call) const;

    CudaDevice& device_;
    EventHandle handle_;
    std::atomic<Capture> capture_ = Capture::never;
};

}  // namespace concord::cuda
