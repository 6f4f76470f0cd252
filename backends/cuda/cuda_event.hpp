#pragma once
// Marks in streams.

#include "cuda_device.hpp"

namespace concord::cuda {

// Owns a CUevent.
class EventHandle {
  public:
    EventHandle(std::shared_ptr<Context> context, unsigned flags, const char* call);
    ~EventHandle();
    EventHandle(const EventHandle&) = delete;
    EventHandle& operator=(const EventHandle&) = delete;

    CUevent get() const { return event_; }

  private:
    std::shared_ptr<Context> context_;
    CUevent event_ = nullptr;
};

class CudaEvent final : public backend::Event {
  public:
    explicit CudaEvent(CudaDevice& device);

    void* native_handle() const noexcept override { return handle_.get(); }
    bool done() const override;
    void synchronize() const override;
    double milliseconds_since(const backend::Event& start) const override;

    // Enqueues the mark. The context must be current.
    void record(CUstream stream);
    // Makes the stream wait for the mark. The context must be current.
    void hold(CUstream stream) const;

  private:
    CudaDevice& device_;
    EventHandle handle_;
};

}  // namespace concord::cuda
