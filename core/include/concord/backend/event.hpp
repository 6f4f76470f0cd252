#pragma once
/// @file
/// The backend's part of an Event.

namespace concord::backend {

/// A mark in the order of a queue, placed by Queue::record.
///
/// Core calls the functions below only after the first record, and passes only events of the same device.
class Event {
  public:
    Event() = default;
    virtual ~Event() = default;
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;

    /// The handle of the backend's own API; core asks only after the first record. Default: null.
    virtual void* native_handle() const noexcept { return nullptr; }
    /// Whether the device has reached the mark. Does not block.
    virtual bool done() const = 0;
    /// Blocks the caller until the device has reached the mark.
    virtual void synchronize() const = 0;
    /// Waits for both marks and returns the device time between them in milliseconds.
    virtual double milliseconds_since(const Event& start) const = 0;
};

}  // namespace concord::backend
