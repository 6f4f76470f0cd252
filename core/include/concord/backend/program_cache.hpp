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
/// not a regular file, belongs to another user than this one or root, or everyone can write it.
std::optional<std::string> load_program(std::string_view key);

/// Stores a program atomically. If the folder is not writable, logs it once and does nothing.
void store_program(std::string_view key, std::string_view program) noexcept;

}  // namespace concord::backend
