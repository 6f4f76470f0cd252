#pragma once
/// Concord's own log, on stderr. Levels: debug, info, warn, error, off; CONCORD_LOG sets the first (warn).

#include <string_view>

namespace concord {

/// Throws invalid_argument for a name that is no level.
void set_log_level(std::string_view level);

namespace detail {
void log_debug(std::string_view message);
void log_info(std::string_view message);
void log_warn(std::string_view message);
void log_error(std::string_view message);
}  // namespace detail

}  // namespace concord
