#include "interrupt.hpp"

#include <concord/internal/new_file.hpp>

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace concord::app {
namespace {

// State of the signal handlers. They may run on any thread at any time.
std::atomic<bool> bar, sigterm_is_silent;
std::atomic<pid_t> ends_on;  // the thread whose handler ends the program
std::atomic<int> deferred;   // the signal that has arrived; 0: none
// Signals that were ignored when the program started. A driver may install a handler of its own later.
std::atomic<bool> keeps_ignored[NSIG];
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free &&
              std::atomic<pid_t>::is_always_lock_free);

void say(const char* text) {
    [[maybe_unused]] const ssize_t n = ::write(STDERR_FILENO, text, std::strlen(text));
}

// Signals that end a program unless it handles them, and how messages name them. SIGPIPE ends it without a message.
struct Ending {
    int signal;
    const char* message;
};
constexpr Ending endings[] = {{SIGINT, "concord: interrupted (SIGINT)\n"},
                              {SIGTERM, "concord: interrupted (SIGTERM)\n"},
                              {SIGHUP, "concord: interrupted (SIGHUP)\n"},
                              {SIGQUIT, "concord: interrupted (SIGQUIT)\n"},
                              {SIGALRM, "concord: interrupted (SIGALRM)\n"},
                              {SIGVTALRM, "concord: interrupted (SIGVTALRM)\n"},
                              {SIGPROF, "concord: interrupted (SIGPROF)\n"},
                              {SIGXCPU, "concord: interrupted (SIGXCPU)\n"},
                              {SIGUSR1, "concord: interrupted (SIGUSR1)\n"},
                              {SIGUSR2, "concord: interrupted (SIGUSR2)\n"},
                              {SIGPIPE, ""}};

// Ends the program by the signal. It does not depend on its flags and its mask, because libraries that handle signals
// may install it again with others.
void handle(int signal) {
    pid_t ending_thread = 0;
    if (!ends_on.compare_exchange_strong(ending_thread, ::gettid())) {
        // Another handler ends the program: the one that this one interrupts, or one on another thread.
        if (ending_thread == ::gettid()) return;
        for (;;)
            ::pause();
    }
    detail::remove_temporary_files();
    if (bar) say("\r\033[K");
    for (const Ending& ending : endings) {
        if (ending.signal == signal && (signal != SIGTERM || !sigterm_is_silent)) say(ending.message);
    }
    std::signal(signal, SIG_DFL);
    sigset_t this_one;
    ::sigemptyset(&this_one);
    ::sigaddset(&this_one, signal);
    ::pthread_sigmask(SIG_UNBLOCK, &this_one, nullptr);
    ::raise(signal);
}

void install(int signal, void (*handler)(int)) {
    struct sigaction action {};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    ::sigaction(signal, &action, nullptr);
}

void (*handler_of(int signal))(int) {
    struct sigaction now {};
    return ::sigaction(signal, nullptr, &now) != 0 ? SIG_IGN : now.sa_handler;
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

void silence_sigterm() {
    sigterm_is_silent = true;
}

void catch_interrupts() {
    for (const auto& [signal, message] : endings) {
        keeps_ignored[signal] = handler_of(signal) == SIG_IGN;
        // A preloaded profiler keeps its handler.
        if (handler_of(signal) == SIG_DFL) install(signal, handle);
    }
    // Writing beyond the limit of a file's size then fails with a reason.
    if (handler_of(SIGXFSZ) == SIG_DFL) std::signal(SIGXFSZ, SIG_IGN);
    // A shell's `trap '' CHLD` is inherited, and hides from waitpid() how a process has ended.
    if (handler_of(SIGCHLD) == SIG_IGN) std::signal(SIGCHLD, SIG_DFL);
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

void bar_is_shown(bool shown) {
    bar = shown;
}

}  // namespace concord::app
