#include <concord/device.hpp>
#include <concord/peer.hpp>
#include <concord/stream.hpp>

#include "operation.hpp"
#include "recorded.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>

namespace concord {
namespace {

void check_room(const char* call, const Buffer& buffer, u64 offset, u64 bytes) {
    if (offset <= buffer.size() && bytes <= buffer.size() - offset) return;
    throw Error(ErrorCode::invalid_argument, call,
                std::to_string(bytes) + " bytes at offset " + std::to_string(offset) +
                    " do not fit a buffer of " + std::to_string(buffer.size()) + " bytes");
}

// Of a copy or a wait, in which another device may take part that the stream's one reaches.
void check_reach(const char* call, const char* what, const Stream& stream, const Device& other) {
    const Device& device = stream.device();
    if (&other == &device) return;
    std::string why;
    if (!can_reach(device, other, &why))
        throw Error(ErrorCode::wrong_device, call,
                    std::string(what) + " is of " + other.info().selector + ", the stream of " +
                        device.info().selector + " (" + why + ")");
    if (stream.is_recording())
        throw Error(ErrorCode::unsupported, call,
                    std::string(what) + " is of " + other.info().selector +
                        ", and a recording takes nothing of another device");
}

// The rule is at KernelArgument. A value for a buffer, or the reverse, is left to the backend.
bool has_right_type(const KernelArgument& argument, const KernelParameter& parameter) {
    const bool is_buffer = argument.buffer != nullptr;
    if (!argument.type || !parameter.type || argument.type == parameter.type ||
        is_buffer != parameter.is_buffer)
        return true;
    return is_buffer && is_unsigned(*parameter.type) && size_of(*parameter.type) == size_of(*argument.type);
}

[[noreturn]] void refuse_type(const Kernel& kernel, std::size_t i, const KernelArgument& argument) {
    const std::string expected(name_of(*kernel.parameters()[i].type)), got(name_of(*argument.type));
    const std::string where = "argument " + std::to_string(i) + " of " + kernel.name() + ": expected ";
    throw Error(
        ErrorCode::invalid_argument, "Stream::launch",
        argument.buffer != nullptr
            ? where + "elements of " + expected + ", got elements of " + got + "; pass a range of " + expected
            : where + "a value of " + expected + ", got a value of " + got + "; write " + expected + "{...}");
}

}  // namespace

Stream::Stream(std::shared_ptr<Device> device) : device_(std::move(device)) {
    detail::find_nvtx_tool();
}

// The backend's destructor, which has run by now, has waited for the work.
Stream::~Stream() {
    *ended_ = true;
}

void Stream::check_device(const char* call, const char* what, const Device& other) const {
    if (&other == device_.get()) return;
    throw Error(ErrorCode::wrong_device, call,
                std::string(what) + " is of " + other.info().selector + ", the stream of " +
                    device_->info().selector);
}

void Stream::check_range(const char* call, const Buffer& buffer, u64 offset, u64 bytes) const {
    check_device(call, "the buffer", buffer.device());
    check_room(call, buffer, offset, bytes);
}

void Stream::check_on_device(const char* call, const Buffer& buffer) {
    if (buffer.kind() == Buffer::Kind::host)
        throw Error(ErrorCode::invalid_argument, call,
                    "the buffer is a host buffer: use its host_pointer() or copy()");
}

void Stream::note_use(const Buffer& buffer) {
    const_cast<Buffer&>(buffer).note_use(*this, submitted_ + 1);
}

// Runs f, which notes uses and calls the backend, as one operation. The ticket counts only once the operation
// is in the queue: reached() may otherwise find an idle device and take for done what was not yet begun.
template <class F>
void Stream::enqueue(F&& f) {
    const std::lock_guard lock(mutex_);
    struct Count {
        std::atomic<u64>& submitted;
        ~Count() { ++submitted; }  // also if f throws: part of it may be in the queue
    } count{submitted_};
    f();
}

template <class F>
void Stream::perform(const detail::Operation& operation, F&& f) {
    if (detail::listeners.load(std::memory_order_relaxed) != 0) [[unlikely]]
        return perform_traced(operation, f);
    f();
}

void Stream::perform_traced(const detail::Operation& operation, const std::function<void()>& f) {
    const detail::NvtxRange range(operation.name());
    detail::trace_operation(
        *this, trace_, operation, [&](Event& begin, Event& end) { do_time(begin, end, f); }, f);
}

void Stream::do_time(Event& begin, Event& end, const std::function<void()>& f) {
    do_record(begin);
    f();
    do_record(end);
}

void Stream::check_not_recording(const char* call) const {
    if (!is_recording_) return;
    throw Error(ErrorCode::unsupported, call,
                "the stream is recording, which takes launches, fills and copies between buffers");
}

void Stream::write(Buffer& to, u64 offset, const void* from, u64 bytes) {
    check_range("Stream::write", to, offset, bytes);
    check_on_device("Stream::write", to);
    check_not_recording("Stream::write");
    if (bytes == 0) return;
    enqueue([&] {
        note_use(to);
        perform({Engine::upload, bytes}, [&] { do_write(to, offset, from, bytes); });
    });
}

void Stream::read(void* to, const Buffer& from, u64 offset, u64 bytes) {
    check_range("Stream::read", from, offset, bytes);
    check_on_device("Stream::read", from);
    check_not_recording("Stream::read");
    if (bytes == 0) return;
    enqueue([&] {
        note_use(from);
        perform({Engine::download, bytes}, [&] { do_read(to, from, offset, bytes); });
    });
}

void Stream::copy(Buffer& to, u64 to_offset, const Buffer& from, u64 from_offset, u64 bytes) {
    check_reach("Stream::copy", "the buffer", *this, to.device());
    check_reach("Stream::copy", "the buffer", *this, from.device());
    // Between the host and another device there are that one's own streams.
    if (to.kind() == Buffer::Kind::host) check_device("Stream::copy", "the buffer", from.device());
    if (from.kind() == Buffer::Kind::host) check_device("Stream::copy", "the buffer", to.device());
    check_room("Stream::copy", to, to_offset, bytes);
    check_room("Stream::copy", from, from_offset, bytes);
    if (&to == &from && to_offset < from_offset + bytes && from_offset < to_offset + bytes)
        throw Error(ErrorCode::invalid_argument, "Stream::copy",
                    std::to_string(bytes) + " bytes from offset " + std::to_string(from_offset) +
                        " to offset " + std::to_string(to_offset) + " of the same buffer overlap");
    if (bytes == 0) return;
    if (from.kind() == Buffer::Kind::host && to.kind() == Buffer::Kind::host)
        throw Error(ErrorCode::unsupported, "Stream::copy", "both buffers are host buffers: use memcpy");
    enqueue([&] {
        if (recording_) {
            auto& source = const_cast<Buffer&>(from);
            recording_->contents_->keep(to);
            recording_->contents_->keep(source);
            recording_->contents_->operations.emplace_back(
                RecordedCopy{&to, to_offset, &source, from_offset, bytes});
            return;
        }
        note_use(to);
        note_use(from);
        copy_now(to, to_offset, from, from_offset, bytes);
    });
}

void Stream::copy_now(Buffer& to, u64 to_offset, const Buffer& from, u64 from_offset, u64 bytes) {
    if (from.kind() == Buffer::Kind::host) {
        const void* source =
            static_cast<const std::byte*>(const_cast<Buffer&>(from).host_pointer()) + from_offset;
        perform({Engine::upload, bytes}, [&] { do_write(to, to_offset, source, bytes); });
    } else if (to.kind() == Buffer::Kind::host) {
        void* target = static_cast<std::byte*>(to.host_pointer()) + to_offset;
        perform({Engine::download, bytes}, [&] { do_read(target, from, from_offset, bytes); });
    } else {
        perform({Engine::copy, bytes}, [&] { do_copy(to, to_offset, from, from_offset, bytes); });
    }
}

void Stream::fill(Buffer& to, u64 offset, u64 bytes, const void* pattern, u32 pattern_size) {
    check_range("Stream::fill", to, offset, bytes);
    if (pattern_size != 1 && pattern_size != 2 && pattern_size != 4 && pattern_size != 8)
        throw Error(ErrorCode::invalid_argument, "Stream::fill",
                    "a pattern of " + std::to_string(pattern_size) + " bytes is none of 1, 2, 4, 8");
    if (offset % pattern_size != 0 || bytes % pattern_size != 0)
        throw Error(ErrorCode::invalid_argument, "Stream::fill",
                    std::to_string(bytes) + " bytes at offset " + std::to_string(offset) +
                        " are not whole patterns of " + std::to_string(pattern_size));
    check_on_device("Stream::fill", to);
    if (bytes == 0) return;
    enqueue([&] {
        if (recording_) {
            RecordedFill recorded{&to, offset, bytes, {}, pattern_size};
            std::memcpy(recorded.pattern.data(), pattern, pattern_size);
            recording_->contents_->keep(to);
            recording_->contents_->operations.emplace_back(recorded);
            return;
        }
        note_use(to);
        fill_now(to, offset, bytes, pattern, pattern_size);
    });
}

void Stream::fill_now(Buffer& to, u64 offset, u64 bytes, const void* pattern, u32 pattern_size) {
    perform({Engine::fill, bytes}, [&] { do_fill(to, offset, bytes, pattern, pattern_size); });
}

void Stream::launch(const Kernel& kernel, const LaunchShape& shape,
                    std::span<const KernelArgument> arguments) {
    check_device("Stream::launch", "the kernel", kernel.device());
    const std::vector<KernelParameter>& parameters = kernel.parameters();
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const KernelArgument& argument = arguments[i];
        if (i < parameters.size() && !has_right_type(argument, parameters[i])) [[unlikely]]
            refuse_type(kernel, i, argument);
        if (argument.buffer == nullptr) continue;
        check_range("Stream::launch", *argument.buffer, argument.offset, 0);
        if (argument.buffer->kind() == Buffer::Kind::host || argument.offset % argument.element_size != 0)
            throw Error(ErrorCode::invalid_argument, "Stream::launch",
                        "argument " + std::to_string(i) + " of " + kernel.name() +
                            (argument.buffer->kind() == Buffer::Kind::host
                                 ? " is a host buffer"
                                 : ": offset " + std::to_string(argument.offset) + " is not a multiple of " +
                                       std::to_string(argument.element_size)));
    }
    if (shape.group_size_x == 0 || shape.group_size_y == 0 || shape.group_size_z == 0)
        throw Error(ErrorCode::invalid_argument, "Stream::launch",
                    kernel.name() + ": a group without work-items");
    if (shape.groups_x == 0 || shape.groups_y == 0 || shape.groups_z == 0) return;
    enqueue([&] {
        if (recording_) return recording_->contents_->add(kernel, shape, arguments);
        for (const KernelArgument& argument : arguments) {
            if (argument.buffer != nullptr) note_use(*argument.buffer);
        }
        launch_now(kernel, shape, arguments);
    });
}

