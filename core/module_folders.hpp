#pragma once
// Where modules are looked for: backends, and the component concord-mpi.

#include <filesystem>
#include <vector>

namespace concord::detail {

/// The folders that $CONCORD_BACKEND_PATH lists, then the library's own, then `concord` in that.
std::vector<std::filesystem::path> module_folders();

}  // namespace concord::detail
