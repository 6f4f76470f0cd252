#include "stream/recorded.hpp"
#include "stream/stream_state.hpp"

#include <algorithm>
#include <cstring>

namespace concord {

Recording::Recording(std::shared_ptr<Device> device)
    : contents_(std::make_unique<detail::RecordingContents>()) {
    contents_->device = std::move(device);
}

Recording::~Recording() {
    // The capture refers to the kernels and buffers.
    contents_->captured.reset();
}

Device& Recording::device() const noexcept {
    return *contents_->device;
}

u64 Recording::size() const noexcept {
    return contents_->operations.size();
}

void Recording::replay(Stream& stream) {
    detail::check_not_forked("Recording::replay");
    detail::StreamState& state = detail::Access::state(stream);
    state.check_device("Recording::replay", "recording", device());
    state.check_not_recording("Recording::replay");
    const std::lock_guard lock(contents_->mutex);
    const auto last = contents_->last.lock();
    // What the stream of the last replay did not read is dropped: the words may still hold it.
    if (contents_->reports && last.get() != &stream) contents_->reports->is_clear = false;
    if (last && last.get() != &stream) {
        if (state.queue->captured())
            throw Error(ErrorCode::unsupported, "Recording::replay",
                        "the owner captures the stream, which then cannot wait for the last replay on "
                        "another stream; "
                        "synchronize that stream and replay here before the capture");
        if (!contents_->behind_last) contents_->behind_last = device().create_event();
        {
            // Not Stream::record(), because the stream may be recording now.
            detail::StreamState& other = detail::Access::state(*last);
            if (other.queue->captured())
                throw Error(
                    ErrorCode::unsupported, "Recording::replay",
                    "the owner captures the stream of the last replay, so that this stream cannot wait for "
                    "it; replay again after the capture");
            const std::lock_guard other_lock(other.mutex);
            if (contents_->reports) other.forget(contents_->reports);
            other.record(*contents_->behind_last);
        }
        stream.wait(*contents_->behind_last);
    }
    contents_->last =
        stream.weak_from_this();  // also if replay() throws, because part of it may be in the queue
    state.replay(*this);
}

namespace detail {

void RecordingContents::keep(Buffer& buffer) {
    const bool known =
        std::any_of(buffers.begin(), buffers.end(), [&](const auto& b) { return b.get() == &buffer; });
    if (known) return;
    if (std::shared_ptr<Buffer> self = Access::state(buffer).self.lock()) buffers.push_back(std::move(self));
}

void RecordingContents::add(const Kernel& kernel, const LaunchShape& shape,
                            std::span<const KernelArgument> arguments) {
    RecordedLaunch launch{kernel.shared_from_this(), shape, {arguments.begin(), arguments.end()}, {}};
    std::size_t bytes = 0;
    for (const KernelArgument& argument : arguments) {
        if (argument.buffer != nullptr) {
            keep(*argument.buffer);
        } else {
            bytes += (argument.size + 15) / 16 * 16;
        }
    }
    launch.values.resize(
        bytes);  // once, because arguments point into it; moving the vector keeps its elements in place
    std::byte* at = launch.values.data();
    for (KernelArgument& argument : launch.arguments) {
        if (argument.buffer != nullptr) continue;
        if (argument.size > 0) std::memcpy(at, argument.value, argument.size);
        argument.value = at;
        at += (argument.size + 15) / 16 * 16;
    }
    operations.emplace_back(std::move(launch));
}

void RecordingContents::enqueue(backend::Queue& queue, const RecordedOperation& operation) {
    using backend::memory_of;
    if (const auto* launch = std::get_if<RecordedLaunch>(&operation)) {
        queue.launch(Access::kernel(*launch->kernel), launch->shape, launch->arguments);
    } else if (const auto* fill = std::get_if<RecordedFill>(&operation)) {
        queue.fill(memory_of(*fill->to), fill->offset, fill->bytes, fill->pattern.data(), fill->pattern_size);
    } else {
        const auto& copy = std::get<RecordedCopy>(operation);
        backend::Memory& to = memory_of(*copy.to);
        backend::Memory& from = memory_of(*copy.from);
        if (copy.from->kind() == Buffer::Kind::host) {
            queue.write(to, copy.to_offset,
                        static_cast<const std::byte*>(from.host_pointer()) + copy.from_offset, copy.bytes);
        } else if (copy.to->kind() == Buffer::Kind::host) {
            queue.read(static_cast<std::byte*>(to.host_pointer()) + copy.to_offset, from, copy.from_offset,
                       copy.bytes);
        } else {
            queue.copy(to, copy.to_offset, from, copy.from_offset, copy.bytes);
        }
    }
}

}  // namespace detail
}  // namespace concord
