#pragma once
// Memory of devices that work in host memory.

#include <concord/types.hpp>

#include <cstddef>

namespace concord::detail {

// Host memory with 128-byte alignment, the size of the largest vector type of OpenCL. base() is null if the allocation
// failed. Blocks from 1 MiB on are mappings, with huge pages if the system supports them.
class HostBlock {
  public:
    explicit HostBlock(u64 bytes);
    ~HostBlock();
    HostBlock(const HostBlock&) = delete;
    HostBlock& operator=(const HostBlock&) = delete;
    std::byte* base() const noexcept { return base_; }

  private:
    void* mapping_ = nullptr;
    u64 mapped_ = 0;
    std::byte* base_ = nullptr;
};

}  // namespace concord::detail
