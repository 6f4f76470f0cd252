#pragma once
// Large copies of pageable memory. The driver's own staging reaches a fifth of the link's bandwidth.

#include <concord/backend/staging.hpp>

#include "cuda_event.hpp"

namespace concord::cuda {

// The staging ring of a stream. The context must be current in all calls.
class CudaStaging final : public backend::Staging {
  public:
    CudaStaging(CudaDevice& device, concord::Device& pool, CUstream stream);

    // Return false, without copying, if page-locked memory cannot be allocated.
    [[nodiscard]] bool write(CUdeviceptr to, const void* from, u64 bytes);
    [[nodiscard]] bool read(void* to, CUdeviceptr from, u64 bytes);

    // Whether part of the memory is pageable, so that the driver would stage it.
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
    // The current transfer.
    CUdeviceptr address_ = 0;
    bool upload_ = true;
};

}  // namespace concord::cuda
