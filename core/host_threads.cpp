#include <concord/internal/host_threads.hpp>

#include <concord/error.hpp>

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string>
#include <thread>

namespace concord::detail {
namespace {

// Uses the affinity of the main thread, like oneTBB, because the caller's thread may be bound to one processor.
u32 usable_processors() {
    cpu_set_t set;
    CPU_ZERO(&set);
    const int count = sched_getaffinity(getpid(), sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
    return count > 0 ? static_cast<u32>(count) : std::max(1U, std::thread::hardware_concurrency());
}

}  // namespace

u32 host_threads() {
    const char* asked = std::getenv("CONCORD_THREADS");
    if (asked == nullptr || *asked == '\0') return usable_processors();
    const std::string_view text = asked;
    int threads = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), threads);
    if (error != std::errc() || end != text.data() + text.size() || threads < 1)
        throw Error(
            ErrorCode::unavailable, "CONCORD_THREADS",
            error_message("invalid number of threads", detail::quoted(text), "expected a number from 1"));
    return static_cast<u32>(std::min(threads, 4096));
}

}  // namespace concord::detail
