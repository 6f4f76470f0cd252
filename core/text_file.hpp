#pragma once
/// Reads kernel sources that are files.

#include <string>

namespace concord::detail {

/// The whole of a file, which may be empty. Throws io, naming the path, if it cannot be read; `call` is who
/// asks.
std::string text_of_file(const std::string& path, const std::string& call);

}  // namespace concord::detail
