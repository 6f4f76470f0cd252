#pragma once
/// @file
/// The backend's part of a Stream.

#include <concord/backend/event.hpp>
#include <concord/backend/kernel.hpp>
#include <concord/backend/memory.hpp>
#include <concord/stream.hpp>

#include <functional>
#include <memory>
#include <span>

namespace concord::backend {

/// An in-order queue of work on one device. The destructor waits for the queued work.
///
/// Core validates every call first: ranges fit, sizes are not zero, and all objects belong to the queue's device,
/// except for the two functions that name devices within reach. Core makes one call at a time, except for
/// synchronize(), idle() and captured(), which may run at the same time as any other call. Offsets and sizes are in
/// bytes.
class Queue {
  public:
    Queue() = default;
    virtual ~Queue() = default;
    Queue(const Queue&) = delete;
    Queue& operator=(const Queue&) = delete;

    /// The handle of the backend's own API. Default: null.
    virtual void* native_handle() noexcept { return nullptr; }

    /// Enqueues a copy from the host to the device. May block if `from` is pageable memory.
    virtual void write(Memory& to, u64 offset, const void* from, u64 bytes) = 0;
    /// Enqueues a copy from the device to the host. May block if `to` is pageable memory.
    virtual void read(void* to, const Memory& from, u64 offset, u64 bytes) = 0;
    /// Enqueues a copy between two blocks of device memory. One of them may belong to a device within reach.
    virtual void copy(Memory& to, u64 to_offset, const Memory& from, u64 from_offset, u64 bytes) = 0;
    /// Enqueues a fill with a pattern of 1, 2, 4 or 8 bytes, which is read before the call returns.
    virtual void fill(Memory& to, u64 offset, u64 bytes, const void* pattern, u32 pattern_size) = 0;
    /// Enqueues a kernel. Throws invalid_argument if the launch does not fit the kernel or the device. Values are read
    /// before the call returns; memory_of() gives the memory of a buffer argument.
    virtual void launch(const Kernel& kernel, const LaunchShape& shape,
                        std::span<const KernelArgument> arguments) = 0;
    /// Records the event: marks this point of the queue. The mark replaces an earlier one.
    virtual void record(Event& event) = 0;
    /// Makes later work wait for the event's mark. The event may belong to a device within reach.
    virtual void wait(const Event& event) = 0;
    /// Enqueues a call of `f` on a thread of the backend's choice. Later work waits for it.
    virtual void callback(std::function<void()> f) = 0;
    /// Blocks until the queue is empty. Throws the first failure since the last call, including one of a callback.
    virtual void synchronize() = 0;
    /// Whether the queue is empty. Does not block, and returns true after a failure that ended the queue's work.
    virtual bool idle() = 0;
    /// Stops queued and running work if the backend can, without waiting for it. If work was stopped, synchronize()
    /// throws device_failed. May run at the same time as any other call. Default: does nothing.
    virtual void cancel() {}

    /// Calls `enqueue`, which enqueues one operation, and places the marks around the operation so that the time
    /// between them is the device time of the operation. Default: records one event before it and one after it.
    virtual void time(Event& begin, Event& end, const std::function<void()>& enqueue) {
        record(begin);
        enqueue();
        record(end);
    }

    /// Whether the owner of an adopted queue captures it at the moment, so that operations become part of a graph and
    /// do not run. Core asks before each operation, and keeps what the operation uses until the queue is destroyed.
    /// Default: false.
    virtual bool captured() { return false; }

    /// Starts a capture: launch(), fill(), copy(), write() and read() are collected for replay() until end_capture().
    /// Default: returns false, so that core replays operations one by one.
    virtual bool begin_capture() { return false; }
    /// Ends the capture and returns it, or null if the backend cannot replay it. Does not throw if an operation of the
    /// capture has failed. Default: null.
    virtual std::shared_ptr<void> end_capture() { return nullptr; }
    /// Enqueues a capture of a queue of this device. Default: does nothing, because core never calls it.
    virtual void replay(void* /*captured*/) {}
};

}  // namespace concord::backend
