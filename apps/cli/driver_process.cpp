#include "driver_process.hpp"

#include "program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <new>

namespace concord::app {
namespace {

// What the child tells its parent.
struct Result {
    bool returned = false;
    int status = 0;
    bool could_write = true;  // its output
};

[[noreturn]] void run_child(const std::function<int()>& f, Result& result) {
    const rlimit none{};
    ::setrlimit(RLIMIT_CORE, &none);
    try {
        result.status = f();
    } catch (const std::exception&) {
        result.status = complain_of_exception();
    }
    result.could_write = static_cast<bool>(std::cout.flush());
    std::fflush(nullptr);
    result.returned = true;
    ::_exit(0);  // without destructors of drivers
}

// Passes on what the child writes to stderr until it has ended or the time is over. Returns whether it has ended.
bool pass_on(int from, std::string& last_line, std::chrono::seconds limit,
             const std::function<u64()>& progress) {
    using Clock = std::chrono::steady_clock;
    constexpr int step_ms = 100;
    Clock::time_point deadline = Clock::now() + limit;
    u64 before = progress();
    std::string line;
    char piece[1024];
    pollfd ready{from, POLLIN, 0};
    while (Clock::now() < deadline) {
        if (const u64 now = progress(); now != before) {
            before = now;
            deadline = Clock::now() + limit;
        }
        const int count = ::poll(&ready, 1, step_ms);
        if (count == 0 || (count < 0 && errno == EINTR)) continue;
        const ssize_t n = count > 0 ? ::read(from, piece, sizeof piece) : 0;
        if (n <= 0) return true;
        std::cerr.write(piece, n).flush();
        line.append(piece, static_cast<std::size_t>(n));
        for (std::size_t end = 0; (end = line.find('\n')) != std::string::npos; line.erase(0, end + 1)) {
            if (end > 0) last_line = line.substr(0, end);
        }
    }
    return false;
}

}  // namespace

DriverProcess in_driver_process(const std::function<int()>& f, std::chrono::seconds limit,
                                const std::function<u64()>& progress) {
    void* const shared =
        ::mmap(nullptr, sizeof(Result), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return {.status = f(), .end = {}};
    Result& result = *new (shared) Result;
    int ends[2] = {-1, -1};
    std::cout.flush();
    const pid_t child = ::pipe2(ends, O_CLOEXEC) == 0 ? ::fork() : -1;
    if (child == 0) {
        ::dup2(ends[1], STDERR_FILENO);
        run_child(f, result);
    }
    DriverProcess done;
    if (ends[1] >= 0) ::close(ends[1]);
    if (child < 0) {
        done.status = f();
    } else {
        std::string last_line;
        const bool in_time = pass_on(ends[0], last_line, limit, progress);
        if (!in_time) ::kill(child, SIGKILL);
        int status = 0;
        while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
        }
        done.status = result.status;
        if (!result.could_write) std::cout.setstate(std::ios::badbit);  // this process reports it
        if (!in_time) {
            done.end = "does not return within " + std::to_string(limit.count()) + " seconds";
        } else if (!result.returned) {
            const char* const signal = WIFSIGNALED(status) ? ::sigabbrev_np(WTERMSIG(status)) : nullptr;
            done.end = "ends the process (" +
                       (signal != nullptr ? "SIG" + std::string(signal)
                                          : "status " + std::to_string(WEXITSTATUS(status))) +
                       ")" + (last_line.empty() ? "" : ": " + last_line);
        }
    }
    if (ends[0] >= 0) ::close(ends[0]);
    ::munmap(shared, sizeof(Result));
    return done;
}

}  // namespace concord::app
