#include <concord/lab/table.hpp>

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ostream>

namespace concord::lab {
namespace {

// Removes the mark of a right-aligned column from its header.
bool take_alignment(std::string& header) {
    const bool right = !header.empty() && header.front() == '>';
    if (right) header.erase(0, 1);
    return right;
}

}  // namespace

std::size_t width_of(const std::string& text) {
    return static_cast<std::size_t>(std::count_if(
        text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

Table::Table(std::vector<std::string> header) : header_(std::move(header)) {
    for (std::string& name : header_)
        right_.push_back(take_alignment(name));
}

void Table::print(std::ostream& out) const {
    std::vector<std::size_t> widths;
    for (const std::string& name : header_)
        widths.push_back(width_of(name));
    for (const auto& row : rows_) {
        for (std::size_t i = 0; i < row.size(); ++i)
            widths[i] = std::max(widths[i], width_of(row[i].text));
    }
    auto line = [&](const auto& cells, auto text_of, auto tone_of) {
        for (std::size_t i = 0; i < cells.size(); ++i) {
            const std::string padding(widths[i] - width_of(text_of(cells[i])), ' ');
            const std::string text = painted(text_of(cells[i]), tone_of(cells[i]));
            const bool last = i + 1 == cells.size();
            out << (right_[i] ? padding + text : text + (last ? "" : padding)) << (last ? "\n" : "  ");
        }
    };
    line(
        header_, [](const std::string& name) { return name; },
        [](const std::string&) { return Tone::faint; });
    for (const auto& row : rows_)
        line(
            row, [](const Cell& cell) { return cell.text; }, [](const Cell& cell) { return cell.tone; });
}

StreamedTable::StreamedTable(std::ostream& out, std::vector<Column> columns)
    : out_(out), columns_(std::move(columns)) {
    for (Column& column : columns_) {
        right_.push_back(take_alignment(column.header));
        column.width = std::max(column.width, width_of(column.header));
    }
}

void StreamedTable::print(const std::vector<Cell>& row) {
    if (empty_) {
        std::vector<Cell> headers;
        for (const Column& column : columns_)
            headers.emplace_back(column.header, Tone::faint);
        print_line(headers);
        empty_ = false;
    }
    print_line(row);
    out_.flush();
}

void StreamedTable::print_line(const std::vector<Cell>& cells) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
        const std::size_t width = width_of(cells[i].text);
        const std::string padding(columns_[i].width - std::min(columns_[i].width, width), ' ');
        const std::string text = painted(cells[i].text, cells[i].tone);
        const bool last = i + 1 == cells.size();
        out_ << (right_[i] ? padding + text : text + (last ? "" : padding)) << (last ? "\n" : "  ");
    }
}

std::string painted(const std::string& text, Tone tone) {
    static const bool colours = isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr;
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
    constexpr u64 least_power = 1024, least_sum = 100000;
    const u64 below = std::bit_floor(n), above = below * 2;
    const std::string exponent = std::to_string(std::bit_width(n) - 1);
    if (n == below && n >= least_power) return "2^" + exponent;
    if (n < least_sum) return std::to_string(n);
    if (n - below < 100000 && n - below < below / 16)
        return "2^" + exponent + "+" + std::to_string(n - below);
    if (above - n < 1000) return "2^" + std::to_string(std::bit_width(n)) + "-" + std::to_string(above - n);
    return std::to_string(n);
}

std::string size_name(u64 n, const SizeNames& given) {
    const auto it = given.find(n);
    return it == given.end() ? size_name(n) : it->second;
}

std::string rounded(double value, int digits) {
    char text[64];
    if (!std::isfinite(value)) return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
    if (value != 0 && std::abs(value) < 1e-4) {
        std::snprintf(text, sizeof text, "%.*e", digits - 1, value);
    } else {
        const int before = value == 0 ? 1 : static_cast<int>(std::floor(std::log10(std::abs(value)))) + 1;
        std::snprintf(text, sizeof text, "%.*f", std::max(0, digits - before), value);
    }
    return text;
}

}  // namespace concord::lab
