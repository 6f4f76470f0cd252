#pragma once
/// The on-disk cache of compiled kernels: $XDG_CACHE_HOME/concord, else ~/.cache/concord.

#include <concord/types.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace concord::detail::program_cache {

/// One entry as `concord cache ls` shows it.
struct Entry {
    std::filesystem::path path;
    u64 bytes = 0;
    std::string title;  ///< first line of the key: backend, device, kernel
    bool valid = false;
};

/// Where entries live; empty if neither variable is set or CONCORD_CACHE=off.
std::filesystem::path folder();

/// The program stored under `key`, or nothing. The key is all that went into the program: its first line says
/// what it is, in words; then compiler and driver versions, options, text. A damaged entry is a miss.
std::optional<std::string> load(std::string_view key);

/// Stores a program; other processes see all of it or nothing. A folder that cannot be written is logged once
/// and otherwise ignored.
void store(std::string_view key, std::string_view program) noexcept;

/// Every entry; reads all of them.
std::vector<Entry> list();

/// Deletes every entry (and leftovers of interrupted writers); returns how many.
u64 clear();

}  // namespace concord::detail::program_cache
