#include <concord/internal/number_text.hpp>
#include <concord/study/internal/chart.hpp>

#include <concord/lab/ceilings.hpp>
#include <concord/lab/table.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace concord::study {
namespace {

using lab::rounded;

// With the largest of the prefixes that leaves at least 1, after rounding to three digits. `value` has the first one.
std::string with_prefix(double value, std::initializer_list<const char*> prefixes, const char* unit) {
    const char* const* prefix = prefixes.begin();
    for (; value >= 999.5 && prefix + 1 != prefixes.end(); ++prefix)
        value /= 1000;
    return rounded(value) + " " + *prefix + unit;
}

std::string quartiles(const Chart& chart, const Mark& mark) {
    if (!mark.low || !mark.high) return {};
    return chart.y.write(std::min(*mark.low, *mark.high)) + " … " +
           chart.y.write(std::max(*mark.low, *mark.high));
}

Rows bars_table(const Chart& chart) {
    Rows rows = {{"name", ">size", ">" + chart.y.name, ">quartiles", ">time", ">fraction of the ceiling",
                  ">" + chart.notes}};
    for (const Series& series : chart.series) {
        for (const Mark& mark : series.marks) {
            const Result* r = mark.of;
            const std::string fraction = r == nullptr ? "" : fraction_of(*r);
            rows.push_back({mark.label, r == nullptr ? "" : lab::size_name(r->n), chart.y.write(mark.y),
                            quartiles(chart, mark), r == nullptr ? "" : time_of(*r),
                            fraction.empty() ? "" : fraction + " " + r->ceiling, mark.note});
        }
    }
    for (const Result* r : chart.missing)
        rows.push_back(
            {r->variant, lab::size_name(r->n), r->left_out() ? "left out" : "failed", "", "", "", ""});
    return rows;
}

// Removes columns without values.
void remove_empty_columns(Rows& rows) {
    if (rows.size() < 2) return;
    for (std::size_t column = rows.front().size(); column-- > 1;) {
        if (std::all_of(rows.begin() + 1, rows.end(), [&](const auto& row) { return row[column].empty(); })) {
            for (auto& row : rows)
                row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
        }
    }
}

Rows lines_table(const Chart& chart) {
    Rows rows = {{chart.x.name}};
    std::vector<std::map<double, double>> columns;
    std::set<double> places;  // only positions of marks, so that every row has a value
    for (const Series& series : chart.series) {
        rows.front().push_back(">" + series.name + (chart.series.size() == 1 ? ", " + chart.y.name : ""));
        columns.emplace_back();
        for (const Mark& mark : series.marks) {
            columns.back().emplace(mark.x, mark.y);
            places.insert(mark.x);
        }
    }
    for (const Guide& guide : chart.guides) {
        rows.front().push_back(">" + guide.name);
        columns.emplace_back(guide.points.begin(), guide.points.end());
    }
    for (const double x : places) {
        rows.push_back({chart.x.write(x)});
        for (const auto& column : columns) {
            const auto at = column.find(x);
            rows.back().push_back(at == column.end() ? "" : chart.y.write(at->second));
        }
    }
    return rows;
}

// Nine significant digits, for programs.
std::string plain(double value) {
    return detail::general_text(value, 9);
}

std::string csv_line(const std::vector<std::string>& fields) {
    std::string line;
    for (const std::string& field : fields)
        line += (&field == &fields.front() ? "" : ",") + lab::csv_field(field);
    return line + '\n';
}

}  // namespace

std::string rate(double per_second, const char* unit) {
    return with_prefix(per_second * 1e-3, {"k", "M", "G", "T", "P"}, unit);
}

std::string factor(double value) {
    return rounded(value) + "x";
}

std::string time_of(const Result& r) {
    return r.ms ? Scale{.unit = Scale::Unit::milliseconds}.write(*r.ms) + (r.note.empty() ? "" : " *") : "";
}

std::string fraction_of(const Result& r) {
    if (!r.ms || !r.ceiling_ms) return {};
    const double fraction = *r.ceiling_ms / *r.ms;
    return fraction > lab::max_of_ceiling ? "> 100 %" : rounded(fraction * 100, 2) + " %";
}

std::string Scale::write(double value) const {
    switch (unit) {
        case Unit::count:
            return std::floor(value) == value ? std::to_string(static_cast<u64>(value)) : rounded(value, 6);
        case Unit::power_of_two:
            return lab::size_name(static_cast<u64>(value));
        case Unit::milliseconds:
            return with_prefix(value * 1e6, {"n", "µ", "m", ""}, "s");
        case Unit::gb_per_s:
            return rate(value * 1e9, "B/s");
        case Unit::gflop_per_s:
            return rate(value * 1e9, "FLOP/s");
        case Unit::items_per_s:
            return rate(value * 1e9, "/s");
        case Unit::percent:
            return rounded(value, value < 10 ? 2 : 3) + " %";
        case Unit::factor:
            return factor(value);
    }
    return {};
}

bool is_number(const std::string& header) {
    return header.starts_with('>');
}

std::string title_of(const std::string& header) {
    return header.substr(is_number(header) ? 1 : 0);
}

u64 Chart::marks() const {
    u64 sum = 0;
    for (const Series& one : series)
        sum += one.marks.size();
    return sum;
}

Rows table_of(const Chart& chart) {
    if (!chart.matrix.empty()) return chart.matrix;
    Rows rows = chart.bars ? bars_table(chart) : lines_table(chart);
    remove_empty_columns(rows);
    return rows;
}

std::string csv_of(const Chart& chart) {
    std::string text;
    if (!chart.matrix.empty()) {
        Rows rows = chart.matrix;
        for (std::string& name : rows.front())
            name = title_of(name);
        for (const auto& row : rows)
            text += csv_line(row);
        return text;
    }
    text =
        "series,x,y,algorithm,workload,variant,device,threads,type,n,median_ms,q1_ms,q3_ms,ceiling,ceiling_"
        "ms,problem\n";
    auto number = [](const std::optional<double>& value) {
        return value ? rounded(*value, 6) : std::string();
    };
    auto line = [&](const std::string& series, const Mark* mark, const Result* r) {
        std::vector<std::string> fields = {series, "", ""};
        if (mark != nullptr) {
            fields[1] = chart.bars ? mark->label : plain(mark->x);
            fields[2] = plain(mark->y);
        }
        if (r == nullptr)
            fields.resize(16);
        else
            fields.insert(fields.end(), {r->algorithm, r->workload, r->variant, r->device,
                                         r->threads == 0 ? "" : std::to_string(r->threads), r->type,
                                         std::to_string(r->n), number(r->ms), number(r->q1), number(r->q3),
                                         r->ceiling, number(r->ceiling_ms), r->problem});
        text += csv_line(fields);
    };
    for (const Series& series : chart.series) {
        for (const Mark& mark : series.marks)
            line(series.name, &mark, mark.of);
    }
    for (const Result* r : chart.missing)
        line(r->variant, nullptr, r);
    return text;
}

}  // namespace concord::study
