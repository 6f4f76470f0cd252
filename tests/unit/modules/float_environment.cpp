// Preloaded (LD_PRELOAD), it gives a program another floating-point environment, as libraries that are linked with
// -ffast-math do. Results of Concord must not depend on it.
//
//     CONCORD_TEST_FLOATS=flush|upward|downward|towardzero   the environment
//     CONCORD_TEST_FLOATS_IN=threads   of all threads but the first one, which runs the tests' own arithmetic.
//                                      Otherwise of all threads.

#include <dlfcn.h>
#include <pthread.h>

#include <cfenv>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>

namespace {

std::string_view variable(const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
}

bool flush_denormals() {
#if defined(__x86_64__)
    constexpr unsigned flush_to_zero = 0x8000, denormals_are_zero = 0x40;
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | flush_to_zero | denormals_are_zero);
    return true;
#else
    return false;
#endif
}

// Of the calling thread, and of those that it starts.
void change_environment() {
    const std::string_view name = variable("CONCORD_TEST_FLOATS");
    const bool done = name == "flush"        ? flush_denormals()
                      : name == "upward"     ? std::fesetround(FE_UPWARD) == 0
                      : name == "downward"   ? std::fesetround(FE_DOWNWARD) == 0
                      : name == "towardzero" ? std::fesetround(FE_TOWARDZERO) == 0
                                             : false;
    if (done) return;
    std::fprintf(stderr, "CONCORD_TEST_FLOATS: not available, got '%s'\n",
                 std::getenv("CONCORD_TEST_FLOATS"));
    std::_Exit(2);
}

bool only_threads() {
    return variable("CONCORD_TEST_FLOATS_IN") == "threads";
}

__attribute__((constructor)) void change_at_start() {
    if (!only_threads()) change_environment();
}

struct Start {
    void* (*function)(void*);
    void* argument;
};

}  // namespace

extern "C" __attribute__((visibility("default"))) int pthread_create(pthread_t* thread,
                                                                     const pthread_attr_t* attributes,
                                                                     void* (*function)(void*),
                                                                     void* argument) noexcept {
    static const auto create =
        reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
    auto* const start = new Start{function, argument};
    const int status = create(
        thread, attributes,
        [](void* given) {
            const std::unique_ptr<Start> start(static_cast<Start*>(given));
            change_environment();
            return start->function(start->argument);
        },
        start);
    if (status != 0) delete start;
    return status;
}
