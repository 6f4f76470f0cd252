#pragma once
// Lists folders.

#include <filesystem>
#include <string>
#include <vector>

namespace concord::detail {

// The names in a folder except "." and "..", sorted. Empty if the folder cannot be read. Unlike
// std::filesystem::directory_iterator it throws std::bad_alloc when memory runs out: the increment of libstdc++'s
// iterator is noexcept.
std::vector<std::string> folder_names(const std::filesystem::path& folder);

}  // namespace concord::detail
