#pragma once
// Square matrices of about n elements.

#include <concord/types.hpp>

#include <cmath>

namespace concord::lab {

// The side of the largest square of at most n elements.
inline u64 square_side(u64 n) {
    u64 side = static_cast<u64>(std::sqrt(static_cast<double>(n)));
    while (side * side > n)
        --side;
    while ((side + 1) * (side + 1) <= n)
        ++side;
    return side;
}

}  // namespace concord::lab
