#pragma once
// The lines of array views along one axis, as kernels take them. Kernels in other languages have the same struct
// (nd_lines.kernel).

#include <concord/nd_span.hpp>

namespace concord::detail {

// A line is all indices of one axis at one index of the others, the kept ones. Lines are numbered with the last kept
// axis fastest. Positions and strides count elements.
template <u32 operands>
struct NdLines {
    u64 lines = 0, n = 0;                 // number of lines, and of elements of a line
    u64 kept = 0;                         // number of kept axes, at least 1
    u64 extent[max_rank] = {};            // of the kept axes
    i64 stride[operands][max_rank] = {};  // of the kept axes
    i64 step[operands] = {};              // from one element of a line to the next
    u64 at[operands] = {};                // position of the first element of line 0

    // The position of the first element of a line.
    i64 line_at(u32 operand, u64 line) const {
        i64 position = static_cast<i64>(at[operand]);
        for (u64 axis = kept - 1; axis > 0; --axis) {
            position += static_cast<i64>(line % extent[axis]) * stride[operand][axis];
            line /= extent[axis];
        }
        return position + static_cast<i64>(line) * stride[operand][0];
    }
};

}  // namespace concord::detail
