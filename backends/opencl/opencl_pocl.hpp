#pragma once
// What PoCL needs from the machine. It ends the process, or hangs, if memory or the room for its cache runs out while
// it starts or compiles, so that both are checked before.

#include "opencl_api.hpp"

#include <filesystem>

namespace concord::opencl {

// Whether RLIMIT_AS or RLIMIT_DATA is set.
bool memory_is_limited();

// Throws out_of_memory if the limits of the process (RLIMIT_AS, RLIMIT_DATA) leave less than 96 MiB: before PoCL's
// first call. `call` is Concord's function.
void check_pocl_memory(std::string_view call);

// The same before PoCL compiles: clBuildProgram, and the first launch of a kernel with a grid. Throws io as well, if
// PoCL's cache cannot be written or has less than 4 MiB. A few system calls.
void check_pocl(std::string_view call);

// Where PoCL keeps what it compiles.
std::filesystem::path pocl_cache_folder();

// Why PoCL's cache cannot be written, and what to do. Empty if it can. PoCL has no devices without it.
std::string pocl_cache_problem();

}  // namespace concord::opencl
