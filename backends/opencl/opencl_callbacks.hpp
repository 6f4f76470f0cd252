#pragma once
// Host functions in a stream's order.

#include "opencl_api.hpp"

#include <exception>
#include <functional>
#include <memory>
#include <thread>

namespace concord::opencl {

/// Runs the functions that one stream is given, on a thread of its own that starts with the first of them.
/// (Drivers allow little in their callback threads, and a function may wait for other streams.)
class Callbacks {
  public:
    Callbacks();
    /// All functions must have run; may be called by one of them.
    ~Callbacks();

    /// Enqueues f; what is enqueued later waits until f has returned.
    void enqueue(cl_context context, cl_command_queue queue, std::function<void()> f);
    /// Whether a function is still to run.
    bool pending() const;
    /// The first exception that a function has thrown since the last call.
    std::exception_ptr take_error();
    /// If this is the thread that runs the functions: runs those that are left, since nobody else will.
    void finish_if_own_thread();

  private:
    struct Task;
    struct State;
    static void arrived(cl_event event, cl_int status, void* data);
    static void work(const std::shared_ptr<State>& state);

    std::shared_ptr<State> state_;
    std::thread thread_;
};

}  // namespace concord::opencl
