#pragma once
/// @file
/// Copies of operands that calls alternate between, so that no call finds its data in a cache.

#include <concord/lab/operands.hpp>

#include <vector>

namespace concord::lab {

/// Copies of a call's operands.
class Rotation {
  public:
    /// Makes as many copies as need `bytes` in total, from one to `max_copies`. Copies the contents of inputs. If the
    /// operands are larger than `bytes` or if memory does not suffice, the operands themselves are the only copy.
    Rotation(Stream& stream, Operands operands, u64 bytes);

    /// Number of copies.
    u64 copies() const { return copies_; }
    /// Copy k < copies(). Valid until the next call.
    const Operands& at(u64 k);
    /// The next copy. Starts again after the last one.
    const Operands& next() { return at(next_++ % copies_); }

    /// Maximum number of copies.
    static constexpr u64 max_copies = 16384;

  private:
    // The copies of one operand, in one buffer at equal distances.
    struct Slab {
        std::shared_ptr<Buffer> buffer;
        u64 stride = 0;
    };
    Slab make_slab(Stream& stream, const View& view) const;
    void replicate(Stream& stream, const View& view, const Slab& slab) const;

    Operands now_;
    std::vector<Slab> in_, out_;
    u64 copies_ = 1, next_ = 0;
};

/// Bytes that a rotation needs so that the device's caches hold nothing of a copy when its turn comes again.
u64 cold_bytes(const Device& device);

}  // namespace concord::lab
