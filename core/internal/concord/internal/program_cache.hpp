#pragma once
// The disk cache of compiled kernels in $XDG_CACHE_HOME/concord, otherwise in ~/.cache/concord.

#include <concord/types.hpp>

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

// The program stored under `key`, if any. The key contains everything that the program depends on: a title in the first
// line, then versions of compiler and driver, options and source. An entry counts as missing if it is damaged, not a
// regular file, belongs to another user than this one or root, or everyone can write it.
std::optional<std::string> load(std::string_view key);

// Stores a program atomically. If the folder is not writable, logs it once and does nothing.
void store(std::string_view key, std::string_view program) noexcept;

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
