#include "opencl_queue.hpp"

#include "opencl_event.hpp"
#include "opencl_kernel.hpp"

#include <concord/log.hpp>

#include <algorithm>

namespace concord::opencl {
namespace {

cl_mem handle_of(const backend::Memory& memory) {
    return static_cast<const OpenClMemory&>(memory).memory();
}

}  // namespace

OpenClQueue::OpenClQueue(OpenClDevice& device, concord::Device& pool)
    : device_(device), queue_(device.create_command_queue()), staging_(pool, queue_.get()) {}

OpenClQueue::~OpenClQueue() {
    try {
        callbacks_.finish_if_own_thread();
        const cl_int status = cl().clFinish(queue_.get());
        if (status != CL_SUCCESS)
            detail::log_warn("a stream was destroyed after its work had failed: " + status_text(status));
    } catch (const std::exception& error) {
        detail::log_error(error.what());
    }
}

template <class F>
void OpenClQueue::submit(const char* call, F&& f) {
    struct Count {
        std::atomic<u64>& submitted;
        ~Count() { ++submitted; }  // also if f throws: part of its work may be in the queue
    } count{submitted_};
    f();
    // Drivers may hold commands back until a flush. The caller, and streams that wait for a mark of this one, expect
    // the device to start now.
    check(cl().clFlush(queue_.get()), call, "clFlush");
}

bool OpenClQueue::staged(const void* host, u64 bytes) {
    // Staging waits for the queue with the stream's lock held; a callback that is still to run may want it.
    return bytes > detail::Staging::worthwhile && !device_.traits().shares_host_memory &&
           !device_.pinned().contains(host, bytes) && !callbacks_.pending();
}

void OpenClQueue::write(backend::Memory& to, u64 offset, const void* from, u64 bytes) {
    submit("Stream::write", [&] {
        if (staged(from, bytes) && staging_.write(handle_of(to), offset, from, bytes)) return;
        check(cl().clEnqueueWriteBuffer(queue_.get(), handle_of(to), CL_FALSE, offset, bytes, from, 0,
                                        nullptr, timed()),
              "Stream::write", "clEnqueueWriteBuffer");
    });
}

void OpenClQueue::read(void* to, const backend::Memory& from, u64 offset, u64 bytes) {
    submit("Stream::read", [&] {
        if (staged(to, bytes) && staging_.read(to, handle_of(from), offset, bytes)) return;
        check(cl().clEnqueueReadBuffer(queue_.get(), handle_of(from), CL_FALSE, offset, bytes, to, 0, nullptr,
                                       timed()),
              "Stream::read", "clEnqueueReadBuffer");
    });
}

void OpenClQueue::copy(backend::Memory& to, u64 to_offset, const backend::Memory& from, u64 from_offset,
                       u64 bytes) {
    submit("Stream::copy", [&] {
        check(cl().clEnqueueCopyBuffer(queue_.get(), handle_of(from), handle_of(to), from_offset, to_offset,
                                       bytes, 0, nullptr, timed()),
              "Stream::copy", "clEnqueueCopyBuffer");
    });
}

void OpenClQueue::fill(backend::Memory& to, u64 offset, u64 bytes, const void* pattern, u32 pattern_size) {
    submit("Stream::fill", [&] {
        check(cl().clEnqueueFillBuffer(queue_.get(), handle_of(to), pattern, pattern_size, offset, bytes, 0,
                                       nullptr, timed()),
              "Stream::fill", "clEnqueueFillBuffer");
    });
}

void OpenClQueue::launch(const backend::Kernel& kernel, const LaunchShape& shape,
                         std::span<const KernelArgument> arguments) {
    submit("Stream::launch", [&] {
        static_cast<const OpenClKernel&>(kernel).enqueue(queue_.get(), shape, arguments, timed());
    });
}

// Uses the times of the command if the operation is one command, otherwise those of marks around it.
void OpenClQueue::time(backend::Event& begin, backend::Event& end, const std::function<void()>& enqueue) {
    EventHandle before;
    submit("Stream::record", [&] { before = device_.enqueue_mark(queue_.get()); });
    EventHandle command;
    timed_ = &command;
    try {
        enqueue();
    } catch (...) {
        timed_ = nullptr;
        throw;
    }
    timed_ = nullptr;
    if (!command) {
        static_cast<OpenClEvent&>(begin).move_to(std::move(before));
        return record(end);
    }
    check(cl().clRetainEvent(command.get()), "Stream::record", "clRetainEvent");
    static_cast<OpenClEvent&>(begin).move_to(EventHandle(command.get()), CL_PROFILING_COMMAND_START);
    static_cast<OpenClEvent&>(end).move_to(std::move(command));
}

void OpenClQueue::record(backend::Event& event) {
    EventHandle mark;
    submit("Stream::record", [&] { mark = device_.enqueue_mark(queue_.get()); });
    static_cast<OpenClEvent&>(event).move_to(std::move(mark));
}

void OpenClQueue::wait(const backend::Event& event) {
    const EventHandle mark = static_cast<const OpenClEvent&>(event).mark();
    const cl_event awaited = mark.get();
    submit("Stream::wait", [&] {
        check(cl().clEnqueueBarrierWithWaitList(queue_.get(), 1, &awaited, nullptr), "Stream::wait",
              "clEnqueueBarrierWithWaitList");
    });
}

void OpenClQueue::callback(std::function<void()> f) {
    submit("Stream::callback", [&] { callbacks_.enqueue(device_.context(), queue_.get(), std::move(f)); });
}

void OpenClQueue::synchronize() {
    const u64 until = submitted_;
    const cl_int status = cl().clFinish(queue_.get());
    {
        const std::lock_guard lock(idle_mutex_);
        finished_ = std::max(finished_, until);
    }
    const std::exception_ptr thrown = callbacks_.take_error();
    if (status != CL_SUCCESS) fail(status, "Stream::synchronize", "work of the stream failed on the device");
    if (thrown) std::rethrow_exception(thrown);
}

// OpenCL has no query for an empty queue. A marker after all commands serves instead.
bool OpenClQueue::idle() {
    const u64 until = submitted_;
    const std::lock_guard lock(idle_mutex_);
    if (finished_ >= until) return true;
    if (tail_at_ < until) {
        EventHandle tail;
        // A queue that rejects commands executes nothing more. synchronize() throws the failure.
        if (cl().clEnqueueMarkerWithWaitList(queue_.get(), 0, nullptr, tail.out()) != CL_SUCCESS ||
            cl().clFlush(queue_.get()) != CL_SUCCESS)
            return true;
        tail_ = std::move(tail);
        tail_at_ = until;
    }
    if (!has_ended(tail_.get())) return false;
    finished_ = std::max(finished_, tail_at_);
    return true;
}

}  // namespace concord::opencl
