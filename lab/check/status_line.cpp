#include <concord/lab/internal/status_line.hpp>

#include <concord/internal/environment.hpp>

#include <concord/types.hpp>

#include <sys/ioctl.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>

namespace concord::lab {

std::string duration_name(double seconds) {
    const auto s = static_cast<u64>(std::llround(seconds));
    if (s < 60) return std::to_string(s) + " s";
    if (s < 3600) return std::to_string(s / 60) + " min " + std::to_string(s % 60) + " s";
    return std::to_string(s / 3600) + " h " + std::to_string(s % 3600 / 60) + " min";
}

StatusLine::StatusLine()
    : terminal_(isatty(STDERR_FILENO) != 0 && concord::detail::environment_variable("TERM") != "dumb") {}

void StatusLine::show(const std::string& text) {
    if (!terminal_) return;
    winsize window{};
    const std::size_t columns =
        ::ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0 ? window.ws_col : 80;
    std::fprintf(stderr, "\r\033[K%s", text.substr(0, columns - 1).c_str());
    std::fflush(stderr);
}

void StatusLine::clear() {
    if (terminal_) std::fputs("\r\033[K", stderr);
}

}  // namespace concord::lab
