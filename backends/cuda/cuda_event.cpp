#include "cuda_event.hpp"

namespace concord::cuda {

EventHandle::EventHandle(std::shared_ptr<Context> context, unsigned flags, const char* call)
    : context_(std::move(context)) {
    const Current current(*context_, call);
    context_->driver.check(context_->driver.event_create(&event_, flags), call, "cuEventCreate");
}

EventHandle::~EventHandle() {
    const Current current(*context_);
    if (current.entered()) context_->driver.event_destroy(event_);
}

CudaEvent::CudaEvent(CudaDevice& device)
    : device_(device), handle_(device.context(), CU_EVENT_DEFAULT, "Device::create_event") {}

bool CudaEvent::done() const {
    const Driver& driver = device_.driver();
    const Current current(*device_.context(), "Event::done");
    const CUresult result = driver.event_query(handle_.get());
    if (result == CUDA_ERROR_NOT_READY) return false;
    driver.check(result, "Event::done", "cuEventQuery");
    return true;
}

void CudaEvent::synchronize() const {
    const Current current(*device_.context(), "Event::synchronize");
    device_.driver().check(device_.driver().event_synchronize(handle_.get()), "Event::synchronize",
                           "cuEventSynchronize");
}

double CudaEvent::milliseconds_since(const backend::Event& start) const {
    constexpr const char* call = "Event::milliseconds_since";
    const auto& begin = static_cast<const CudaEvent&>(start);
    begin.synchronize();
    synchronize();
    const Current current(*device_.context(), call);
    float milliseconds = 0;
    device_.driver().check(
        device_.driver().event_elapsed_time(&milliseconds, begin.handle_.get(), handle_.get()), call,
        "cuEventElapsedTime");
    return milliseconds;
}

void CudaEvent::record(CUstream stream) {
    device_.driver().check(device_.driver().event_record(handle_.get(), stream), "Stream::record",
                           "cuEventRecord");
}

void CudaEvent::hold(CUstream stream) const {
    device_.driver().check(device_.driver().stream_wait_event(stream, handle_.get(), 0), "Stream::wait",
                           "cuStreamWaitEvent");
}

}  // namespace concord::cuda
