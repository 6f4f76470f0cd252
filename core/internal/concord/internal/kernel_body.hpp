#pragma once
// Where the bodies of kernels begin in CUDA C++ sources.

#include <string_view>
#include <vector>

namespace concord::detail {

// The positions behind the opening brace of each definition of kernel `name`, in order. Finds definitions by macros
// whose name begins with KERNEL, as those of Concord's kernels, not by other macros. Finds also those that the
// preprocessor skips.
std::vector<std::size_t> kernel_bodies(std::string_view source, std::string_view name);

}  // namespace concord::detail
