#pragma once
// Numbers as text and back, whatever the locale is. printf, strtod and std::to_string use the decimal point of the
// locale that the program has set; files and kernels must not depend on it.

#include <optional>
#include <string>
#include <string_view>

namespace concord::detail {

// As printf's %.*f: `digits` digits after the decimal point. "1.50" for (1.5, 2).
std::string fixed_text(double value, int digits);
// As printf's %.*e. "1.50e+00" for (1.5, 2).
std::string scientific_text(double value, int digits);
// As printf's %.*g: `digits` significant digits. "1.5" for (1.5, 9).
std::string general_text(double value, int digits);

// A GPU's UUID, 16 bytes, as NVIDIA's tools write it: "GPU-01234567-89ab-cdef-0123-456789abcdef".
std::string gpu_uuid_text(std::string_view bytes);

// The number that the whole text is in decimal notation, "inf" or "nan", with an optional sign. Empty if the text is
// something else, or if a double cannot represent its magnitude.
std::optional<double> number_of_text(std::string_view text);

}  // namespace concord::detail
