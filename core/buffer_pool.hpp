#pragma once
// The caching, stream-ordered allocator behind Device::allocate.

#include <concord/device.hpp>

#include <map>
#include <mutex>

namespace concord::detail {

/// Keeps released buffers by capacity. A buffer may be handed out again when every stream that was given work
/// with it has done that work, or when the only such stream is the one that asks: its queue is in order, so
/// the new use comes after the old.
class BufferPool {
  public:
    using Allocate = std::function<std::unique_ptr<Buffer>(u64 capacity)>;
    explicit BufferPool(Allocate allocate) : allocate_(std::move(allocate)) {}

    /// keep: what the buffer holds on to (its device), so that the pool outlives it.
    std::shared_ptr<Buffer> take(u64 bytes, const Stream* home, std::shared_ptr<Device> keep);
    MemoryUse use() const;
    /// Frees what is cached; what is still in use by a stream, once that stream is done. Returns whether
    /// anything was.
    bool trim();

  private:
    using Streams = std::vector<std::shared_ptr<Stream>>;
    std::unique_ptr<Buffer> reuse(u64 capacity, const Stream* home, Streams& seen);
    void give_back(std::unique_ptr<Buffer> buffer) noexcept;
    /// Streams that were looked at go to `seen`: dropping the last reference to one ends it, which must not
    /// happen under our lock.
    static bool ready(Buffer& buffer, const Stream* home, Streams& seen);

    Allocate allocate_;
    mutable std::mutex mutex_;
    std::multimap<u64, std::unique_ptr<Buffer>> free_;
    MemoryUse use_;
};

}  // namespace concord::detail
