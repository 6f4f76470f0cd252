#pragma once
/// What algorithms on matrices and volumes check of shapes.

#include <concord/span.hpp>
#include <concord/variant.hpp>

#include <initializer_list>

namespace concord::detail {

/// The part of a view that a matrix in C order takes, from its first element to its last, its rows being `pitch` elements
/// apart; a pitch of 0 becomes a row's length. Throws invalid_argument if the pitch is shorter, or the view.
View matrix_part(const char* algorithm, const char* name, const View& view, u64 rows, u64 columns,
                 u64& pitch);

/// Whether as many groups as the product of these says can be counted in 31 bits, as kernels do.
Support supports_groups(std::initializer_list<u64> counts);

}  // namespace concord::detail
