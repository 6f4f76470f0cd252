#include "buffer_pool.hpp"

#include "stream_state.hpp"

#include <bit>
#include <thread>

namespace concord::detail {
namespace {

constexpr u64 smallest = 512;
constexpr u64 large = u64{1} << 20;

// Powers of two for small sizes, for few size classes. Multiples of 1 MiB for large sizes, to waste little.
u64 round_up(u64 bytes) {
    if (bytes <= smallest) return smallest;
    if (bytes <= large) return std::bit_ceil(bytes);
    if (bytes > ~u64{0} - large) return bytes;  // exceeds every device; the backend throws
    return (bytes + large - 1) / large * large;
}

// How much larger than requested a cached buffer may be.
u64 slack(u64 capacity) {
    return capacity <= large ? 0 : capacity / 8;
}

}  // namespace

bool BufferPool::ready(Buffer& buffer, const Stream* home, Streams& seen) {
    BufferState& state = Access::state(buffer);
    const std::lock_guard lock(state.mutex);
    for (const BufferState::Use& use : state.uses) {
        if (use.ended->load()) continue;
        std::shared_ptr<Stream> stream = use.stream.lock();
        if (!stream) return false;  // the stream is being destroyed
        if (stream.get() == home) continue;
        const bool reached = Access::state(*stream).reached(use.ticket);
        seen.push_back(std::move(stream));
        if (!reached) return false;
    }
    return true;
}

std::unique_ptr<Buffer> BufferPool::reuse(u64 capacity, const Stream* home, Streams& seen) {
    const std::lock_guard lock(mutex_);
    const auto end = free_.upper_bound(capacity + slack(capacity));
    for (auto it = free_.lower_bound(capacity); it != end; ++it) {
        if (!ready(*it->second, home, seen)) continue;
        std::unique_ptr<Buffer> buffer = std::move(it->second);
        free_.erase(it);
        use_.cached -= buffer->capacity();
        use_.in_use += buffer->capacity();
        return buffer;
    }
    return nullptr;
}

std::shared_ptr<Buffer> BufferPool::take(u64 bytes, const Stream* home, std::shared_ptr<Device> keep) {
    const u64 capacity = round_up(bytes);
    Streams seen;
    std::unique_ptr<Buffer> buffer = reuse(capacity, home, seen);
    if (!buffer) {
        try {
            buffer = allocate_(capacity);
        } catch (const Error& error) {
            // Frees the cached memory and tries again.
            if (error.code() != ErrorCode::out_of_memory || !trim()) throw;
            buffer = allocate_(capacity);
        }
        const std::lock_guard lock(mutex_);
        use_.in_use += buffer->capacity();
    }
    Access::set_size(*buffer, bytes);
    BufferState& state = Access::state(*buffer);
    {
        // Keeps the uses by the home stream, because another stream may get the buffer next.
        const std::lock_guard lock(state.mutex);
        if (home == nullptr) state.uses.clear();
    }
    std::shared_ptr<Buffer> taken(buffer.release(), [this, keep = std::move(keep)](Buffer* released) {
        // The weak pointer would keep the deleter alive, and with it the device that owns this pool.
        Access::state(*released).self.reset();
        give_back(std::unique_ptr<Buffer>(released));
    });
    state.self = taken;
    return taken;
}

void BufferPool::give_back(std::unique_ptr<Buffer> buffer) noexcept {
    const u64 capacity = buffer->capacity();
    const std::lock_guard lock(mutex_);
    use_.in_use -= capacity;
    try {
        free_.emplace(capacity, std::move(buffer));
        use_.cached += capacity;
    } catch (...) {
        buffer.reset();  // too little memory for the map's node: frees the buffer
    }
}

MemoryUse BufferPool::use() const {
    const std::lock_guard lock(mutex_);
    return use_;
}

bool BufferPool::trim() {
    std::multimap<u64, std::unique_ptr<Buffer>> taken;
    {
        const std::lock_guard lock(mutex_);
        taken.swap(free_);
        use_.cached = 0;
    }
    const bool any = !taken.empty();
    for (auto& [capacity, buffer] : taken) {
        // Waits for streams that still use the buffer. Their failures are reported by the streams.
        std::vector<BufferState::Use> uses;
        {
            BufferState& state = Access::state(*buffer);
            const std::lock_guard lock(state.mutex);
            uses.swap(state.uses);
        }
        for (const BufferState::Use& use : uses) {
            if (const std::shared_ptr<Stream> stream = use.stream.lock()) {
                Access::state(*stream).drain(use.ticket);
            } else {
                while (!use.ended->load())
                    std::this_thread::yield();
            }
        }
    }
    return any;
}

}  // namespace concord::detail
