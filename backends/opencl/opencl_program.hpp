#pragma once
// From a kernel's text to the driver's kernel, by way of the cache on disk.

#include "opencl_api.hpp"

#include <concord/kernel.hpp>

namespace concord::opencl {

class OpenClDevice;

/// Throws compile_failed with the compiler's log.
KernelHandle compile_kernel(const OpenClDevice& device, const KernelSpec& spec);

/// The text from which a kernel was compiled.
std::string text_of(cl_kernel kernel);
/// The kernel compiled again from its text. The driver takes copies of different numbers (> 0) for different texts.
KernelHandle compile_copy(const OpenClDevice& device, cl_kernel kernel, const std::string& entry,
                          std::size_t number);

}  // namespace concord::opencl
