#pragma once
/// @file
/// Events recorded in a stream.

#include <atomic>
#include <memory>

namespace concord {

class Device;
namespace backend {
class Event;
}
namespace detail {
struct Access;
}

/// A mark in a stream's order of work, created by Device::create_event and placed by Stream::record, or a mark of
/// another owner (Device::adopt_event).
///
/// Recording again moves the mark. An event that was never recorded counts as reached. Any thread may use it.
class Event final {
  public:
    ~Event();
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;

    /// The device whose streams may record the event.
    Device& device() const noexcept { return *device_; }
    /// The handle of the backend's own API, for other libraries: a CUevent, which stays the same, or a cl_event, which
    /// each record replaces. Null on CPUs, and before the first record. The event keeps the ownership.
    void* native_handle() const noexcept;
    /// Whether the device has reached the mark. Does not block.
    bool done() const;
    /// Blocks the caller until the device has reached the mark.
    void synchronize() const;
    /// Waits for both marks and returns the device time from `start` to this event in milliseconds. Throws wrong_device
    /// if `start` belongs to another device, and invalid_argument if one of the events was never recorded.
    double milliseconds_since(const Event& start) const;

  private:
    friend struct detail::Access;
    Event(std::shared_ptr<Device> device, std::unique_ptr<backend::Event> event);

    std::shared_ptr<Device> device_;
    std::unique_ptr<backend::Event> event_;
    std::atomic<bool> recorded_ = false;
};

}  // namespace concord
