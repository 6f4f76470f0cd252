// The report as an HTML page.

#include "page.hpp"

#include "sections.hpp"

#include <algorithm>

namespace concord::study {
namespace {

std::string tag(const char* name, const std::string& inside, const std::string& attributes = {}) {
    return std::string("<") + name + (attributes.empty() ? "" : " " + attributes) + ">" + inside + "</" +
           name + ">";
}

// Escapes text, and marks `names` in backquotes as code.
std::string prose(const std::string& text) {
    std::string html = escaped(text);
    for (std::size_t begin = 0; (begin = html.find('`', begin)) != std::string::npos;) {
        const std::size_t end = html.find('`', begin + 1);
        if (end == std::string::npos) break;
        html = html.replace(end, 1, "</code>").replace(begin, 1, "<code>");
    }
    return html;
}

// Escapes text, and writes "2^20" with a superscript.
std::string shown(const std::string& text) {
    std::string html = prose(text);
    for (std::size_t at = 0; (at = html.find("2^", at)) != std::string::npos;) {
        const std::size_t end = std::min(html.find_first_not_of("0123456789", at + 2), html.size());
        const std::string power = "2<sup>" + html.substr(at + 2, end - at - 2) + "</sup>";
        html.replace(at, end - at, power);
        at += power.size();
    }
    return html;
}

bool is_bad(const std::string& cell) {
    return cell == "failed" || cell == "FAILED" || cell == "DIFFERS" || cell == "WRONG";
}

std::string problems_of(const Chart& chart) {
    const Problems problems = problems_in(chart);
    std::string list;
    for (const Result* r : problems.failed)
        list += tag("li", tag("span", "failed", "class=\"bad\"") + ": " + shown(r->title()) + ": " +
                              escaped(r->problem));
    if (!problems.left_out.empty()) list += tag("li", escaped(problems.left_out));
    return list.empty() ? "" : tag("ul", list, "class=\"problems\"");
}

std::string legend_of(const Chart& chart) {
    std::string list;
    if (!chart.bars) {
        for (std::size_t k = 0; k < chart.series.size(); ++k)
            list += tag("li", legend_mark(k) + tag("span", escaped(chart.series[k].name)));
    }
    for (std::size_t k = 0; k < chart.guides.size(); ++k)
        list += tag("li", legend_guide(k) + tag("span", escaped(chart.guides[k].name)));
    return list.empty() ? "" : tag("ul", list, "class=\"legend\"");
}

std::string figure_of(const Chart& chart, const std::string& id, const std::string& file,
                      const std::string& csv) {
    const std::string caption =
        tag("figcaption",
            tag("h4", shown(chart.title)) + (chart.text.empty() ? "" : tag("p", prose(chart.text))));
    const std::string link =
        tag("a", "CSV",
            "download=\"" + escaped(file) + "\" href=\"" + data_uri(csv, "text/csv") + "\" aria-label=\"" +
                escaped("CSV of " + chart.figure + ": " + chart.title) + "\"");
    const std::string table = html_table(table_of(chart), chart.figure + ": " + chart.title);
    std::string remarks;
    for (const std::string& remark : chart.remarks)
        remarks += tag("p", prose(remark), "class=\"caption\"");
    if (!chart.matrix.empty())
        return tag("figure", caption + table + remarks + tag("div", link, "class=\"below\""),
                   "class=\"wide\" id=\"" + id + "\"");
    const std::string drawing =
        chart.marks() == 0 ? tag("p", "No measurement succeeded.") : svg_of(chart, id) + legend_of(chart);
    return tag("figure",
               caption + drawing + problems_of(chart) +
                   tag("div", tag("details", tag("summary", "Table") + table) + link, "class=\"below\""),
               "id=\"" + id + "\"");
}

std::string devices_table(const Records& records) {
    return tag(
        "div",
        html_table(
            devices_rows(records),
            "Devices and their ceilings: highest rates and shortest latency, measured in the same run"),
        "class=\"devices\"");
}

}  // namespace

std::string html_table(const Rows& rows, const std::string& caption) {
    std::string head, body;
    for (const std::string& name : rows.front())
        head += tag("th", escaped(title_of(name)),
                    is_number(name) ? "scope=\"col\" class=\"num\"" : "scope=\"col\"");
    for (std::size_t r = 1; r < rows.size(); ++r) {
        std::string line;
        for (std::size_t k = 0; k < rows[r].size(); ++k) {
            std::string css = is_number(rows.front()[k]) ? "num" : "";
            if (is_bad(rows[r][k])) css += css.empty() ? "bad" : " bad";
            if (rows[r][k] == "changed") css += " changed";
            line += k == 0 ? tag("th", shown(rows[r][k]), "scope=\"row\"")
                           : tag("td", shown(rows[r][k]), css.empty() ? "" : "class=\"" + css + "\"");
        }
        body += tag("tr", line);
    }
    return tag(
        "div",
        tag("table", tag("caption", shown(caption)) + tag("thead", tag("tr", head)) + tag("tbody", body)),
        "class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"" + escaped("Table: " + caption) +
            "\"");
}

std::string data_uri(const std::string& text, const char* type) {
    static const char* const hex = "0123456789ABCDEF";
    std::string uri = std::string("data:") + type + ";charset=utf-8,";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           c == '-' || c == '.' || c == '_' || c == ',' || c == ':';
        if (plain)
            uri += c;
        else
            uri.append("%").append(1, hex[byte >> 4]).append(1, hex[byte & 15]);
    }
    return uri;
}

