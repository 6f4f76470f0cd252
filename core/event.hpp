#pragma once
/// A mark in a stream's order of work.

#include <memory>

namespace concord {

class Device;

/// Made by Device::create_event, placed by Stream::record. Recording again moves the mark. An event that was
/// never recorded counts as reached.
class Event {
  public:
    Event() = default;
    virtual ~Event() = default;
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;

    /// The device whose streams may record it.
    virtual Device& device() const = 0;
    /// Whether the device has reached the mark. Does not block.
    virtual bool done() const = 0;
    /// Blocks the caller until the device has reached the mark.
    virtual void synchronize() const = 0;
    /// Device time between two marks, waiting for both; `start` is of the same device. Throws
    /// invalid_argument if either was never recorded.
    virtual double milliseconds_since(const Event& start) const = 0;
};

}  // namespace concord
