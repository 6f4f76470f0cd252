#pragma once
// TbbDevice::parallel. ThreadSanitizer does not see oneTBB's own synchronization (the library is not
// instrumented), so the fork and the join are told to it.

#include <tbb/parallel_for.h>

#if defined(__SANITIZE_THREAD__)
#define CONCORD_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CONCORD_TSAN 1
#endif
#endif
#if defined(CONCORD_TSAN)
extern "C" void __tsan_acquire(void*);  // NOLINT(bugprone-reserved-identifier): the sanitizer's interface
extern "C" void __tsan_release(void*);  // NOLINT(bugprone-reserved-identifier)
#endif

namespace concord::tbb_backend {

namespace detail {
inline void publish([[maybe_unused]] void* token) {
#if defined(CONCORD_TSAN)
    __tsan_release(token);
#endif
}
inline void observe([[maybe_unused]] void* token) {
#if defined(CONCORD_TSAN)
    __tsan_acquire(token);
#endif
}
}  // namespace detail

template <class Body>
void TbbDevice::parallel(u64 count, u64 grain, const Body& body) {
    if (count <= grain || traits().units == 1) return body(u64{0}, count);
    char fork = 0, join = 0;
    detail::publish(&fork);
    arena_.execute([&] {
        tbb::parallel_for(tbb::blocked_range<u64>(0, count, grain),
                          [&](const tbb::blocked_range<u64>& range) {
                              detail::observe(&fork);
                              body(range.begin(), range.end());
                              detail::publish(&join);
                          });
    });
    detail::observe(&join);
}

}  // namespace concord::tbb_backend
