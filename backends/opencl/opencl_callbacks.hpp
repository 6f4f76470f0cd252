#pragma once
// Host functions in the order of a stream.

#include "opencl_api.hpp"

#include <exception>
#include <functional>
#include <memory>
#include <thread>

namespace concord::opencl {

// Runs the functions of one stream on a separate thread, which starts with the first function. The driver's callback
// threads are unsuitable: drivers forbid most calls there, and a function may wait for other streams.
class Callbacks {
  public:
    Callbacks();
    // All functions must have returned, except one that calls this destructor.
    ~Callbacks();

    // Enqueues f. Later work of the queue waits until f has returned.
    void enqueue(cl_context context, cl_command_queue queue, std::function<void()> f);
    // Whether a function has not returned yet.
    bool pending() const;
    // Returns the first exception of a function since the last call.
    std::exception_ptr take_error();
    // On the thread that runs the functions, runs the remaining ones, because no other thread does.
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
