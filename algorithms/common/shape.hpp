#pragma once
// Shape checks of the algorithms on matrices and volumes.

#include <concord/detail/checked_size.hpp>
#include <concord/span.hpp>
#include <concord/variant.hpp>

#include <initializer_list>
#include <string>

namespace concord::detail {

// Number of elements from the first to the last of a row-major matrix with rows `pitch` elements apart.
constexpr CheckedSize matrix_extent(u64 rows, u64 columns, u64 pitch) {
    return rows == 0 || columns == 0 ? CheckedSize(0) : CheckedSize(rows - 1) * pitch + columns;
}

// The sides of a matrix or volume, as in "2 x 3 x 4".
std::string size_name(std::initializer_list<u64> sides);

// Returns the part of a view from the first to the last element of a row-major matrix with rows `pitch` elements
// apart. A pitch of 0 becomes the number of columns. Throws invalid_argument if the pitch or the view is too short.
View matrix_part(const char* algorithm, const char* name, const View& view, u64 rows, u64 columns,
                 u64& pitch);

// Whether the product of the counts fits in 31 bits, in which kernels count groups.
Support supports_groups(std::initializer_list<u64> counts);

}  // namespace concord::detail
