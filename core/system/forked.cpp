#include "system/forked.hpp"

#include <concord/error.hpp>

#include <pthread.h>
#include <unistd.h>

#include <string>

namespace concord::detail {

std::atomic<bool> in_forked_child = false;

void watch_forks() {
    static bool watching = false;
    if (watching) return;
    if (pthread_atfork(nullptr, nullptr, [] { in_forked_child.store(true, std::memory_order_relaxed); }) != 0)
        throw Error(ErrorCode::out_of_memory, "open_device", "not enough memory for pthread_atfork");
    watching = true;
}

void refuse_forked(const char* call) {
    throw Error(ErrorCode::unavailable, call,
                error_message("used in a child of fork() after the parent had loaded the backends",
                              "process " + std::to_string(getpid()),
                              "fork before the first call of Concord, or call exec in the child"));
}

}  // namespace concord::detail
