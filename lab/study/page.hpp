#pragma once
// Self-contained HTML pages.

#include <concord/study/internal/chart.hpp>

#include <string>
#include <vector>

namespace concord::study {

// A table with a caption, in a region that keyboards can scroll. Failures are highlighted.
std::string html_table(const Rows& rows, const std::string& caption);
// A page: head, style sheet, a link that skips to the contents, and the body.
std::string html_page(const std::string& title, const std::string& header, const std::string& navigation,
                      const std::string& main);
// A data URI ("data:...") for a link.
std::string data_uri(const std::string& text, const char* type);

// Style sheets: of charts, and what pages need in addition.
extern const char *const chart_style, *const page_style;

}  // namespace concord::study
