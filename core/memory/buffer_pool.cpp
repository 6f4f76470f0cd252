#include "memory/buffer_pool.hpp"

#include "stream/stream_state.hpp"

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

void drain(Buffer& buffer) {
    std::vector<BufferState::Use> uses;
    {
        BufferState& state = Access::state(buffer);
        const std::lock_guard lock(state.mutex);
        uses.swap(state.uses);
    }
    for (const BufferState::Use& use : uses) {
        if (use.progress->completed(use.ticket)) continue;
        if (const std::shared_ptr<Stream> stream = use.stream.lock()) {
            Access::state(*stream).drain(use.ticket);
        } else {
            while (!use.progress->ended)
                std::this_thread::yield();
        }
    }
}

std::optional<UnwaitableUse> unwaitable_use(Buffer& buffer) {
    using Until = StreamProgress::Until;
    // Without the buffer's lock: releasing the last reference to a stream destroys it.
    for (const BufferState::Use& use : Access::state(buffer).uses) {
        if (use.progress->ended || use.progress->completed(use.ticket)) continue;
        const std::shared_ptr<Stream> stream = use.stream.lock();
        if (stream && Access::state(*stream).queue->captured() && !Access::state(*stream).reached(use.ticket))
            return UnwaitableUse{use.progress, Until::destroyed};
        if (use.progress->in_callback()) return UnwaitableUse{use.progress, Until::synchronized};
    }
    return {};
}

bool BufferPool::ready(Buffer& buffer, const Stream* home, Streams& seen) {
    BufferState& state = Access::state(buffer);
    const std::lock_guard lock(state.mutex);
    for (const BufferState::Use& use : state.uses) {
        if (use.progress->ended || use.id == home) continue;
        // Makes room before it takes the reference, which would otherwise be released under the lock.
        const std::shared_ptr<Stream>& stream = seen.emplace_back();
        seen.back() = use.stream.lock();
        if (!stream) return false;  // the stream is being destroyed
        if (!Access::state(*stream).reached(use.ticket)) return false;
    }
    return true;
}

BufferPool::Entry BufferPool::reuse(u64 capacity, const Stream* home, Streams& seen) {
    const std::lock_guard lock(mutex_);
    const auto end = free_.upper_bound(capacity + slack(capacity));
    for (auto it = free_.lower_bound(capacity); it != end; ++it) {
        if (!ready(*it->second, home, seen)) continue;
        use_.cached -= it->first;
        use_.in_use += it->first;
        return free_.extract(it);
    }
    return {};
}

BufferPool::Entry BufferPool::allocate(u64 capacity) {
    Entries one;
    const auto made = one.emplace(capacity, nullptr);
    try {
        made->second = allocate_(capacity);
    } catch (const Error& error) {
        // Frees the cached memory and tries again.
        if (error.code() != ErrorCode::out_of_memory || !trim()) throw;
        made->second = allocate_(capacity);
    }
    const std::lock_guard lock(mutex_);
    use_.in_use += capacity;
    return one.extract(made);
}

std::shared_ptr<Buffer> BufferPool::take(u64 bytes, const Stream* home, std::shared_ptr<Device> keep) {
    const u64 capacity = round_up(bytes);
    Streams seen;
    Entry entry = reuse(capacity, home, seen);
    if (!entry) entry = allocate(capacity);
    Buffer* const buffer = entry.mapped().get();
    Access::set_size(*buffer, bytes);
    BufferState& state = Access::state(*buffer);
    {
        // Keeps the uses by the home stream, because another stream may get the buffer next.
        const std::lock_guard lock(state.mutex);
        if (home == nullptr) state.uses.clear();
    }
    // If there is too little memory for the reference count, this calls the deleter, which gives the buffer back.
    std::shared_ptr<Buffer> taken(
        buffer, [this, keep = std::move(keep), entry = std::move(entry)](Buffer* released) mutable {
            // The weak pointer would keep the deleter alive, and with it the device that owns this pool.
            Access::state(*released).self.reset();
            give_back(std::move(entry));
        });
    state.self = taken;
    return taken;
}

void BufferPool::give_back(Entry entry) noexcept {
    const std::lock_guard lock(mutex_);
    use_.in_use -= entry.key();
    use_.cached += entry.key();
    free_.insert(std::move(entry));
}

MemoryUse BufferPool::use() const {
    const std::lock_guard lock(mutex_);
    return use_;
}

bool BufferPool::trim() {
    Entries taken, kept;
    {
        const std::lock_guard lock(mutex_);
        taken.swap(free_);
        use_.cached = 0;
    }
    for (auto it = taken.begin(); it != taken.end();) {
        const auto next = std::next(it);
        if (unwaitable_use(*it->second)) kept.insert(taken.extract(it));
        it = next;
    }
    if (!kept.empty()) {
        const std::lock_guard lock(mutex_);
        for (const auto& [capacity, buffer] : kept)
            use_.cached += capacity;
        free_.merge(kept);
    }
    const bool any = !taken.empty();
    for (auto& [capacity, buffer] : taken)
        drain(*buffer);
    return any;
}

}  // namespace concord::detail
