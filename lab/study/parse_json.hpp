#pragma once
// Parses JSON that others may have written.

#include <concord/types.hpp>

#include <nlohmann/json.hpp>

#include <string_view>

namespace concord::study {

// Limits of nesting. Copies, comparisons and output of values recurse. Concord writes at most 8 levels; results contain
// imported files.
inline constexpr int max_levels_of_file = 32, max_levels_of_results = 64;

// The value that the text contains. A discarded value, like that of the library's parse(), if the text is not JSON or
// has more levels.
nlohmann::ordered_json parse_json(std::string_view text, int max_levels);

// The value of a whole number. Throws a JSON exception for any other value. The library's get() converts negative
// numbers and fractions, and its behaviour is undefined for those that do not fit.
u64 whole_number(const nlohmann::ordered_json& value);

}  // namespace concord::study