std::string html_page(const std::string& title, const std::string& header, const std::string& navigation,
                      const std::string& main) {
    return "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" + escaped(title) +
           "</title><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><link "
           "rel=\"icon\" href=\"data:,\"><style>" +
           std::string(chart_style) + page_style +
           "</style></head>\n<body><a class=\"skip\" href=\"#main\">Skip to the results</a>\n<header>" +
           tag("h1", escaped(title)) + header + "</header>\n" + navigation +
           "\n<main id=\"main\" tabindex=\"-1\">" + main + "</main></body></html>\n";
}

std::string report(const Records& records, const Save& save) {
    std::string sections, links;
    for_each_section(records, [&](const Study& study, const std::vector<Drawn>& drawn) {
        std::string figures;
        for (const Drawn& one : drawn) {
            std::string charts;
            for (const auto& [id, chart] : one.charts) {
                const std::string csv = csv_of(chart);
                save(id + ".csv", csv);
                charts += figure_of(chart, id, id + ".csv", csv) + "\n";
            }
            figures +=
                tag("h3", prose(one.figure.title)) +
                (one.figure.caption.empty() ? "" : tag("p", prose(one.figure.caption), "class=\"caption\"")) +
                tag("div", charts, "class=\"charts\"");
        }
        links += tag("li", tag("a", prose(study.title), "href=\"#" + study.name + "\""));
        sections += "\n" + tag("section",
                               tag("h2", prose(study.title), "id=\"" + study.name + "-title\"") +
                                   tag("p", prose(study.question), "class=\"question\"") +
                                   tag("p", prose(study.text)) + figures,
                               "id=\"" + study.name + "\" aria-labelledby=\"" + study.name + "-title\"");
    });
    const std::string header =
        tag("p", escaped(machine_words(records.run)), "class=\"soft\"") +
        tag("p", std::string(how_measured) + " Vertical bars span the quartiles. All numbers: " +
                     tag("a", "results.json", "href=\"results.json\"") + ", and the CSV files in " +
                     tag("code", "csv/") + ".") +
        (records.devices.empty() ? "" : devices_table(records));
    return html_page("Concord: studies", header, "<nav aria-label=\"Studies\"><ul>" + links + "</ul></nav>",
                     sections);
}

std::string results_json(const Records& records) {
    ordered_json root = records.run;
    root.erase("kind");
    root["devices"] = ordered_json::array();
    root["results"] = ordered_json::array();
    root["checks"] = root["files"] = ordered_json::array();
    for (const auto& [from, name] :
         {std::pair(&records.devices, "devices"), std::pair(&records.lines, "results"),
          std::pair(&records.checks, "checks"), std::pair(&records.files, "files")}) {
        for (ordered_json line : *from) {
            line.erase("kind");
            root[name].push_back(std::move(line));
        }
    }
    return root.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace concord::study
