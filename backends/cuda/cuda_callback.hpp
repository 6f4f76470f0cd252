#pragma once
// Host functions in the order of a stream.

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>

namespace concord::cuda {

// Runs functions for the driver's threads, on which no CUDA call is allowed. A function may enqueue work, allocate, or
// release the last reference to a buffer or stream.
class CallbackThread {
  public:
    CallbackThread();
    // May run on the thread itself, if a function held the last reference to the device.
    ~CallbackThread();

    // Runs f on the thread and waits for it. f is destroyed later, on the thread. f must not throw.
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

// The pending callbacks of one stream, and the first exception of a callback.
class StreamCallbacks : public std::enable_shared_from_this<StreamCallbacks> {
  public:
    void push(CallbackThread& thread, std::function<void()> f);
    // Reverts the last push().
    void pop();
    // Runs the oldest callback. Called on the driver's thread.
    void run_next() noexcept;
    // Whether a callback has not returned yet.
    bool pending() const;
    // Throws the first exception of a callback, once.
    void rethrow();

  private:
    struct Pending {
        CallbackThread* thread;
        std::function<void()> f;
    };
    void keep(std::exception_ptr error) noexcept;

    mutable std::mutex mutex_;
    std::deque<Pending> pending_;
    std::size_t unfinished_ = 0;  // pending ones and the running one
    std::exception_ptr error_;
};

}  // namespace concord::cuda
