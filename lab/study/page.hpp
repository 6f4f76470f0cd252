#pragma once
/// Pages of HTML that need nothing beside them.

#include "chart.hpp"

#include <string>
#include <vector>

namespace concord::study {

/// A table with a caption, which may be scrolled by keyboard where the page is narrow; all columns but the first `words` are
/// numbers. Cells that say that something failed stand out.
std::string html_table(const Rows& rows, const std::string& caption, std::size_t words = 1);
/// A whole page: head, style sheet, a link that skips to the contents, and the body.
std::string html_page(const std::string& title, const std::string& header, const std::string& navigation,
                      const std::string& main);
/// "data:...", for a link.
std::string data_uri(const std::string& text, const char* type);

extern const char* const page_style;

}  // namespace concord::study
