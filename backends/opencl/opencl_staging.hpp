#pragma once
// Large copies between pageable host memory and a device of its own memory.

#include "opencl_buffer.hpp"

#include <concord/internal/staging.hpp>

namespace concord::opencl {

/// A queue's ring of chunks. Both directions block the caller until the host has done its part, as drivers do too.
class OpenClStaging final : public detail::Staging {
  public:
    OpenClStaging(concord::Device& device, cl_command_queue queue);

    /// False: there is no page-locked memory, nothing was done.
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
    // Of the transfer at hand.
    cl_mem memory_ = nullptr;
    u64 offset_ = 0;
    bool upload_ = true;
};

}  // namespace concord::opencl
