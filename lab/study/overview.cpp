// Draws overviews as SVG. A media query makes letters larger on phones, which show the drawing at half its size.

#include "overview.hpp"

#include "page.hpp"
#include "svg.hpp"

#include <algorithm>
#include <sstream>

namespace concord::study {
namespace {

constexpr double full_width = 760, margin = 12, names = 104, gap = 8;
constexpr double line_height = 23, row_height = 27, box_height = 21, value_width = 64;

const char* const overview_style = R"(.faster { fill: var(--s0); } .slower { fill: var(--s1); }
.plot text { font-size: 13px; } .plot .title { font-size: 15px; }
@media (max-width: 520px) { .plot text { font-size: 17.5px; } .plot .title { font-size: 20px; } }
)";

std::string rectangle(double x, double y, double wide, const std::string& css) {
    return "<rect class=\"" + css + "\" x=\"" + at(x) + "\" y=\"" + at(y) + "\" width=\"" +
           at(std::max(wide, 1.0)) + "\" height=\"" + at(box_height) + "\" rx=\"2\"/>";
}

std::vector<std::string> lines_of(std::string text) {
    std::vector<std::string> lines;
    for (std::size_t end = 0; (end = text.find(", ")) != std::string::npos; text.erase(0, end + 2))
        lines.push_back(text.substr(0, end));
    lines.push_back(text);
    return lines;
}

// Lines of at most `most` letters.
std::vector<std::string> wrapped(const std::string& text, std::size_t most) {
    std::vector<std::string> lines = {""};
    std::istringstream words(text);
    for (std::string word; words >> word;) {
        if (!lines.back().empty() && lines.back().size() + 1 + word.size() > most) lines.emplace_back();
        lines.back() += (lines.back().empty() ? "" : " ") + word;
    }
    return lines;
}

std::string cell_at(double x, double y, double wide, const Overview::Cell& cell) {
    const double inside = cell.value.empty() ? wide : wide - value_width;
    std::string drawn;
    for (const Overview::Box& box : cell.boxes) {
        drawn += rectangle(x + box.from * inside, y, (box.to - box.from) * inside, box.css);
        if (!box.text.empty())
            drawn +=
                text_at(x + (box.from + box.to) / 2 * inside, y + 16, "middle", escaped(box.text), "name");
    }
    if (cell.axis >= 0)
        drawn += "<path class=\"axis\" d=\"M" + at(x + cell.axis * inside) + " " + at(y - 3) + "v" +
                 at(row_height) + "\"/>";
    if (!cell.value.empty()) drawn += text_at(x + wide, y + 16, "end", escaped(cell.value), "name");
    return drawn;
}

}  // namespace

std::string svg_file(const Overview& overview) {
    const double cell = (full_width - 2 * margin - names) / static_cast<double>(overview.columns.size());
    std::size_t most_lines = 0;
    for (const std::string& column : overview.columns)
        most_lines = std::max(most_lines, lines_of(column).size());
    std::string body = text_at(margin, 28, "start", escaped(overview.title), "title");
    double y = 54;
    const auto left = [&](std::size_t column) {
        return margin + names + cell * static_cast<double>(column) + gap;
    };
    for (std::size_t k = 0; k < overview.columns.size(); ++k) {
        double line_y = y;
        for (const std::string& line : lines_of(overview.columns[k])) {
            body += text_at(left(k), line_y, "start", escaped(line), line_y == y ? "name" : "soft");
            line_y += line_height;
        }
    }
    y += line_height * static_cast<double>(most_lines) - 10;
    for (const Overview::Row& row : overview.rows) {
        body += text_at(margin, y + 16, "start", escaped(row.name), "name");
        for (std::size_t k = 0; k < row.cells.size(); ++k)
            body += cell_at(left(k), y, cell - gap, row.cells[k]);
        body += '\n';
        y += row_height;
    }
    y += 8;
    for (const auto& [css, meaning] : overview.legend) {
        if (!css.empty()) body += rectangle(margin, y, box_height, css);
        for (const std::string& line : wrapped(meaning, 72)) {
            body +=
                text_at(margin + (css.empty() ? 0 : box_height + 8), y + 16, "start", escaped(line), "soft");
            y += line_height;
        }
        y += row_height - line_height;
    }
    const std::string size = at(full_width) + "\" height=\"" + at(y + margin);
    return "<svg class=\"plot\" xmlns=\"http://www.w3.org/2000/svg\" width=\"" + size + "\" viewBox=\"0 0 " +
           at(full_width) + " " + at(y + margin) +
           "\" role=\"img\" aria-labelledby=\"t d\">\n<title id=\"t\">" + escaped(overview.title) +
           "</title><desc id=\"d\">" + escaped(overview.description) + "</desc>\n<style>" + chart_style +
           overview_style + "</style>\n<rect class=\"card\" width=\"" + size + "\" rx=\"8\"/>\n" + body +
           "</svg>\n";
}

}  // namespace concord::study
