#pragma once
// Detection of calls in a child of fork(), which has none of the backends' threads and would wait for them forever.

#include <atomic>

namespace concord::detail {

// Set in a child process if its parent had loaded the backends.
extern std::atomic<bool> in_forked_child;

// Makes later forks set in_forked_child. Called before backends are loaded, by one thread at a time.
void watch_forks();

[[noreturn]] void refuse_forked(const char* call);

// Throws unavailable in a child process whose parent had loaded the backends. Call it before any lock, because a thread
// of the parent may have held the lock.
inline void check_not_forked(const char* call) {
    if (in_forked_child.load(std::memory_order_relaxed)) [[unlikely]]
        refuse_forked(call);
}

}  // namespace concord::detail