void Stream::launch_now(const Kernel& kernel, const LaunchShape& shape,
                        std::span<const KernelArgument> arguments) {
    if (observer_) [[unlikely]]
        observer_(kernel, shape);
    perform({Engine::kernel, 0, &kernel, &shape}, [&] { do_launch(kernel, shape, arguments); });
}

void Stream::record(Event& event) {
    check_device("Stream::record", "the event", event.device());
    check_not_recording("Stream::record");
    enqueue([&] { do_record(event); });
}

void Stream::wait(const Event& event) {
    check_reach("Stream::wait", "the event", *this, event.device());
    check_not_recording("Stream::wait");
    enqueue([&] { do_wait(event); });
}

void Stream::callback(std::function<void()> f) {
    if (!f) throw Error(ErrorCode::invalid_argument, "Stream::callback", "the function is empty");
    check_not_recording("Stream::callback");
    enqueue([&] { perform({Engine::callback}, [&] { do_callback(std::move(f)); }); });
}

void Stream::begin_recording() {
    const std::lock_guard lock(mutex_);
    if (recording_)
        throw Error(ErrorCode::invalid_argument, "Stream::begin_recording",
                    "the stream is recording already");
    recording_ = std::shared_ptr<Recording>(new Recording(device_));
    is_recording_ = true;
}

