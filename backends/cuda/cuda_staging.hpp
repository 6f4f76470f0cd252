#pragma once
// Large copies between the device and host memory that is not page-locked.

#include <optional>

#include "cuda_event.hpp"

namespace concord::cuda {

/// Two page-locked chunks of one stream: the host copies into one (or out of it) while the device works on
/// the other, and the caller of a write goes on as soon as the last chunk is filled.
class Staging {
  public:
    static constexpr u64 chunk_bytes = u64{4} << 20;
    /// Smaller copies are left to the driver's own staging.
    static constexpr u64 threshold = u64{1} << 20;

    /// Whether a host pointer is to memory that the driver does not know.
    static bool is_pageable(const Driver& driver, const void* host);

    // The context is current. On return the host memory is free again.
    void write(CudaDevice& device, CUstream stream, CUdeviceptr to, const std::byte* from, u64 bytes);
    void read(CudaDevice& device, CUstream stream, std::byte* to, CUdeviceptr from, u64 bytes);

  private:
    struct Slot {
        std::shared_ptr<Buffer> memory;
        std::optional<EventHandle> passed;  // the stream has passed the last copy from or to this chunk
        std::byte* bytes() const { return static_cast<std::byte*>(memory->host_pointer()); }
    };
    void prepare(CudaDevice& device, const char* call);

    Slot slots_[2];
};

}  // namespace concord::cuda
