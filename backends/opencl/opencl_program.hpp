#pragma once
// Compiles kernel sources, or loads them from the disk cache.

#include "opencl_api.hpp"

#include <concord/kernel.hpp>

namespace concord::opencl {

class OpenClDevice;

// Throws compile_failed with the compiler's log.
KernelHandle compile_kernel(const OpenClDevice& device, const KernelSpec& spec);

// The source of a kernel.
std::string text_of(cl_kernel kernel);
// Compiles a kernel again from its source. The driver treats copies with different numbers (> 0) as different sources.
KernelHandle compile_copy(const OpenClDevice& device, cl_kernel kernel, const std::string& entry,
                          std::size_t number);

}  // namespace concord::opencl
