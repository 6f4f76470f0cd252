#pragma once
// A mark in a queue: a marker command, whose end is the moment at which the device passed the mark.

#include "opencl_api.hpp"

#include <concord/event.hpp>

#include <memory>
#include <mutex>

namespace concord::opencl {

class OpenClEvent final : public Event {
  public:
    explicit OpenClEvent(std::shared_ptr<Device> device) : device_(std::move(device)) {}

    Device& device() const override { return *device_; }
    bool done() const override;
    void synchronize() const override;
    double milliseconds_since(const Event& start) const override;

    /// The command that was recorded last; an empty handle if none was.
    EventHandle mark() const;
    /// moment: which of the command's times counts in milliseconds_since().
    void move_to(EventHandle mark, cl_profiling_info moment = CL_PROFILING_COMMAND_END);

  private:
    struct Mark {
        EventHandle command;
        cl_profiling_info moment = CL_PROFILING_COMMAND_END;
    };
    Mark latest() const;

    std::shared_ptr<Device> device_;
    mutable std::mutex mutex_;
    Mark mark_;
};

/// Waits for a command; throws device_failed if it failed.
void wait_for(cl_event event, std::string_view call);

/// Whether a command has ended, well or not.
bool has_ended(cl_event event);

}  // namespace concord::opencl
