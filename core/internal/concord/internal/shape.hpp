#pragma once
// Names and sizes of shapes.

#include <concord/detail/checked_size.hpp>

#include <initializer_list>
#include <string>

namespace concord::detail {

// The extents of a matrix or volume, as in "2 x 3 x 4".
std::string size_name(std::initializer_list<u64> extents);

// Number of elements from the first to the last of `lines` lines of `length` elements, `pitch` elements apart.
constexpr CheckedSize matrix_extent(u64 lines, u64 length, u64 pitch) {
    return lines == 0 || length == 0 ? CheckedSize(0) : CheckedSize(lines - 1) * pitch + length;
}

}  // namespace concord::detail
