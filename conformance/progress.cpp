#include "progress.hpp"

#include <unistd.h>

#include <cstdio>

namespace concord::conformance {

Progress::Progress() : terminal_(isatty(STDERR_FILENO) != 0) {}

void Progress::show(const std::string& text) {
    if (!terminal_) return;
    std::fprintf(stderr, "\r\033[K%s", text.c_str());
    std::fflush(stderr);
}

void Progress::clear() {
    if (terminal_) std::fputs("\r\033[K", stderr);
}

}  // namespace concord::conformance
