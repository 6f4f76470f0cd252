#include "opencl_callbacks.hpp"

#include <concord/internal/host_threads.hpp>
#include <concord/log.hpp>

#include <condition_variable>
#include <list>
#include <mutex>

namespace concord::opencl {

// A function in the queue. A marker reports that the queue has reached it. The queue then waits for a user event, the
// gate, which opens after the function has returned.
struct Callbacks::Task {
    std::function<void()> function;
    EventHandle gate;
};

struct Callbacks::State {
    std::mutex mutex;
    std::condition_variable changed;
    std::list<Task> ready;    // reached by the queue, in order
    std::size_t pending = 0;  // enqueued functions that have not returned
    bool stop = false;
    std::exception_ptr error;

    void keep(std::exception_ptr thrown) {
        const std::lock_guard lock(mutex);
        if (!error) error = std::move(thrown);
    }
    enum class Until { stopped, none_pending };
    // Waits for a task and runs it. False if the condition holds and no task is ready.
    bool run_next(Until until);
};

namespace {

// What enqueue() passes to the driver's callback. It holds a list node, because the driver's thread cannot report a
// failed allocation.
template <class State, class Task>
struct Arrival {
    std::shared_ptr<State> state;
    std::list<Task> task;
};

void open(const EventHandle& gate) noexcept {
    const cl_int status = cl().clSetUserEventStatus.quietly(gate.get(), CL_COMPLETE);
    if (status != CL_SUCCESS) detail::log_error("clSetUserEventStatus failed: " + status_text(status));
}

}  // namespace

bool Callbacks::State::run_next(Until until) {
    std::list<Task> task;
    {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return !ready.empty() || (until == Until::stopped ? stop : pending == 0); });
        if (ready.empty()) return false;
        task.splice(task.end(), ready, ready.begin());
    }
    try {
        task.front().function();
    } catch (...) {
        keep(std::current_exception());
    }
    {
        const std::lock_guard lock(mutex);
        --pending;
    }
    // Opens the gate before the function is destroyed, which may own the last reference to its stream. The stream's
    // destructor waits for the queue.
    open(task.front().gate);
    return true;
}

void Callbacks::work(const std::shared_ptr<State>& state) {
    while (state->run_next(State::Until::stopped)) {
    }
}

Callbacks::Callbacks() : state_(std::make_shared<State>()) {}

Callbacks::~Callbacks() {
    if (!thread_.joinable()) return;
    {
        const std::lock_guard lock(state_->mutex);
        state_->stop = true;
    }
    state_->changed.notify_all();
    if (thread_.get_id() == std::this_thread::get_id()) {
        thread_.detach();
    } else {
        thread_.join();
    }
}

void Callbacks::arrived(cl_event /*event*/, cl_int status, void* data) {
    const std::unique_ptr<Arrival<State, Task>> arrival(static_cast<Arrival<State, Task>*>(data));
    State& state = *arrival->state;
    if (status < 0) {
        // Runs the function anyway, because a thread may wait for it.
        try {
            fail(status, "Stream::callback", "the work before the callback failed on the device");
        } catch (...) {
            state.keep(std::current_exception());
        }
    }
    {
        const std::lock_guard lock(state.mutex);
        state.ready.splice(state.ready.end(), arrival->task);
    }
    state.changed.notify_all();
}

void Callbacks::enqueue(cl_context context, cl_command_queue queue, std::function<void()> f) {
    constexpr const char* call = "Stream::callback";
    if (!thread_.joinable()) thread_ = detail::start_thread(call, [state = state_] { work(state); });

    cl_int status = CL_SUCCESS;
    EventHandle gate(cl().clCreateUserEvent(context, &status));
    check(status, call, "clCreateUserEvent");
    const cl_event gate_event = gate.get();
    auto arrival = std::make_unique<Arrival<State, Task>>();
    arrival->state = state_;
    arrival->task.push_back({std::move(f), std::move(gate)});

    EventHandle marker;
    check(cl().clEnqueueMarkerWithWaitList(queue, 0, nullptr, marker.out()), call,
          "clEnqueueMarkerWithWaitList");
    check(cl().clEnqueueBarrierWithWaitList(queue, 1, &gate_event, nullptr), call,
          "clEnqueueBarrierWithWaitList");
    {
        const std::lock_guard lock(state_->mutex);
        ++state_->pending;
    }
    status = cl().clSetEventCallback(marker.get(), CL_COMPLETE, &Callbacks::arrived, arrival.get());
    if (status != CL_SUCCESS) {
        open(arrival->task.front().gate);  // the barrier is already in the queue and must not block it
        const std::lock_guard lock(state_->mutex);
        --state_->pending;
        fail(status, call, "clSetEventCallback failed");
    }
    static_cast<void>(arrival.release());  // arrived() owns it
    check(cl().clFlush(queue), call, "clFlush");
}

bool Callbacks::pending() const {
    const std::lock_guard lock(state_->mutex);
    return state_->pending > 0;
}

std::exception_ptr Callbacks::take_error() {
    const std::lock_guard lock(state_->mutex);
    return std::exchange(state_->error, nullptr);
}

void Callbacks::finish_if_own_thread() {
    if (thread_.get_id() != std::this_thread::get_id()) return;
    while (state_->run_next(State::Until::none_pending)) {
    }
}

}  // namespace concord::opencl
