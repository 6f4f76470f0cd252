#pragma once
// Large copies between pageable host memory and a device of its own memory.

#include "opencl_buffer.hpp"

#include <array>
#include <functional>
#include <memory>

namespace concord::opencl {

/// Copies through two page-locked chunks: one is filled or emptied by the host while the device transfers the
/// other. Both directions block the caller until the host has done its part, as drivers do too.
class Staging {
  public:
    /// allocate: makes a page-locked buffer.
    explicit Staging(std::function<std::unique_ptr<OpenClBuffer>(u64 bytes)> allocate)
        : allocate_(std::move(allocate)) {}

    void write(cl_command_queue queue, cl_mem to, u64 offset, const std::byte* from, u64 bytes);
    void read(cl_command_queue queue, std::byte* to, cl_mem from, u64 offset, u64 bytes);

    /// Copies of fewer bytes are left to the driver.
    static constexpr u64 worthwhile = u64{1} << 20;

  private:
    static constexpr u64 chunk_bytes = u64{4} << 20;
    struct Chunk {
        std::unique_ptr<OpenClBuffer> memory;
        EventHandle transfer;  // the last one that used it
    };
    /// The chunk for piece i, free for use.
    Chunk& chunk(u64 i, std::string_view call);

    std::function<std::unique_ptr<OpenClBuffer>(u64)> allocate_;
    std::array<Chunk, 2> chunks_;
};

}  // namespace concord::opencl
