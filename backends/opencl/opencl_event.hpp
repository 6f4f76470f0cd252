#pragma once
// A mark in a queue: a command whose end is the time at which the device reached the mark.

#include "opencl_api.hpp"

#include <concord/backend/event.hpp>

#include <mutex>

namespace concord::opencl {

class OpenClEvent final : public backend::Event {
  public:
    OpenClEvent() = default;
    // An event of another owner.
    explicit OpenClEvent(EventHandle adopted) : is_adopted_(true), mark_{std::move(adopted)} {}
    void* native_handle() const noexcept override;
    bool done() const override;
    void synchronize() const override;
    double milliseconds_since(const backend::Event& start) const override;

    // Whether another owner made the event, so that it cannot be recorded.
    bool is_adopted() const noexcept { return is_adopted_; }
    // The command of the latest record.
    EventHandle mark() const;
    // `moment` selects the time of the command for milliseconds_since().
    void move_to(EventHandle mark, cl_profiling_info moment = CL_PROFILING_COMMAND_END);

  private:
    struct Mark {
        EventHandle command;
        cl_profiling_info moment = CL_PROFILING_COMMAND_END;
    };
    Mark latest() const;

    const bool is_adopted_ = false;
    mutable std::mutex mutex_;
    Mark mark_;
};

// A new reference to an event of another owner, whose queue is flushed so that other queues may wait for it. Throws
// invalid_argument or wrong_device unless it is one of the context.
EventHandle retained_event(cl_context context, cl_event event);

// Waits for a command. Throws device_failed if it failed.
void wait_for(cl_event event, std::string_view call);

// Whether a command has ended, successfully or not.
bool has_ended(cl_event event);

}  // namespace concord::opencl
