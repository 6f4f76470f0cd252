#pragma once
/// @file
/// Operands of one call of an algorithm or kernel.

#include <concord/span.hpp>

#include <vector>

namespace concord::lab {

/// Views of one call.
struct Operands {
    std::vector<View> in;   ///< in the order of Work::inputs
    std::vector<View> out;  ///< in the order of Work::outputs
};

}  // namespace concord::lab
