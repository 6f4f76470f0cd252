#include "device/access.hpp"
#include "stream/recorded.hpp"
#include "stream/stream_state.hpp"

#include <concord/stream_memory.hpp>
#include <concord/trace.hpp>

#include <algorithm>

namespace concord {

Buffer& zero_counters(Stream& stream) {
    detail::StreamState& state = detail::Access::state(stream);
    std::unique_lock lock(state.mutex);
    // A recording has separate zeros, because it may be replayed concurrently with other work of this stream.
    auto place = [&state]() -> std::shared_ptr<Buffer>& {
        detail::RecordingContents* const recorded = state.recorded();
        return recorded != nullptr ? recorded->zeros : state.zeros;
    };
    const bool is_captured = !state.recording && state.queue->captured();
    if (place() && !is_captured) return *place();
    lock.unlock();
    // Two threads may both get here at the first call. The buffer of the second one returns to the pool.
    std::shared_ptr<Buffer> made = stream.scratch(256);
    const u64 zero = 0;
    stream.fill(*made, 0, 256, &zero, 8);
    lock.lock();
    if (is_captured) {
        // Each call of a capture has its own zeros: graphs of one stream may be replayed concurrently.
        state.keep(made);
        return *made;
    }
    if (!place()) place() = std::move(made);
    return *place();
}

std::shared_ptr<Buffer> workspace(Stream& stream, u64 bytes) {
    detail::StreamState& state = detail::Access::state(stream);
    constexpr u64 max_uses = u64{1} << 29, min_bytes = u64{1} << 16;
    std::unique_lock lock(state.mutex);
    if (state.recording || state.queue->captured()) {
        lock.unlock();
        std::shared_ptr<Buffer> made = stream.scratch((bytes + 7) / 8 * 8);
        const u64 zero = 0;
        stream.fill(*made, 0, made->size(), &zero, 8);  // every replay repeats the fill
        return made;
    }
    const bool serves = state.workspace && state.workspace->size() >= bytes;
    if (serves && state.workspace_uses % max_uses != 0) {
        ++state.workspace_uses;
        return state.workspace;
    }
    std::shared_ptr<Buffer> made = serves ? state.workspace : nullptr;
    lock.unlock();
    if (!made) made = stream.scratch(std::max(min_bytes, (bytes + bytes / 2 + 7) / 8 * 8));
    const u64 zero = 0;
    stream.fill(*made, 0, made->size(), &zero, 8);
    lock.lock();
    state.workspace = made;  // if two threads get here, the buffer of the later one
    state.workspace_uses = 1;
    return made;
}

void observe_launches(Stream& stream, std::function<void(const Kernel&, const LaunchShape&)> f) {
    detail::StreamState& state = detail::Access::state(stream);
    const std::lock_guard lock(state.mutex);
    state.observer = std::move(f);
}

}  // namespace concord
