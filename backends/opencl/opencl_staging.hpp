#pragma once
// Large copies between pageable host memory and device memory.

#include "opencl_buffer.hpp"

#include <concord/backend/staging.hpp>

namespace concord::opencl {

// The staging ring of a queue. Both directions block the caller until the host's part is done, like the copies of
// drivers.
class OpenClStaging final : public backend::Staging {
  public:
    OpenClStaging(concord::Device& device, cl_command_queue queue);

    // Return false, without copying, if page-locked memory cannot be allocated.
    [[nodiscard]] bool write(cl_mem to, u64 offset, const void* from, u64 bytes);
    [[nodiscard]] bool read(void* to, cl_mem from, u64 offset, u64 bytes);

  protected:
    void start(u32 chunk, std::byte* memory, u64 at, u64 bytes) override;
    bool ended(u32 chunk) override;
    void wait(u32 chunk) override;

  private:
    const char* call() const { return upload_ ? "Stream::write" : "Stream::read"; }

    cl_command_queue queue_;
    std::vector<EventHandle> transfers_;  // by chunk
    // The current transfer.
    cl_mem memory_ = nullptr;
    u64 offset_ = 0;
    bool upload_ = true;
};

}  // namespace concord::opencl
