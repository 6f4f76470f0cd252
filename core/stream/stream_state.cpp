#include "stream/stream_state.hpp"

#include "stream/recorded.hpp"

#include <chrono>
#include <string>
#include <thread>

namespace concord::detail {

StreamState::StreamState(Stream& stream, std::unique_ptr<backend::Queue> queue)
    : stream(stream), device(stream.device()), queue(std::move(queue)) {
    find_nvtx_tool();
}

StreamState::~StreamState() {
    if (in_forked_child) {
        (void)queue.release();  // its threads do not exist
    } else {
        queue.reset();  // waits for queued work
    }
    progress->end();
}

void StreamState::refuse_null(const char* call) {
    throw Error(ErrorCode::invalid_argument, call, "null host pointer; pass the address of the bytes");
}

void StreamState::refuse_device(const char* call, const char* what, const Device& other) const {
    throw Error(ErrorCode::wrong_device, call,
                std::string(what) + " of another device, got " + other.info().selector +
                    "; the stream belongs to " + device.info().selector);
}

void StreamState::refuse_range(const char* call, const Buffer& buffer, u64 offset, u64 bytes) {
    throw Error(ErrorCode::invalid_argument, call,
                "range exceeds the buffer, got " + std::to_string(bytes) + " bytes at offset " +
                    std::to_string(offset) + "; the buffer has " + std::to_string(buffer.size()) + " bytes");
}

void StreamState::check_not_recording(const char* call) const {
    if (!is_recording) return;
    throw Error(ErrorCode::unsupported, call,
                "not supported in a recording; record only launches, fills and copies between buffers");
}

void StreamState::perform_traced(const Operation& operation, const std::function<void()>& f) {
    const NvtxRange range(operation.name());
    if (is_captured) return f();  // it does not run now
    const auto timed = [&](Event& begin, Event& end) {
        queue->time(Access::event(begin), Access::event(end), f);
        Access::set_recorded(begin);
        Access::set_recorded(end);
    };
    trace_operation(stream, trace, operation, timed, f);
}

void StreamState::copy(Buffer& to, u64 to_offset, const Buffer& from, u64 from_offset, u64 bytes) {
    backend::Memory& target = backend::memory_of(to);
    backend::Memory& source = backend::memory_of(from);
    if (from.kind() == Buffer::Kind::host) {
        const void* host = static_cast<const std::byte*>(source.host_pointer()) + from_offset;
        perform({Engine::upload, bytes}, [&] { queue->write(target, to_offset, host, bytes); });
    } else if (to.kind() == Buffer::Kind::host) {
        void* host = static_cast<std::byte*>(target.host_pointer()) + to_offset;
        perform({Engine::download, bytes}, [&] { queue->read(host, source, from_offset, bytes); });
    } else {
        perform({Engine::copy, bytes}, [&] { queue->copy(target, to_offset, source, from_offset, bytes); });
    }
}

void StreamState::fill(Buffer& to, u64 offset, u64 bytes, const void* pattern, u32 pattern_size) {
    perform({Engine::fill, bytes},
            [&] { queue->fill(backend::memory_of(to), offset, bytes, pattern, pattern_size); });
}

void StreamState::launch(const Kernel& kernel, const LaunchShape& shape,
                         std::span<const KernelArgument> arguments) {
    if (observer) [[unlikely]]
        observer(kernel, shape);
    if (is_captured) [[unlikely]]
        keep(kernel.shared_from_this());
    perform({Engine::kernel, 0, &kernel, &shape},
            [&] { queue->launch(Access::kernel(kernel), shape, arguments); });
}

void StreamState::record(Event& event) {
    queue->record(Access::event(event));
    Access::set_recorded(event);
}

void StreamState::replay(Recording& recording) {
    enqueue([&] {
        RecordingContents& contents = Access::contents(recording);
        for (const std::shared_ptr<Buffer>& buffer : contents.buffers)
            note_use(*buffer);
        if (contents.reports && !is_captured) add_unread(contents.reports);
        // A trace must show the kernels.
        const bool traced = (listeners.load(std::memory_order_relaxed) & listener_trace) != 0;
        if (!contents.captured || traced || is_captured) return replay_one_by_one(contents);
        if (observer) [[unlikely]] {
            for (const RecordedOperation& operation : contents.operations) {
                if (const auto* launch = std::get_if<RecordedLaunch>(&operation))
                    observer(*launch->kernel, launch->shape);
            }
        }
        const NvtxRange range("replay");
        queue->replay(contents.captured.get());
    });
}

void StreamState::replay_one_by_one(const RecordingContents& contents) {
    for (const RecordedOperation& operation : contents.operations) {
        if (const auto* l = std::get_if<RecordedLaunch>(&operation)) {
            launch(*l->kernel, l->shape, l->arguments);
        } else if (const auto* f = std::get_if<RecordedFill>(&operation)) {
            fill(*f->to, f->offset, f->bytes, f->pattern.data(), f->pattern_size);
        } else {
            const auto& c = std::get<RecordedCopy>(operation);
            copy(*c.to, c.to_offset, *c.from, c.from_offset, c.bytes);
        }
    }
}

void StreamState::synchronize() {
    check_not_forked("Stream::synchronize");
    const u64 until = submitted;
    wait_interruptibly([this] { return queue->captured() || queue->idle(); });
    std::vector<std::unique_ptr<IndexReading>> reports_read;
    if (has_reports && !queue->captured()) [[unlikely]] {
        reports_read = synchronize_with_reports();
    } else {
        queue->synchronize();
    }
    progress->complete(until);
    release_all(progress->take_synchronized());
    for (const auto& reading : reports_read)
        reading->check();
}

std::vector<std::unique_ptr<IndexReading>> StreamState::synchronize_with_reports() {
    const u64 last = read_reports();
    try {
        queue->synchronize();
    } catch (...) {
        // Operations may be missing.
        for (const auto& reading : take_readings(last))
            reading->from->is_clear = false;
        throw;
    }
    return take_readings(last);
}

bool StreamState::reached(u64 ticket) {
    if (progress->completed(ticket)) return true;
    const u64 until = submitted;
    if (until < ticket || !queue->idle()) return false;
    progress->complete(until);
    return true;
}

void StreamState::drain(u64 ticket) noexcept {
    // The queue may never be empty, so that a mark tells. The caller may hold the lock: a transfer that allocates may
    // get here. Then, and without memory for a mark, only an empty queue tells.
    std::unique_ptr<backend::Event> mark;
    u64 marked = 0;
    const auto place_mark = [&] {
        const std::unique_lock lock(mutex, std::try_to_lock);
        if (!lock.owns_lock() || queue->captured()) return;
        std::unique_ptr<backend::Event> event = Access::device(device).create_event();
        queue->record(*event);
        mark = std::move(event);
        marked = submitted;
    };
    while (!reached(ticket)) {
        try {
            if (mark == nullptr) place_mark();
            if (mark != nullptr && mark->done()) return progress->complete(marked);
        } catch (const std::exception&) {
            mark = nullptr;
        }
        std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
}

std::function<void()> StreamState::watched(Task f) const {
    return [progress = progress, before = submitted.load(), f = std::move(f)]() mutable {
        progress->complete(before);
        const StreamProgress::Callback running(*progress);
        const Task once = std::exchange(f, nullptr);  // what it holds is released here
        once();
    };
}

}  // namespace concord::detail
