#pragma once
/// The operands of one call of an algorithm or kernel.

#include <concord/span.hpp>

#include <vector>

namespace concord::lab {

/// Input and output views of one call, in the order of the work's inputs and outputs.
struct Operands {
    std::vector<View> in, out;
};

}  // namespace concord::lab
