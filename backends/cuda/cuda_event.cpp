#include "cuda_event.hpp"

#include <concord/internal/readable_memory.hpp>

#include <algorithm>
#include <cstdint>
#include <string>

namespace concord::cuda {

EventHandle::EventHandle(std::shared_ptr<Context> context, unsigned flags, const char* call)
    : context_(std::move(context)) {
    const UncapturedCurrent current(*context_, call);
    context_->driver.check(context_->driver.event_create(&event_, flags), call, "cuEventCreate");
}

EventHandle::EventHandle(std::shared_ptr<Context> context, CUevent adopted)
    : context_(std::move(context)), event_(adopted), is_adopted_(true) {}

EventHandle::~EventHandle() {
    if (is_adopted_) return;
    const UncapturedCurrent current(*context_);
    if (current.entered()) context_->driver.event_destroy(event_);
}

CudaEvent::CudaEvent(CudaDevice& device)
    : device_(device), handle_(device.context(), CU_EVENT_DEFAULT, "Device::create_event") {}

// Does not query the event: if a capture recorded it, that would end the capture with an error.
CudaEvent::CudaEvent(CudaDevice& device, CUevent adopted)
    : device_(device), handle_(device.context(), adopted), capture_(Capture::possible) {
    if (adopted == nullptr)
        throw Error(ErrorCode::invalid_argument, "Device::adopt_event", "null handle; pass the CUevent");
    if (!detail::is_readable(adopted))
        throw Error(ErrorCode::invalid_argument, "Device::adopt_event",
                    "not a CUevent, got " + std::to_string(reinterpret_cast<std::uintptr_t>(adopted)));
}

void CudaEvent::check_not_captured(const char* call) const {
    if (capture_ == Capture::now)
        throw Error(
            ErrorCode::unsupported, call,
            "the event was recorded while the owner of the stream captured it, so that it is part of a "
            "graph; record it again outside the capture");
}

bool CudaEvent::done() const {
    check_not_captured("Event::done");
    const Driver& driver = device_.driver();
    const UncapturedCurrent current(*device_.context(), "Event::done");
    const CUresult result = driver.event_query(handle_.get());
    if (result == CUDA_ERROR_NOT_READY) return false;
    driver.check(result, "Event::done", "cuEventQuery");
    return true;
}

void CudaEvent::synchronize() const {
    check_not_captured("Event::synchronize");
    const UncapturedCurrent current(*device_.context(), "Event::synchronize");
    device_.driver().check(device_.driver().event_synchronize(handle_.get()), "Event::synchronize",
                           "cuEventSynchronize");
}

double CudaEvent::milliseconds_since(const backend::Event& start) const {
    constexpr const char* call = "Event::milliseconds_since";
    const auto& begin = static_cast<const CudaEvent&>(start);
    begin.synchronize();
    synchronize();
    const UncapturedCurrent current(*device_.context(), call);
    float milliseconds = 0;
    device_.driver().check(
        device_.driver().event_elapsed_time(&milliseconds, begin.handle_.get(), handle_.get()), call,
        "cuEventElapsedTime");
    return milliseconds;
}

void CudaEvent::record(CUstream stream, Capture capture) {
    device_.driver().check(device_.driver().event_record(handle_.get(), stream), "Stream::record",
                           "cuEventRecord");
    capture_ = handle_.is_adopted() ? std::max(capture, Capture::possible) : capture;
}

void CudaEvent::hold(CUstream stream) const {
    device_.driver().check(device_.driver().stream_wait_event(stream, handle_.get(), 0), "Stream::wait",
                           "cuStreamWaitEvent");
}

}  // namespace concord::cuda
