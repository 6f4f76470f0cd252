#pragma once
// The caller's memory as a buffer.

#include <concord/buffer.hpp>

namespace concord::detail {

// A buffer for `bytes` bytes at `data`, for devices whose kernels access host memory. The caller keeps the memory alive
// until the work that uses it is done.
std::shared_ptr<Buffer> host_range(Device& device, const void* data, u64 bytes);

}  // namespace concord::detail
