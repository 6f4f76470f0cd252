// Calls of the algorithms on ranges at any offset, with any pitch and in place, compared with plain loops. The input
// chooses the algorithm, the variant, types, shapes and places. All ranges are in one buffer, and the whole buffer is
// compared, so that a call that writes outside its output is found. The calls of an algorithm are in api/NAME.cpp.

#include "api.hpp"

#include <fuzz_calls.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace concord::fuzz;
    Choices choices(text_of(data, size));
    choices.any(calls)(choices);
    return 0;
}
