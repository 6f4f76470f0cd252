#pragma once
// Shapes of the matrices in test cases.

#include <concord/detail/checked_size.hpp>

#include <cmath>

namespace concord::lab {

// The side of the largest square of at most n elements.
inline u64 square_side(u64 n) {
    u64 side = static_cast<u64>(std::sqrt(static_cast<double>(n)));
    const auto fits = [n](u64 length) { return (detail::CheckedSize(length) * length).fits(n); };
    while (!fits(side))
        --side;
    while (fits(side + 1))
        ++side;
    return side;
}

// Padding between rows: none; an odd number of elements, so that rows are misaligned; enough to keep 16-byte alignment.
enum class Gaps { none, odd, even };

// Number of elements from the first to the last. `pitch`: elements from one row to the next.
inline u64 extent(u64 rows, u64 columns, u64 pitch) {
    return rows == 0 || columns == 0 ? 0 : (rows - 1) * pitch + columns;
}

}  // namespace concord::lab
