#pragma once
// The host kernels of random.

#include <concord/host_kernel.hpp>

namespace concord::detail {

// The kernel for elements of `size` bytes, 4 or 8.
HostKernel random_host(u32 size);

}  // namespace concord::detail
