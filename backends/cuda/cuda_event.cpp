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

CudaEvent::CudaEvent(std::shared_ptr<CudaDevice> device)
    : device_(std::move(device)), handle_(device_->context(), CU_EVENT_DEFAULT, "Device::create_event") {}

bool CudaEvent::done() const {
    if (!recorded_) return true;
    const Driver& driver = device_->driver();
    const Current current(*device_->context(), "Event::done");
    const CUresult result = driver.event_query(handle_.get());
    if (result == CUDA_ERROR_NOT_READY) return false;
    driver.check(result, "Event::done", "cuEventQuery");
    return true;
}

void CudaEvent::synchronize() const {
    if (!recorded_) return;
    const Current current(*device_->context(), "Event::synchronize");
    device_->driver().check(device_->driver().event_synchronize(handle_.get()), "Event::synchronize",
                            "cuEventSynchronize");
}

double CudaEvent::milliseconds_since(const Event& start) const {
    constexpr const char* call = "Event::milliseconds_since";
    if (&start.device() != device_.get())
        throw Error(
            ErrorCode::wrong_device, call,
            "the start is of " + start.device().info().selector + ", the end of " + device_->info().selector);
    const auto& begin = static_cast<const CudaEvent&>(start);
    if (!begin.recorded_ || !recorded_)
        throw Error(ErrorCode::invalid_argument, call,
                    std::string("the ") + (recorded_ ? "start" : "end") + " was never recorded");
    begin.synchronize();
    synchronize();
    const Current current(*device_->context(), call);
    float milliseconds = 0;
    device_->driver().check(
        device_->driver().event_elapsed_time(&milliseconds, begin.handle_.get(), handle_.get()), call,
        "cuEventElapsedTime");
    return milliseconds;
}

void CudaEvent::record(CUstream stream) {
    device_->driver().check(device_->driver().event_record(handle_.get(), stream), "Stream::record",
                            "cuEventRecord");
    recorded_ = true;
}

void CudaEvent::hold(CUstream stream) const {
    if (!recorded_) return;
    device_->driver().check(device_->driver().stream_wait_event(stream, handle_.get(), 0), "Stream::wait",
                            "cuStreamWaitEvent");
}

}  // namespace concord::cuda
