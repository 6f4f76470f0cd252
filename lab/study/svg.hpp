#pragma once
// Parts of SVG drawings.

#include <string>

namespace concord::study {

// A coordinate, with one decimal.
std::string at(double value);
// A text element. `inside` is escaped, and may have elements of its own. anchor: start, middle or end.
std::string text_at(double x, double y, const char* anchor, const std::string& inside,
                    const char* css = "tick");

}  // namespace concord::study
