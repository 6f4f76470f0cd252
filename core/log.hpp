#pragma once
/// Concord's own log, on stderr. Levels: debug, info, warn, error, off; CONCORD_LOG sets the first (warn).

#include <string_view>

namespace concord {

/// Throws invalid_argument for a name that is no level.
void set_log_level(std::string_view level);

namespace log {
void debug(std::string_view message);
void info(std::string_view message);
void warn(std::string_view message);
void error(std::string_view message);
}  // namespace log

}  // namespace concord
