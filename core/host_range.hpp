#pragma once
// Memory of the caller as a buffer.

#include <concord/buffer.hpp>

namespace concord::detail {

/// A buffer over `bytes` bytes at `data`, for devices whose kernels take host pointers. The caller keeps the memory alive
/// until the work that uses it is done.
std::shared_ptr<Buffer> host_range(Device& device, const void* data, u64 bytes);

}  // namespace concord::detail
