#include "opencl_queue.hpp"

#include "opencl_event.hpp"
#include "opencl_kernel.hpp"

#include <concord/log.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <set>

namespace concord::opencl {
namespace {

cl_mem handle_of(const backend::Memory& memory) {
    return static_cast<const OpenClMemory&>(memory).memory();
}

// Drivers fill small ranges without a kernel to compile. NVIDIA's driver counts patterns in 32 bits: beyond these
// limits it fills nothing, or does not end. PoCL writes one pattern at a time.
constexpr u64 small_fill = u64{1} << 16, small_offset = u64{1} << 30;

// Ranges are aligned to the pattern, so that every word of 64 bits at a multiple of 8 bytes holds the same value. Most
// is written 16 bytes at a time, from a multiple of 128 on: on CPUs each work-item writes its own part, elsewhere all
// work-items write side by side.
constexpr SourceFile fill_text{"opencl_fill.cl", R"(
__kernel void fill(__global uchar* to, ulong offset, ulong bytes, ulong value) {
    const ulong end = offset + bytes, id = get_global_id(0), items = get_global_size(0);
    const ulong head = min((offset + 127) & ~127UL, end), tail = max(end & ~15UL, head);
    __global ulong2* const wide = (__global ulong2*)to;
    const ulong first = head / 16, last = first + (tail - head) / 16;
#ifdef CONCORD_CPU
    const ulong part = (last - first + items - 1) / items, from = min(first + id * part, last);
    const ulong until = min(from + part, last);
    for (ulong i = from; i < until; ++i)
        wide[i] = (ulong2)(value);
#else
    for (ulong i = first + id; i < last; i += items)
        wide[i] = (ulong2)(value);
#endif
    for (ulong i = offset + id; i < head; i += items)
        to[i] = (uchar)(value >> (i % 8 * 8));
    for (ulong i = tail + id; i < end; i += items)
        to[i] = (uchar)(value >> (i % 8 * 8));
}
)"};
constexpr u32 fill_group_size = 256;

// The queues of the process. When it exits, they finish their work before the driver's destructors run, with which
// PoCL's threads would collide.
class LiveQueues {
  public:
    // Never destroyed: streams may be destroyed after all static objects.
    static LiveQueues& instance() {
        static LiveQueues& queues = *new LiveQueues;
        return queues;
    }
    void add(cl_command_queue queue) {
        // The C library destroys the thread_local objects of the thread that calls exit() before all else. What it
        // does later is too late: PoCL's compiler registers destructors while it compiles for pending launches. Of
        // other threads than the first one these objects end with the thread.
        if (::gettid() == ::getpid()) {
            static thread_local const AtExit at_exit;
            static_cast<void>(&at_exit);
        }
        const std::lock_guard lock(mutex_);
        queues_.insert(queue);
        // For programs that use OpenCL on other threads only.
        if (process_ == 0 && std::atexit([] { instance().finish(); }) == 0) process_ = ::getpid();
    }
    void remove(cl_command_queue queue) {
        const std::lock_guard lock(mutex_);
        queues_.erase(queues_.find(queue));
    }

  private:
    struct AtExit {
        AtExit() noexcept {}  // not trivial: registers the destructor
        ~AtExit() { instance().finish(); }
    };

    void finish() try {
        if (::getpid() != process_) return;  // a child of fork() has none of the driver's threads
        std::multiset<cl_command_queue> queues;
        {
            const std::lock_guard lock(mutex_);
            queues = queues_;
            for (const cl_command_queue queue : queues)
                cl().clRetainCommandQueue.quietly(queue);
        }
        // Without the lock: callbacks may create and destroy streams.
        for (const cl_command_queue queue : queues) {
            cl().clFinish.quietly(queue);
            cl().clReleaseCommandQueue.quietly(queue);
        }
    } catch (const std::bad_alloc&) {
        return;  // without memory the driver is on its own
    }

    std::mutex mutex_;
    std::multiset<cl_command_queue> queues_;  // several streams may adopt one queue
    pid_t process_ = 0;
};

}  // namespace

OpenClQueue::OpenClQueue(OpenClDevice& device, concord::Device& pool, QueueHandle queue)
    : device_(device), queue_(std::move(queue)), staging_(pool, queue_.get()) {
    LiveQueues::instance().add(queue_.get());
}

OpenClQueue::~OpenClQueue() {
    LiveQueues::instance().remove(queue_.get());
    if (lost()) return;
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
void OpenClQueue::submit(const char* call, F&& f, bool flush) {
    struct Count {
        std::atomic<u64>& submitted;
        ~Count() { ++submitted; }  // also if f throws: part of its work may be in the queue
    } count{submitted_};
    f();
    // Drivers may hold commands back until a flush. The caller, and streams that wait for a mark of this one, expect
    // the device to start now.
    if (flush) check(cl().clFlush(queue_.get()), call, "clFlush");
}

bool OpenClQueue::staged(const void* host, u64 bytes) {
    // Staging waits for the queue with the stream's lock held; a callback that is still to run may want it.
    return bytes > backend::Staging::worthwhile && !device_.traits().shares_host_memory &&
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
        if (bytes > small_fill || offset + bytes > small_offset)
            return fill_by_kernel(to, offset, bytes, pattern, pattern_size);
        check(cl().clEnqueueFillBuffer(queue_.get(), handle_of(to), pattern, pattern_size, offset, bytes, 0,
                                       nullptr, timed()),
              "Stream::fill", "clEnqueueFillBuffer");
    });
}

void OpenClQueue::fill_by_kernel(backend::Memory& to, u64 offset, u64 bytes, const void* pattern,
                                 u32 pattern_size) {
    u64 value = 0;
    for (u32 at = 0; at < sizeof value; at += pattern_size)
        std::memcpy(reinterpret_cast<char*>(&value) + at, pattern, pattern_size);
    // Enough groups to occupy the device.
    const DeviceTraits& traits = device_.traits();
    const OpenClKernel& fill = device_.fill_kernel();
    const u32 group_size = traits.launch == LaunchModel::groups
                               ? static_cast<u32>(std::min<u64>(fill_group_size, fill.max_group_size()))
                               : 1;
    const u64 groups = std::min(bytes / 16 / group_size + 1, u64{traits.units} * 16);
    fill.enqueue_fill(queue_.get(), LaunchShape::linear(groups, group_size), handle_of(to), offset, bytes,
                      value, timed());
}

const OpenClKernel& OpenClDevice::fill_kernel() {
    const std::lock_guard lock(fill_mutex_);
    if (!fill_kernel_) {
        static const KernelSource source{"fill", {}, {fill_text}};
        KernelSpec spec;
        spec.source = &source;
        spec.entry = "fill";
        spec.max_group_size = fill_group_size;
        fill_kernel_ = compile(spec);
    }
    return static_cast<const OpenClKernel&>(*fill_kernel_);
}

void OpenClQueue::launch(const backend::Kernel& kernel, const LaunchShape& shape,
                         std::span<const KernelArgument> arguments) {
    // An event of time() may be waited for in another queue, which requires a flush.
    submit(
        "Stream::launch",
        [&] { static_cast<const OpenClKernel&>(kernel).enqueue(queue_.get(), shape, arguments, timed()); },
        timed_ != nullptr || !device_.starts_unflushed());
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
    if (static_cast<OpenClEvent&>(event).is_adopted())
        throw Error(ErrorCode::unsupported, "Stream::record",
                    "an adopted cl_event cannot be recorded; record an event of Device::create_event");
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
