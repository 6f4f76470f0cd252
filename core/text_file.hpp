#pragma once
// Reads text files.

#include <string>

namespace concord::detail {

// The content of a file, which may be empty. Throws io if it cannot be read. `call` is the call for the error.
std::string text_of_file(const std::string& path, const std::string& call);

}  // namespace concord::detail
