// The tables of the report as Markdown.

#include "sections.hpp"

namespace concord::study {
namespace {

// Joins lines and escapes markup. Backquotes stay code marks in our own text only.
enum class Author { concord, user };

std::string plain(const std::string& text, Author author = Author::concord) {
    constexpr std::string_view special = "\\|*~<[&`";
    std::string safe;
    bool is_code = false;
    for (const char c : text) {
        const bool quotes = author == Author::concord && c == '`';
        if (quotes) is_code = !is_code;
        if (c == '|' || (!is_code && !quotes && special.find(c) != std::string_view::npos)) safe += '\\';
        safe += c == '\n' ? ' ' : c;
    }
    return safe;
}

}  // namespace

std::string markdown_table(const Rows& rows) {
    std::string head = "|", rule = "|", body;
    for (const std::string& name : rows.front()) {
        head += ' ' + plain(title_of(name)) + " |";
        rule += is_number(name) ? "--:|" : "---|";
    }
    for (std::size_t r = 1; r < rows.size(); ++r) {
        body += '|';
        for (const std::string& cell : rows[r])
            body += ' ' + plain(cell) + " |";
        body += '\n';
    }
    return head + '\n' + rule + '\n' + body + '\n';
}

std::string markdown_of(const Chart& chart) {
    std::string text = chart.marks() > 0 || !chart.matrix.empty() ? markdown_table(table_of(chart))
                                                                  : "No measurement succeeded.\n\n";
    for (const std::string& remark : chart.remarks)
        text += plain(remark) + "\n\n";
    const Problems problems = problems_in(chart);
    for (const Result* r : problems.failed)
        text +=
            "- failed: " + plain(r->title(), Author::user) + ": " + plain(r->problem, Author::user) + "\n";
    if (!problems.left_out.empty()) text += "- " + plain(problems.left_out) + "\n";
    if (!problems.failed.empty() || !problems.left_out.empty()) text += '\n';
    return text;
}

std::string markdown(const Records& records) {
    std::string text =
        "# Concord: studies\n\n" + plain(machine_words(records.run)) + "\n\n" + how_measured + "\n\n";
    if (!records.devices.empty()) text += markdown_table(devices_rows(records));
    for_each_section(records, [&](const Study& study, const std::vector<Drawn>& drawn) {
        text +=
            "## " + plain(study.title) + "\n\n" + plain(study.question) + "\n\n" + plain(study.text) + "\n\n";
        for (const Drawn& one : drawn) {
            text += "### " + plain(one.figure.title) + "\n\n";
            if (!one.figure.caption.empty()) text += plain(one.figure.caption) + "\n\n";
            for (const auto& [id, chart] : one.charts) {
                text += "**" + plain(chart.title) + "**" +
                        (chart.text.empty() ? "" : ": " + plain(chart.text)) + "\n\n";
                text += markdown_of(chart);
            }
        }
    });
    text.pop_back();
    return text;
}

}  // namespace concord::study
