#pragma once
// What the source of an operator calls and computes, found without compiling it.

#include <concord/function.hpp>

namespace concord::detail {

// The first function that the source calls and that devices may compute differently. Empty if there is none. `text`:
// one definition in the common subset. Finds calls with parentheses around the name, and with comments in between.
std::string unportable_call(std::string_view text);
// The same if the source may also call these functions.
std::string unportable_call(std::string_view text, const std::vector<const NamedFunction*>& known);

// The functions of CONCORD_FUNCTION that the source calls, directly or through others, each after those that it calls.
// Of several with one name it takes the one of this file. Throws invalid_argument if none is there and they differ.
std::vector<const NamedFunction*> functions_called(std::string_view text, std::string_view file);
// The text of a function under its name.
std::string named(std::string_view text, std::string_view name);

// Whether the source may divide or take the square root of f32 values: it contains `/` or `sqrt`, and f32 is among its
// types. Also true if only integers or f64 values are divided next to f32 ones.
bool may_divide_f32(const Operator& op);

}  // namespace concord::detail
