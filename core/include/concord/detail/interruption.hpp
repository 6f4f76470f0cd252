#pragma once
// Interruption of calls, for languages whose signal handlers run between calls: Python.

namespace concord {
class Stream;
}

namespace concord::detail {

// During its lifetime, calls of streams and events that enqueue or wait call `check` on this thread about every 50 ms.
// An exception that it throws ends the call. Enqueued work continues. A null pointer turns checks off.
class Interruptible {
  public:
    explicit Interruptible(void (*check)()) noexcept;
    ~Interruptible();
    Interruptible(const Interruptible&) = delete;
    Interruptible& operator=(const Interruptible&) = delete;

  private:
    void (*outer_)();
};

// Stops the work of a stream where its device can: on CPUs before the next group of a kernel. Does not wait. If work
// was stopped, the stream skips work until Stream::synchronize, which throws device_failed.
void cancel(Stream& stream);

}  // namespace concord::detail
