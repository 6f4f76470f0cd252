// Preloaded (LD_PRELOAD), it gives a program and all of its threads another floating-point environment, as libraries
// that are linked with -ffast-math do. CONCORD_TEST_FLOATS names it: flush, upward, downward or towardzero. Results of
// Concord must not depend on it.

#include <cfenv>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

#if defined(__x86_64__)
constexpr unsigned flush_to_zero = 0x8000, denormals_are_zero = 0x40;
void flush_denormals() {
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | flush_to_zero | denormals_are_zero);
}
constexpr bool can_flush = true;
#else
void flush_denormals() {}
constexpr bool can_flush = false;
#endif

// Threads inherit it from the thread that starts them.
__attribute__((constructor)) void change_environment() {
    const char* const text = std::getenv("CONCORD_TEST_FLOATS");
    const std::string_view name = text == nullptr ? "" : text;
    bool done = true;
    if (name == "flush") {
        flush_denormals();
        done = can_flush;
    } else if (name == "upward") {
        done = std::fesetround(FE_UPWARD) == 0;
    } else if (name == "downward") {
        done = std::fesetround(FE_DOWNWARD) == 0;
    } else if (name == "towardzero") {
        done = std::fesetround(FE_TOWARDZERO) == 0;
    } else {
        done = false;
    }
    if (done) return;
    std::fprintf(stderr, "CONCORD_TEST_FLOATS: not available, got '%s'\n", text == nullptr ? "" : text);
    std::_Exit(2);
}

}  // namespace
