#include <concord/internal/host_threads.hpp>

#include <concord/error.hpp>
#include <concord/internal/environment.hpp>
#include <concord/internal/processor.hpp>

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <fstream>
#include <string>
#include <system_error>

namespace concord::detail {
namespace {

constexpr u32 max_threads = 4096;

std::atomic<u32> chosen = 0;  // 0: by the environment

// Uses the affinity of the main thread, like oneTBB, because the caller's thread may be bound to one processor. More
// threads than the control groups grant would be stopped for part of each period.
u32 usable_processors() {
    cpu_set_t set;
    CPU_ZERO(&set);
    const int count = sched_getaffinity(getpid(), sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
    const u32 present =
        count > 0 ? static_cast<u32>(count) : std::max(1U, std::thread::hardware_concurrency());
    std::ifstream groups("/proc/self/cgroup");
    const std::string text{std::istreambuf_iterator<char>(groups), {}};
    return std::min(present, processor_quota(text).value_or(present));
}

}  // namespace

void choose_host_threads(u32 threads) {
    chosen = std::min(threads, max_threads);
}

bool host_threads_are_chosen() {
    return chosen != 0 || !environment_variable("CONCORD_THREADS").empty();
}

u32 host_threads() {
    if (const u32 threads = chosen; threads != 0) return threads;
    const std::string_view text = environment_variable("CONCORD_THREADS");
    if (text.empty()) return usable_processors();
    u32 threads = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), threads);
    if (error != std::errc() || end != text.data() + text.size() || threads < 1)
        throw Error(
            ErrorCode::unavailable, "CONCORD_THREADS",
            error_message("invalid number of threads", detail::quoted(text), "expected a number from 1"));
    return std::min(threads, max_threads);
}

std::thread start_thread(std::string_view call, std::function<void()> f) {
    try {
        return std::thread(std::move(f));
    } catch (const std::system_error& error) {
        throw Error(ErrorCode::out_of_memory, call,
                    "cannot start a thread; free memory, or raise the limits of the process (ulimit -u, -v)",
                    error.what());
    }
}

}  // namespace concord::detail
