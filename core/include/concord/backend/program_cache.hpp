#pragma once
/// @file
/// The disk cache of compiled kernels in $XDG_CACHE_HOME/concord, otherwise in ~/.cache/concord, for backends whose
/// drivers have none.

#include <concord/types.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace concord::backend {

/// The program stored under `key`, if any. The key contains everything that the program depends on: a title in the
/// first line, then versions of compiler and driver, options and source. An entry counts as missing if it is damaged,
/// not a regular file, belongs to another user than this one or root, or everyone can write it. All count as missing
/// if program_cache_problem() has a reason.
std::optional<std::string> load_program(std::string_view key);

/// Stores a program atomically. If the folder is not writable, logs it once and does nothing.
void store_program(std::string_view key, std::string_view program) noexcept;

/// Why nothing is stored although the cache is on: its folder cannot be created or written, or others may change it or
/// a folder above it. Empty if programs are stored, and if the cache is off.
std::string program_cache_problem();

}  // namespace concord::backend
