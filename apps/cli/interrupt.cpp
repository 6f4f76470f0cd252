#include "interrupt.hpp"

#include <unistd.h>

#include <atomic>
#include <climits>
#include <csignal>
#include <cstring>

namespace concord::app {
namespace {

// All that the handler looks at: it may run on any thread, in the midst of anything.
struct Unfinished {
    std::atomic<bool> used, named;
    char path[PATH_MAX];
};
Unfinished unfinished[4];
std::atomic<bool> bar, sigterm_is_silent;

void say(const char* text) {
    [[maybe_unused]] const ssize_t n = ::write(STDERR_FILENO, text, std::strlen(text));
}

void handle(int signal) {
    remove_unfinished();
    if (bar) say("\r\033[K");
    if (signal != SIGTERM || !sigterm_is_silent)
        say(signal == SIGINT    ? "concord: interrupted (SIGINT)\n"
            : signal == SIGTERM ? "concord: interrupted (SIGTERM)\n"
                                : "concord: interrupted (SIGHUP)\n");
    ::raise(signal);  // the handler is reset: this ends the program
}

}  // namespace

void remove_unfinished() {
    for (const Unfinished& file : unfinished) {
        if (file.named) ::unlink(file.path);
    }
}

void silence_sigterm() {
    sigterm_is_silent = true;
}

void catch_interrupts() {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        struct sigaction now {};
        if (::sigaction(signal, nullptr, &now) != 0 || now.sa_handler == SIG_IGN) continue;
        struct sigaction action {};
        action.sa_handler = handle;
        action.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
        ::sigaction(signal, &action, nullptr);
    }
}

u64 remove_on_interrupt(const std::string& path) {
    u64 number = 0;
    for (Unfinished& file : unfinished) {
        if (path.size() < sizeof file.path && !file.used.exchange(true)) {
            std::memcpy(file.path, path.c_str(), path.size() + 1);
            file.named = true;
            return number;
        }
        ++number;
    }
    return number;
}

void keep_on_interrupt(u64 number) {
    if (number >= std::size(unfinished)) return;
    unfinished[number].named = false;
    unfinished[number].used = false;
}

void bar_is_shown(bool shown) {
    bar = shown;
}

}  // namespace concord::app
