#include "check_worker.hpp"

#include <concord/error.hpp>

#include <fcntl.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

namespace concord::app {
namespace {

constexpr const char* worker_option = "--check-worker";

bool worker = false;
std::vector<char*> arguments;  // of main(), with a null pointer at the end

[[noreturn]] void fail(int error) {
    throw Error(ErrorCode::unavailable, "check", "cannot start another process", std::strerror(error));
}

}  // namespace

void add_worker_option(CLI::App& program, int argc, char** argv) {
    arguments.assign(argv, argv + argc + 1);
    program.add_flag(worker_option, worker)->group("");
}

bool is_worker() {
    return worker;
}

WorkerProcess start_worker() {
    int ends[2], messages[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) fail(errno);
    if (::pipe2(messages, O_CLOEXEC) != 0) {
        const int error = errno;
        ::close(ends[0]);
        ::close(ends[1]);
        fail(error);
    }
    std::vector<char*> words = arguments;
    words.insert(words.begin() + 1, const_cast<char*>(worker_option));
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
    // What a driver prints is not part of the report.
    ::posix_spawn_file_actions_adddup2(&actions, messages[1], STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, messages[1], STDERR_FILENO);
    WorkerProcess process{.channel = ends[0], .messages = messages[0]};
    const int error = ::posix_spawn(&process.id, "/proc/self/exe", &actions, nullptr, words.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    ::close(messages[1]);
    if (error == 0) return process;
    ::close(ends[0]);
    ::close(messages[0]);
    fail(error);
}

int open_worker_channel() {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP})
        std::signal(signal, SIG_IGN);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int channel = ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    // Programs that a driver starts do not inherit the socket.
    const int empty = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (empty >= 0) {
        ::dup2(empty, STDIN_FILENO);
        ::close(empty);
    }
    return channel;
}

}  // namespace concord::app
