#pragma once
/// @file
/// Concord's log, which writes to standard error.
///
/// Messages below the current level are dropped. The environment variable CONCORD_LOG sets the initial level: debug,
/// info, warn (the default), error or off. NO_COLOR switches colours off.

#include <string_view>

namespace concord {

/// Sets the level of the log: "debug", "info", "warn", "error" or "off". Throws invalid_argument for any other name.
void set_log_level(std::string_view level);

namespace detail {

// What the library and its backends write. A message is one line without a final period.
void log_debug(std::string_view message);
void log_info(std::string_view message);
void log_warn(std::string_view message);
void log_error(std::string_view message);

}  // namespace detail

}  // namespace concord
