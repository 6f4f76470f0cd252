#include <concord/internal/number_text.hpp>
#include <concord/lab/table.hpp>

#include <concord/error.hpp>
#include <concord/internal/environment.hpp>

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <ostream>

namespace concord::lab {
namespace {

bool is_right_aligned(const Column& column) {
    return !column.header.empty() && column.header.front() == '>';
}

std::string title_of(const Column& column) {
    return column.header.substr(is_right_aligned(column) ? 1 : 0);
}

void print_line(std::ostream& out, const std::vector<Column>& columns, const std::vector<Cell>& cells) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
        const std::size_t width = width_of(cells[i].text);
        const std::string padding(columns[i].width - std::min(columns[i].width, width), ' ');
        const std::string text = painted(cells[i].text, cells[i].tone);
        const bool last = i + 1 == cells.size();
        out << (is_right_aligned(columns[i]) ? padding + text : text + (last ? "" : padding))
            << (last ? "\n" : "  ");
    }
}

void print_headers(std::ostream& out, const std::vector<Column>& columns) {
    std::vector<Cell> headers;
    headers.reserve(columns.size());
    for (const Column& column : columns)
        headers.emplace_back(title_of(column), Tone::faint);
    print_line(out, columns, headers);
}

}  // namespace

std::size_t width_of(const std::string& text) {
    return static_cast<std::size_t>(std::count_if(
        text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

Table::Table(std::vector<std::string> header) {
    for (std::string& name : header)
        columns_.push_back({std::move(name)});
}

void Table::print(std::ostream& out) const {
    std::vector<Column> columns = columns_;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        columns[i].width = width_of(title_of(columns[i]));
        for (const std::vector<Cell>& row : rows_)
            columns[i].width = std::max(columns[i].width, i < row.size() ? width_of(row[i].text) : 0);
    }
    print_headers(out, columns);
    for (const std::vector<Cell>& row : rows_)
        print_line(out, columns, row);
}

StreamedTable::StreamedTable(std::ostream& out, std::vector<Column> columns)
    : out_(out), columns_(std::move(columns)) {
    for (Column& column : columns_)
        column.width = std::max(column.width, width_of(title_of(column)));
}

void StreamedTable::print(const std::vector<Cell>& row) {
    if (empty_) print_headers(out_, columns_);
    empty_ = false;
    print_line(out_, columns_, row);
    out_.flush();
}

std::string painted(const std::string& text, Tone tone) {
    static const bool colours =
        isatty(STDOUT_FILENO) != 0 && concord::detail::environment_variable("NO_COLOR").empty();
    if (!colours || tone == Tone::plain) return text;
    const char* code = tone == Tone::good ? "\033[32m" : tone == Tone::bad ? "\033[1;31m" : "\033[2m";
    return code + text + "\033[0m";
}

std::string bytes_name(u64 bytes) {
    if (bytes < 1024) return std::to_string(bytes) + " B";
    const char* units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = static_cast<double>(bytes) / 1024;
    std::size_t unit = 0;
    for (; value >= 1023.5 && unit + 1 < std::size(units); ++unit)
        value /= 1024;
    return rounded(value, value < 100 ? 3 : 4) + " " + units[unit];
}

std::string size_name(u64 n) {
    constexpr u64 min_power = 1024, min_sum = 100000;
    const u64 below = std::bit_floor(n), above = below * 2;
    const std::string exponent = std::to_string(std::bit_width(n) - 1);
    if (n == below && n >= min_power) return "2^" + exponent;
    if (n < min_sum) return std::to_string(n);
    if (n - below < 100000 && n - below < below / 16)
        return "2^" + exponent + "+" + std::to_string(n - below);
    if (above - n < 1000) return "2^" + std::to_string(std::bit_width(n)) + "-" + std::to_string(above - n);
    return std::to_string(n);
}

std::string size_name(u64 n, const SizeNames& given) {
    const auto it = given.find(n);
    return it == given.end() ? size_name(n) : it->second;
}

void check_sizes(std::string_view call, const std::vector<u64>& sizes, const SizeNames& given) {
    for (const u64 n : sizes) {
        if (n > max_elements)
            throw Error(ErrorCode::invalid_argument, call,
                        detail::error_message("too many elements", detail::quoted(size_name(n, given)),
                                              "the limit is 2^40, more than any machine holds"));
    }
}

std::string rounded(double value, int digits) {
    if (!std::isfinite(value)) return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
    if (value != 0 && std::abs(value) < 1e-4) return detail::scientific_text(value, digits - 1);
    const int before = value == 0 ? 1 : static_cast<int>(std::floor(std::log10(std::abs(value)))) + 1;
    return detail::fixed_text(value, std::max(0, digits - before));
}

std::string escaped(std::string_view text) {
    static const std::map<char, const char*> entities = {
        {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}};
    std::string safe;
    for (const char c : text) {
        const auto it = entities.find(c);
        safe += it == entities.end() ? std::string(1, c) : it->second;
    }
    return safe;
}

std::string csv_field(std::string_view text) {
    if (text.find_first_of(",\"\n") == std::string_view::npos) return std::string(text);
    std::string quoted = "\"";
    for (const char c : text)
        quoted.append(c == '"' ? 2 : 1, c);
    return quoted + '"';
}

}  // namespace concord::lab
