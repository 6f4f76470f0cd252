#pragma once
// Large copies of pageable memory, whose driver's own staging is a fifth as fast as the link.

#include <concord/internal/staging.hpp>

#include "cuda_event.hpp"

namespace concord::cuda {

/// A stream's ring of chunks. The context is current in all calls.
class CudaStaging final : public detail::Staging {
  public:
    CudaStaging(CudaDevice& device, concord::Device& pool, CUstream stream);

    /// False: there is no page-locked memory, nothing was done.
    [[nodiscard]] bool write(CUdeviceptr to, const void* from, u64 bytes);
    [[nodiscard]] bool read(void* to, CUdeviceptr from, u64 bytes);

    /// Whether any of it is memory that the driver does not know, so that it would stage it.
    static bool is_pageable(const Driver& driver, const void* memory, u64 bytes);

  protected:
    void start(u32 chunk, std::byte* memory, u64 at, u64 bytes) override;
    bool ended(u32 chunk) override;
    void wait(u32 chunk) override;

  private:
    const char* call() const { return upload_ ? "Stream::write" : "Stream::read"; }

    const Driver& driver_;
    CUstream stream_;
    std::vector<std::unique_ptr<EventHandle>> transferred_;  // by chunk
    // Of the transfer at hand.
    CUdeviceptr address_ = 0;
    bool upload_ = true;
};

}  // namespace concord::cuda