std::shared_ptr<Recording> Stream::end_recording() {
    const std::lock_guard lock(mutex_);
    if (!recording_)
        throw Error(ErrorCode::invalid_argument, "Stream::end_recording", "the stream is not recording");
    std::shared_ptr<Recording> recording = std::move(recording_);
    is_recording_ = false;
    if (recording->size() == 0 || !do_begin_capture()) return recording;
    try {
        for (const RecordedOperation& operation : recording->contents_->operations)
            Recording::Contents::enqueue(*this, operation);
    } catch (...) {
        do_end_capture();
        throw;
    }
    recording->contents_->captured = do_end_capture();
    return recording;
}

void Stream::replay(Recording& recording) {
    enqueue([&] {
        Recording::Contents& contents = *recording.contents_;
        for (const std::shared_ptr<Buffer>& buffer : contents.buffers)
            note_use(*buffer);
        // A trace is to show the kernels.
        const u32 listeners = detail::listeners.load(std::memory_order_relaxed);
        if (!contents.captured || (listeners & detail::listener_trace) != 0)
            return replay_one_by_one(recording);
        if (observer_) [[unlikely]] {
            for (const RecordedOperation& operation : contents.operations) {
                if (const auto* launch = std::get_if<RecordedLaunch>(&operation))
                    observer_(*launch->kernel, launch->shape);
            }
        }
        const detail::NvtxRange range("replay");
        do_replay(contents.captured.get());
    });
}

