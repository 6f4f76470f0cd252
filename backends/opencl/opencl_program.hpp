#pragma once
// From a kernel's text to the driver's kernel, by way of the cache on disk.

#include "opencl_api.hpp"

#include <concord/kernel.hpp>

namespace concord::opencl {

class OpenClDevice;

/// Throws compile_failed with the compiler's log.
KernelHandle compile_kernel(const OpenClDevice& device, const KernelSpec& spec);

}  // namespace concord::opencl
