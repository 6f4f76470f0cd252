#pragma once
/// @file
/// Large copies between pageable host memory and device memory, for backends whose devices have memory of their own.

#include <concord/device.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace concord::backend {

/// Copies through a ring of page-locked chunks. Several threads fill or empty chunks while the device transfers others.
/// A backend derives from it and implements the transfer of a chunk. One copy at a time.
class Staging {
  public:
    /// Sizes of the ring.
    struct Shape {
        u64 chunk_bytes = u64{4} << 20;    ///< size of one transfer by the device
        u32 chunks = 4;                    ///< number of chunks in the ring
        u64 piece_bytes = u64{256} << 10;  ///< size that one thread copies at a time
        u32 helpers = 7;                   ///< limit of threads in addition to the caller
    };
    /// Smaller copies are left to the driver.
    static constexpr u64 worthwhile = u64{1} << 20;

    virtual ~Staging();
    Staging(const Staging&) = delete;
    Staging& operator=(const Staging&) = delete;

  protected:
    /// A ring of the default shape. The first copy allocates its chunks from the device's pool of page-locked memory.
    explicit Staging(concord::Device& device);
    /// The same with another shape.
    Staging(concord::Device& device, const Shape& shape);

    /// Copies to the device. Returns when the host's memory has been read, possibly before the device is done. Returns
    /// false, without copying, if page-locked memory cannot be allocated.
    [[nodiscard]] bool upload(const void* from, u64 bytes);
    /// Copies from the device and waits for the data. Returns false like upload().
    [[nodiscard]] bool download(void* to, u64 bytes);

    /// Enqueues the transfer of a chunk: `bytes` bytes between `memory` and the device, at offset `at` of the copy.
    virtual void start(u32 chunk, std::byte* memory, u64 at, u64 bytes) = 0;
    /// Whether the last transfer of the chunk has ended. Throws if it failed.
    virtual bool ended(u32 chunk) = 0;
    /// Waits for the last transfer of the chunk. Throws if it failed.
    virtual void wait(u32 chunk) = 0;

  private:
    struct Chunk {
        std::shared_ptr<Buffer> memory;
        bool in_transfer = false;
    };
    class Job;
    // Chunks of a copy are numbered. Chunk i is at place i modulo the size of the ring.
    bool prepare(u64 bytes);
    void start_chunk(const Job& job, u64 i);
    bool is_free(u64 i);
    void wait_for_chunk(u64 i);

    concord::Device& device_;
    Shape shape_;
    std::vector<Chunk> chunks_;
};

}  // namespace concord::backend