void Stream::observe(std::function<void(const Kernel&, const LaunchShape&)> f) {
    const std::lock_guard lock(mutex_);
    observer_ = std::move(f);
}

void Stream::replay_one_by_one(Recording& recording) {
    for (const RecordedOperation& operation : recording.contents_->operations) {
        if (const auto* launch = std::get_if<RecordedLaunch>(&operation)) {
            launch_now(*launch->kernel, launch->shape, launch->arguments);
        } else if (const auto* fill = std::get_if<RecordedFill>(&operation)) {
            fill_now(*fill->to, fill->offset, fill->bytes, fill->pattern.data(), fill->pattern_size);
        } else {
            const auto& copy = std::get<RecordedCopy>(operation);
            copy_now(*copy.to, copy.to_offset, *copy.from, copy.from_offset, copy.bytes);
        }
    }
}

void Stream::synchronize() {
    const u64 until = submitted_;
    do_synchronize();
    for (u64 seen = completed_; seen < until && !completed_.compare_exchange_weak(seen, until);) {
    }
}

bool Stream::idle() {
    return do_idle();
}

bool Stream::reached(u64 ticket) {
    if (completed_ >= ticket) return true;
    const u64 until = submitted_;
    if (until < ticket || !do_idle()) return false;
    for (u64 seen = completed_; seen < until && !completed_.compare_exchange_weak(seen, until);) {
    }
    return true;
}

void Stream::drain(u64 ticket) noexcept {
    while (!reached(ticket))
        std::this_thread::sleep_for(std::chrono::microseconds(50));
}

std::shared_ptr<Buffer> Stream::scratch(u64 bytes) {
    return device_->allocate(bytes, this);
}

Buffer& Stream::zeros() {
    std::unique_lock lock(mutex_);
    if (recording_ && recording_->contents_->zeros) return *recording_->contents_->zeros;
    if (zeros_ && !recording_) return *zeros_;
    lock.unlock();
    // Two first callers may both come here; the loser's buffer goes back to the pool.
    std::shared_ptr<Buffer> made = scratch(256);
    const u64 zero = 0;
    fill(*made, 0, 256, &zero, 8);
    lock.lock();
    // A recording has its own, so that it can be replayed beside what else this stream does.
    std::shared_ptr<Buffer>& place = recording_ ? recording_->contents_->zeros : zeros_;
    if (!place) place = std::move(made);
    return *place;
}

std::shared_ptr<Buffer> Stream::workspace(u64 bytes) {
    constexpr u64 most_uses = u64{1} << 29, least_bytes = u64{1} << 16;
    std::unique_lock lock(mutex_);
    if (recording_) {
        lock.unlock();
        std::shared_ptr<Buffer> made = scratch((bytes + 7) / 8 * 8);
        const u64 zero = 0;
        fill(*made, 0, made->size(), &zero, 8);  // which every replay does again
        return made;
    }
    const bool serves = workspace_ && workspace_->size() >= bytes;
    if (serves && workspace_uses_++ % most_uses != 0) return workspace_;
    std::shared_ptr<Buffer> made = serves ? workspace_ : nullptr;
    lock.unlock();
    if (!made) made = scratch(std::max(least_bytes, (bytes + bytes / 2 + 7) / 8 * 8));
    const u64 zero = 0;
    fill(*made, 0, made->size(), &zero, 8);
    lock.lock();
    workspace_ = made;  // of two callers that both come here, the later one's
    workspace_uses_ = 1;
    return made;
}

}  // namespace concord
