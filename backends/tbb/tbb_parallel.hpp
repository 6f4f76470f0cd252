#pragma once
// TbbDevice::parallel. ThreadSanitizer does not see the synchronisation inside oneTBB, whose library is not
// instrumented. Annotations therefore report fork and join to it, and oneTBB's templates are compiled without it.

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

// Calls part(call, first, last) for parts of [0, count).
using Part = void (*)(void* call, u64 first, u64 last);
void run_parallel(tbb::task_arena& arena, u64 count, u64 grain, Part part, void* call);

template <class Body>
void TbbDevice::parallel(u64 count, u64 grain, const Body& body) {
    if (count <= grain || traits().units == 1) return body(u64{0}, count);
    // Two tokens. A single one would order the end of a part before the start of the next and hide races.
    struct Call {
        const Body& body;
        char join = 0;
    };
    Call call{body};
    publish(&call);
    run_parallel(
        arena_, count, grain,
        [](void* token, u64 first, u64 last) {
            observe(token);
            auto& call = *static_cast<Call*>(token);
            call.body(first, last);
            publish(&call.join);
        },
        &call);
    observe(&call.join);
}

}  // namespace concord::tbb_backend
