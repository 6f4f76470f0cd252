#pragma once
// The caching, stream-ordered allocator behind Device::allocate.

#include "stream/stream_progress.hpp"

#include <concord/device.hpp>

#include <functional>
#include <map>
#include <mutex>
#include <optional>

namespace concord::detail {

// Waits until no stream uses the buffer. Failures of the streams' work are reported by the streams.
void drain(Buffer& buffer);
// A use that drain() must not wait for, because it would not end: the owner of the stream captures it now, or the
// calling thread runs a callback of the stream, and the work comes after it. Allocates nothing. Nobody else uses the
// buffer.
struct UnwaitableUse {
    std::shared_ptr<StreamProgress> progress;
    StreamProgress::Until until;  // when the memory can be released
};
std::optional<UnwaitableUse> unwaitable_use(Buffer& buffer);

// Keeps released buffers by capacity. A buffer is reused when all streams that used it have finished that work. The
// stream that allocates may reuse its own buffer earlier, because its order guarantees that the new use follows the old
// one.
class BufferPool {
  public:
    using Allocate = std::function<std::unique_ptr<Buffer>(u64 capacity)>;
    explicit BufferPool(Allocate allocate) : allocate_(std::move(allocate)) {}

    // `keep` is the device, which the buffer keeps alive together with this pool.
    std::shared_ptr<Buffer> take(u64 bytes, const Stream* home, std::shared_ptr<Device> keep);
    MemoryUse use() const;
    // Frees the cached buffers, after waiting for streams that still use them. Buffers with a use that cannot
    // be waited for remain. Returns whether any was freed.
    bool trim();

  private:
    using Streams = std::vector<std::shared_ptr<Stream>>;
    // The cached buffers by capacity. A buffer in use keeps its entry, so that giving it back allocates nothing and
    // cannot fail: queued work may still use the buffer.
    using Entries = std::multimap<u64, std::unique_ptr<Buffer>>;
    using Entry = Entries::node_type;
    // An entry of a cached buffer that is ready, or an empty one.
    Entry reuse(u64 capacity, const Stream* home, Streams& seen);
    Entry allocate(u64 capacity);
    void give_back(Entry entry) noexcept;
    // Appends the inspected streams to `seen`. Releasing the last reference to a stream destroys it, which must not
    // happen under the lock.
    static bool ready(Buffer& buffer, const Stream* home, Streams& seen);

    Allocate allocate_;
    mutable std::mutex mutex_;
    Entries free_;
    MemoryUse use_;
};

}  // namespace concord::detail
