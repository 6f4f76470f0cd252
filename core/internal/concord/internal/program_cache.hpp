#pragma once
// The files of the disk cache of compiled kernels.

#include <concord/backend/program_cache.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace concord::detail::program_cache {

// One entry, as `concord cache ls` shows it.
struct Entry {
    std::filesystem::path path;
    u64 bytes = 0;
    std::string title;  // first line of the key: backend, device, kernel
    bool valid = false;
    std::string problem;  // why the file cannot be read: it belongs to another user, for example
};

// The folder of the cache. Empty if XDG_CACHE_HOME and HOME are not set, or if CONCORD_CACHE is off.
std::filesystem::path folder();

// Parts of a file.
struct Parts {
    std::string_view key, program;
};

// The parts in a file's bytes. Empty if the file is damaged.
std::optional<Parts> parts_of(std::string_view bytes);

// The bytes of a file before its key and its program.
std::string header_of(std::string_view key, std::string_view program);

// All entries. Reads every file.
std::vector<Entry> list();

// Deletes all entries, and files of interrupted writers. Returns the number of deleted files.
u64 clear();

}  // namespace concord::detail::program_cache
