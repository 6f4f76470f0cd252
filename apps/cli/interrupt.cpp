#include "interrupt.hpp"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>

namespace concord::app {
namespace {

// State of the signal handlers. They may run on any thread at any time.
struct Unfinished {
    std::atomic<bool> used, named;
    char path[PATH_MAX];
};
Unfinished unfinished[4];
std::atomic<bool> bar, sigterm_is_silent;
std::atomic<int> deferred;  // the signal that has arrived; 0: none
// Signals that were ignored when the program started. A driver may install a handler of its own later.
std::atomic<bool> keeps_ignored[NSIG];
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

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
    ::raise(signal);  // SA_RESETHAND: ends the program
}

void install(int signal, void (*handler)(int)) {
    struct sigaction action {};
    action.sa_handler = handler;
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER | SA_RESTART);
    ::sigaction(signal, &action, nullptr);
}

bool is_ignored(int signal) {
    struct sigaction now {};
    return ::sigaction(signal, nullptr, &now) != 0 || now.sa_handler == SIG_IGN;
}

// The first signal. A second one ends the program.
void defer(int signal) {
    const int saved = errno;
    deferred = signal;
    for (const int each : {SIGINT, SIGTERM}) {
        if (!keeps_ignored[each]) install(each, handle);
    }
    if (bar) say("\r\033[K");
    say(signal == SIGINT ? "concord: interrupted (SIGINT): finishing; interrupt again to end at once\n"
                         : "concord: interrupted (SIGTERM): finishing; interrupt again to end at once\n");
    errno = saved;
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
        keeps_ignored[signal] = is_ignored(signal);
        if (!keeps_ignored[signal]) install(signal, handle);
    }
}

void defer_interrupts() {
    for (const int signal : {SIGINT, SIGTERM}) {
        if (keeps_ignored[signal]) {
            std::signal(signal, SIG_IGN);
        } else {
            install(signal, defer);
        }
    }
}

bool is_interrupted() {
    return deferred != 0;
}

void end_if_interrupted() {
    if (const int signal = deferred; signal != 0) {
        std::signal(signal, SIG_DFL);
        ::raise(signal);
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
