#include "opencl_stream.hpp"

#include "opencl_event.hpp"
#include "opencl_kernel.hpp"

#include <concord/log.hpp>

#include <algorithm>

namespace concord::opencl {
namespace {

cl_mem memory_of(const Buffer& buffer) {
    return static_cast<const OpenClBuffer&>(buffer).memory();
}

}  // namespace

OpenClStream::OpenClStream(const std::shared_ptr<OpenClDevice>& device)
    : Stream(device), device_(*device), queue_(device_.create_queue()), staging_(device_, queue_.get()) {}

OpenClStream::~OpenClStream() {
    try {
        callbacks_.finish_if_own_thread();
        const cl_int status = cl().clFinish(queue_.get());
        if (status != CL_SUCCESS) log::warn("a stream ended with work that failed: " + status_text(status));
    } catch (const std::exception& error) {
        log::error(std::string("a stream ended badly: ") + error.what());
    }
}

template <class F>
void OpenClStream::submit(const char* call, F&& f) {
    struct Count {
        std::atomic<u64>& submitted;
        ~Count() { ++submitted; }  // also if f throws: part of its work may be in the queue
    } count{submitted_};
    f();
    // Drivers may keep commands back until told; the caller expects the device to work from here on.
    // So does a stream that waits for a mark of this one.
    check(cl().clFlush(queue_.get()), call, "clFlush");
}

bool OpenClStream::staged(const void* host, u64 bytes) {
    // Staging waits for the queue with the stream's lock held; a callback that is still to run may want it.
    return bytes > Staging::worthwhile && !device_.traits().shares_host_memory &&
           !device_.pinned().contains(host, bytes) && !callbacks_.pending();
}

void OpenClStream::do_write(Buffer& to, u64 offset, const void* from, u64 bytes) {
    submit("Stream::write", [&] {
        if (staged(from, bytes) && staging_.write(memory_of(to), offset, from, bytes)) return;
        check(cl().clEnqueueWriteBuffer(queue_.get(), memory_of(to), CL_FALSE, offset, bytes, from, 0,
                                        nullptr, timed()),
              "Stream::write", "clEnqueueWriteBuffer");
    });
}

void OpenClStream::do_read(void* to, const Buffer& from, u64 offset, u64 bytes) {
    submit("Stream::read", [&] {
        if (staged(to, bytes) && staging_.read(to, memory_of(from), offset, bytes)) return;
        check(cl().clEnqueueReadBuffer(queue_.get(), memory_of(from), CL_FALSE, offset, bytes, to, 0, nullptr,
                                       timed()),
              "Stream::read", "clEnqueueReadBuffer");
    });
}

void OpenClStream::do_copy(Buffer& to, u64 to_offset, const Buffer& from, u64 from_offset, u64 bytes) {
    submit("Stream::copy", [&] {
        check(cl().clEnqueueCopyBuffer(queue_.get(), memory_of(from), memory_of(to), from_offset, to_offset,
                                       bytes, 0, nullptr, timed()),
              "Stream::copy", "clEnqueueCopyBuffer");
    });
}

void OpenClStream::do_fill(Buffer& to, u64 offset, u64 bytes, const void* pattern, u32 pattern_size) {
    submit("Stream::fill", [&] {
        check(cl().clEnqueueFillBuffer(queue_.get(), memory_of(to), pattern, pattern_size, offset, bytes, 0,
                                       nullptr, timed()),
              "Stream::fill", "clEnqueueFillBuffer");
    });
}

void OpenClStream::do_launch(const Kernel& kernel, const LaunchShape& shape,
                             std::span<const KernelArgument> arguments) {
    submit("Stream::launch", [&] {
        static_cast<const OpenClKernel&>(kernel).enqueue(queue_.get(), shape, arguments, timed());
    });
}

// The command's own times, where the operation is one command; else those of marks around it.
void OpenClStream::do_time(Event& begin, Event& end, const std::function<void()>& f) {
    EventHandle before;
    submit("Stream::record", [&] { before = device_.enqueue_mark(queue_.get()); });
    EventHandle command;
    timed_ = &command;
    try {
        f();
    } catch (...) {
        timed_ = nullptr;
        throw;
    }
    timed_ = nullptr;
    if (!command) {
        static_cast<OpenClEvent&>(begin).move_to(std::move(before));
        return do_record(end);
    }
    check(cl().clRetainEvent(command.get()), "Stream::record", "clRetainEvent");
    static_cast<OpenClEvent&>(begin).move_to(EventHandle(command.get()), CL_PROFILING_COMMAND_START);
    static_cast<OpenClEvent&>(end).move_to(std::move(command));
}

void OpenClStream::do_record(Event& event) {
    EventHandle mark;
    submit("Stream::record", [&] { mark = device_.enqueue_mark(queue_.get()); });
    static_cast<OpenClEvent&>(event).move_to(std::move(mark));
}

void OpenClStream::do_wait(const Event& event) {
    const EventHandle mark = static_cast<const OpenClEvent&>(event).mark();
    if (!mark) return;
    const cl_event awaited = mark.get();
    submit("Stream::wait", [&] {
        check(cl().clEnqueueBarrierWithWaitList(queue_.get(), 1, &awaited, nullptr), "Stream::wait",
              "clEnqueueBarrierWithWaitList");
    });
}

void OpenClStream::do_callback(std::function<void()> f) {
    submit("Stream::callback", [&] { callbacks_.enqueue(device_.context(), queue_.get(), std::move(f)); });
}

void OpenClStream::do_synchronize() {
    const u64 until = submitted_;
    const cl_int status = cl().clFinish(queue_.get());
    {
        const std::lock_guard lock(idle_mutex_);
        finished_ = std::max(finished_, until);
    }
    const std::exception_ptr thrown = callbacks_.take_error();
    if (status != CL_SUCCESS)
        fail(status, "Stream::synchronize", "the work of the stream failed on the device");
    if (thrown) std::rethrow_exception(thrown);
}

// OpenCL cannot be asked whether a queue is empty; a marker behind all of its commands can.
bool OpenClStream::do_idle() {
    const u64 until = submitted_;
    const std::lock_guard lock(idle_mutex_);
    if (finished_ >= until) return true;
    if (tail_at_ < until) {
        EventHandle tail;
        // A queue that takes no more commands will do no more either; synchronize() throws the failure.
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
