#pragma once
/// Copies of a call's operands, used in turn so that no call finds its data in a cache.

#include <concord/lab/operands.hpp>

#include <vector>

namespace concord::lab {

class Rotation {
  public:
    /// As many copies as take `bytes` together, at most `most`, but at least the operands themselves; inputs
    /// are copied with their contents. Operands that take that many bytes alone, or for whose copies there is
    /// no memory, are the only copy.
    Rotation(Stream& stream, Operands operands, u64 bytes);

    u64 copies() const { return copies_; }
    /// Copy k < copies().
    const Operands& at(u64 k);
    /// One after another, round and round.
    const Operands& next() { return at(next_++ % copies_); }

    static constexpr u64 most = 16384;

  private:
    // One operand's copies lie in one buffer at equal distances.
    struct Slab {
        std::shared_ptr<Buffer> buffer;
        u64 stride = 0;
    };
    Slab replicate(Stream& stream, const View& view, bool contents) const;

    Operands now_;
    std::vector<Slab> in_, out_;
    u64 copies_ = 1, next_ = 0;
};

/// Bytes between two uses of the same data that leave none of it in the device's caches.
u64 cold_bytes(const Device& device);

}  // namespace concord::lab
