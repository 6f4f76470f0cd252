#pragma once
// What the fuzzers share. A fuzzer is a file NAME.cpp that defines LLVMFuzzerTestOneInput, and seeds in corpus/NAME. It
// ends the process if the library accepts what it must refuse, or computes a wrong result.

#include <concord/error.hpp>
#include <concord/log.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

// Runs one input. libFuzzer or replay.cpp calls it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace concord::fuzz {

// Warnings about invalid input are expected.
inline const bool quiet = (set_log_level("off"), true);

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
    return {reinterpret_cast<const char*>(data), size};
}

// Ends the process unless the condition holds.
inline void require(bool condition, const char* what) {
    if (condition) return;
    std::fprintf(stderr, "violated: %s\n", what);
    std::abort();
}

// Whether f returns instead of throwing an Error with this code. Ends the process if it throws anything else.
template <class F>
bool accepts(ErrorCode refusal, const F& f) {
    try {
        f();
        return true;
    } catch (const Error& error) {
        require(error.code() == refusal, error.what());
        return false;
    }
}

}  // namespace concord::fuzz
