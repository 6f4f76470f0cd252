#pragma once
// Host callbacks in a stream's order.

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>

namespace concord::cuda {

/// Runs functions for the driver's own threads, on which no CUDA call is allowed: a callback may enqueue
/// work, allocate, or let go of the last reference to a buffer or stream.
class CallbackThread {
  public:
    CallbackThread();
    /// May be called on the thread itself, by a callback that held the last reference to the device.
    ~CallbackThread();

    /// Returns when f has run; f is destroyed later, on the thread. f does not throw.
    void run(std::function<void()> f);

  private:
    struct Job {
        std::function<void()> f;
        std::promise<void> done;
    };
    struct Queue {
        std::mutex mutex;
        std::condition_variable changed;
        std::deque<Job> jobs;
        bool closing = false;
    };
    static void work(const std::shared_ptr<Queue>& queue);

    std::shared_ptr<Queue> queue_;  // shared with the thread, which may outlive this object
    std::thread thread_;
};

/// The callbacks that one stream has still to run, and what the first of them that failed threw.
class StreamCallbacks : public std::enable_shared_from_this<StreamCallbacks> {
  public:
    void push(CallbackThread& thread, std::function<void()> f);
    /// Takes back the last push().
    void pop();
    /// For the driver's thread: runs the oldest one.
    void run_next() noexcept;
    /// Whether one has not yet returned.
    bool pending() const;
    /// Throws what the first failed callback threw, once.
    void rethrow();

  private:
    struct Pending {
        CallbackThread* thread;
        std::function<void()> f;
    };
    void keep(std::exception_ptr error) noexcept;

    mutable std::mutex mutex_;
    std::deque<Pending> pending_;
    std::size_t unfinished_ = 0;  // those, and the one that runs
    std::exception_ptr error_;
};

}  // namespace concord::cuda
