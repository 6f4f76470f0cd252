#pragma once
/// Output files that appear whole or not at all.

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace concord::app {

/// Throws io, with the reason, if a file could not be made at `path`: so that no work is done for nothing.
void check_writable(const std::filesystem::path& path);

/// Writes the parts one after another into a new file beside `path` and then gives it that name. Throws io,
/// and then leaves what was there before. Pipes and devices (/dev/stdout) are written to directly.
void write_whole(const std::filesystem::path& path, const std::vector<std::span<const std::byte>>& parts);
void write_whole(const std::filesystem::path& path, std::string_view text);

}  // namespace concord::app
