#include "opencl_event.hpp"

namespace concord::opencl {
namespace {

// CL_COMPLETE, an earlier state (> 0), or the command's error (< 0). CL_COMPLETE after the driver was lost.
cl_int status_of(cl_event event) {
    cl_int status = CL_COMPLETE;
    const cl_int asked = cl().clGetEventInfo.quietly(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status,
                                                     &status, nullptr);
    return asked == CL_SUCCESS ? status : asked;
}

cl_ulong time_of(cl_event event, cl_profiling_info moment, std::string_view call) {
    cl_ulong nanoseconds = 0;
    check(cl().clGetEventProfilingInfo(event, moment, sizeof nanoseconds, &nanoseconds, nullptr), call,
          "clGetEventProfilingInfo");
    return nanoseconds;
}

}  // namespace

EventHandle retained_event(cl_context context, cl_event event) {
    constexpr const char* call = "Device::adopt_event";
    if (event == nullptr) throw Error(ErrorCode::invalid_argument, call, "null handle; pass the cl_event");
    const auto& info = cl().clGetEventInfo;
    if (asked<cl_context>(info, event, CL_EVENT_CONTEXT, call, "cl_event") != context)
        throw Error(ErrorCode::wrong_device, call,
                    "the cl_event belongs to another context; create it in Device::native_handle()");
    // Null for a user event.
    auto* const queue = asked<cl_command_queue>(info, event, CL_EVENT_COMMAND_QUEUE, call, "cl_event");
    check(cl().clRetainEvent(event), call, "clRetainEvent");
    EventHandle retained(event);
    if (queue != nullptr) check(cl().clFlush(queue), call, "clFlush");
    return retained;
}

void wait_for(cl_event event, std::string_view call) {
    const cl_int status = cl().clWaitForEvents(1, &event);
    if (status == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)
        fail(status_of(event), call, "the work before the event failed on the device");
    check(status, call, "clWaitForEvents");
}

bool has_ended(cl_event event) {
    return status_of(event) <= CL_COMPLETE;
}

OpenClEvent::Mark OpenClEvent::latest() const {
    const std::lock_guard lock(mutex_);
    const cl_event command = mark_.command.get();
    check(cl().clRetainEvent(command), "Event", "clRetainEvent");
    return {EventHandle(command), mark_.moment};
}

EventHandle OpenClEvent::mark() const {
    return latest().command;
}

void OpenClEvent::move_to(EventHandle mark, cl_profiling_info moment) {
    const std::lock_guard lock(mutex_);
    mark_.command = std::move(mark);
    mark_.moment = moment;
}

void* OpenClEvent::native_handle() const noexcept {
    const std::lock_guard lock(mutex_);
    return mark_.command.get();
}

bool OpenClEvent::done() const {
    return has_ended(mark().get());
}

void OpenClEvent::synchronize() const {
    wait_for(mark().get(), "Event::synchronize");
}

double OpenClEvent::milliseconds_since(const backend::Event& start) const {
    constexpr const char* call = "Event::milliseconds_since";
    const Mark first = static_cast<const OpenClEvent&>(start).latest(), last = latest();
    auto time = [&](const Mark& mark) {
        wait_for(mark.command.get(), call);
        return time_of(mark.command.get(), mark.moment, call);
    };
    const cl_ulong begin = time(first), end = time(last);
    const auto nanoseconds = static_cast<i64>(end - begin);
    return static_cast<double>(nanoseconds) * 1e-6;
}

}  // namespace concord::opencl
