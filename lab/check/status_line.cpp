#include <concord/lab/internal/status_line.hpp>

#include <unistd.h>

#include <cstdio>

namespace concord::lab {

StatusLine::StatusLine() : terminal_(isatty(STDERR_FILENO) != 0) {}

void StatusLine::show(const std::string& text) {
    if (!terminal_) return;
    std::fprintf(stderr, "\r\033[K%s", text.c_str());
    std::fflush(stderr);
}

void StatusLine::clear() {
    if (terminal_) std::fputs("\r\033[K", stderr);
}

}  // namespace concord::lab
