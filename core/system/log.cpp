#include <concord/error.hpp>
#include <concord/internal/environment.hpp>
#include <concord/log.hpp>

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <string>

namespace concord {
namespace {

// `call`: the function or environment variable that errors name.
spdlog::level::level_enum parse_level(std::string_view call, std::string_view name) {
    using namespace spdlog::level;
    constexpr std::pair<std::string_view, level_enum> levels[] = {
        {"debug", debug}, {"info", info}, {"warn", warn}, {"error", err}, {"off", off}};
    for (auto [text, level] : levels) {
        if (text == name) return level;
    }
    throw Error(ErrorCode::invalid_argument, call,
                detail::error_message("unknown log level", detail::quoted(name),
                                      "expected debug, info, warn, error or off"));
}

// Never destroyed, because streams that are destroyed late still log.
spdlog::logger& logger() {
    static spdlog::logger& instance = *[] {
        const bool colour = detail::environment_variable("NO_COLOR").empty();
        auto sink = std::make_shared<spdlog::sinks::stderr_color_sink_mt>(
            colour ? spdlog::color_mode::automatic : spdlog::color_mode::never);
        auto* made = new spdlog::logger("concord", sink);
        made->set_pattern("%n %^%l%$: %v");
        made->set_level(spdlog::level::warn);
        if (const std::string_view level = detail::environment_variable("CONCORD_LOG"); !level.empty()) {
            try {
                made->set_level(parse_level("CONCORD_LOG", level));
            } catch (const Error& error) {
                made->warn("{}", error.what());
            }
        }
        return made;
    }();
    return instance;
}

}  // namespace

void set_log_level(std::string_view level) {
    logger().set_level(parse_level("set_log_level", level));
}

namespace detail {
void log_debug(std::string_view message) {
    logger().debug(message);
}
void log_info(std::string_view message) {
    logger().info(message);
}
void log_warn(std::string_view message) {
    logger().warn(message);
}
void log_error(std::string_view message) {
    logger().error(message);
}
}  // namespace detail

}  // namespace concord
