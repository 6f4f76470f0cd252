#pragma once
/// Large copies between pageable host memory and a device of its own memory. For backends.

#include <concord/device.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace concord::detail {

/// Copies through a ring of page-locked chunks: several threads fill or empty them while the device transfers others. A
/// backend derives from it what it does with a chunk. One transfer at a time.
class Staging {
  public:
    /// How the ring is cut.
    struct Shape {
        u64 chunk_bytes = u64{4} << 20;    ///< of one transfer by the device
        u32 chunks = 4;                    ///< of the ring
        u64 piece_bytes = u64{256} << 10;  ///< that one thread copies at a time
        u32 helpers = 7;  ///< threads beside the caller, as far as the machine has processors
    };
    /// Copies of fewer bytes are left to the driver.
    static constexpr u64 worthwhile = u64{1} << 20;

    virtual ~Staging();
    Staging(const Staging&) = delete;
    Staging& operator=(const Staging&) = delete;

  protected:
    /// The chunks come from the device's pool of page-locked memory with the first transfer, and stay.
    explicit Staging(Device& device);
    Staging(Device& device, const Shape& shape);

    /// Copies to the device; returns when the host's memory has been read, which may be before the device is done. False
    /// if there is no page-locked memory to be had: then nothing was done.
    [[nodiscard]] bool upload(const void* from, u64 bytes);
    /// Copies from the device; returns when all of it is there. False as above.
    [[nodiscard]] bool download(void* to, u64 bytes);

    /// Enqueues the transfer of a chunk: `bytes` between `memory` and the device, from byte `at` of the whole.
    virtual void start(u32 chunk, std::byte* memory, u64 at, u64 bytes) = 0;
    /// Whether the last transfer of that chunk has ended. Throws if it failed.
    virtual bool ended(u32 chunk) = 0;
    /// Blocks until it has. Throws if it failed.
    virtual void wait(u32 chunk) = 0;

  private:
    struct Chunk {
        std::shared_ptr<Buffer> memory;
        bool in_transfer = false;
    };
    class Job;
    // A transfer's chunks are counted through; chunk i is at place i modulo the ring.
    bool prepare(u64 bytes);
    void start_chunk(const Job& job, u64 i);
    bool is_free(u64 i);
    void wait_for_chunk(u64 i);

    Device& device_;
    Shape shape_;
    std::vector<Chunk> chunks_;
};

}  // namespace concord::detail
