#pragma once
// The folders that are searched for modules: backends, and the component concord-mpi.

#include <filesystem>
#include <vector>

namespace concord::detail {

// The folders in the environment variable CONCORD_BACKEND_PATH, then the folder of the library, then its subfolder
// `concord`.
std::vector<std::filesystem::path> module_folders();

// The canonical path of the program or library that contains the address. Empty if it is unknown.
std::filesystem::path file_of(const void* address);

}  // namespace concord::detail
