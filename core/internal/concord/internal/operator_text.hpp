#pragma once
// What the source of an operator calls and computes, found without compiling it.

#include <concord/function.hpp>

namespace concord::detail {

// The first function that the source calls and that devices may compute differently. Empty if there is none. `text`:
// one definition in the common subset. Finds calls with parentheses around the name, and with comments in between.
std::string unportable_call(std::string_view text);

// Whether the source may divide or take the square root of f32 values: it contains `/` or `sqrt`, and f32 is among its
// types. Also true if only integers or f64 values are divided next to f32 ones.
bool may_divide_f32(const Operator& op);

}  // namespace concord::detail
