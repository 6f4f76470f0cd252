#pragma once
/// A chart as data: what the SVG, the table and the CSV file are made from.

#include "result.hpp"

#include <string>
#include <utility>
#include <vector>

namespace concord::study {

/// How numbers along an axis are written, and spaced.
struct Scale {
    enum class Unit {
        count,
        power_of_two,
        milliseconds,
        gb_per_s,
        gflop_per_s,
        items_per_s,
        percent,
        factor
    };
    std::string name;
    Unit unit = Unit::count;
    bool log = false;
    /// A value with its unit: "12 µs", "2^20", "87 %".
    std::string write(double value) const;
};

/// A measured point.
struct Mark {
    double x = 0, y = 0;
    std::optional<double> low, high;  ///< quartiles of y
    std::string label;                ///< of a bar
    std::string note;                 ///< behind a bar's value: "3.1 x"
    const Result* of = nullptr;
};

struct Series {
    std::string name;
    std::vector<Mark> marks;
};

/// What is not measured but drawn along: a ceiling, a fit.
struct Guide {
    std::string name;
    std::vector<std::pair<double, double>> points;
};

struct Chart {
    std::string figure, title, text;  ///< of what figure; what sets this chart apart in it; what it says
    bool bars = false;
    std::string notes = "factor";  ///< what the bars' notes are
    Scale x, y;
    std::vector<Series> series;
    std::vector<Guide> guides;
    std::vector<const Result*> missing;  ///< failed, or left out
    /// Instead of a drawing: a table alone.
    std::vector<std::vector<std::string>> matrix;

    u64 marks() const;
};

/// A table's rows, the first of which is the header.
using Rows = std::vector<std::vector<std::string>>;

/// The chart's table for people: lines have a row for each x, bars one for each bar.
Rows table_of(const Chart& chart);
/// The same for programs: a line for each mark, with all that was measured, and for each measurement that has no time.
std::string csv_of(const Chart& chart);

/// The drawing; `id` is unique on the page.
std::string svg_of(const Chart& chart, const std::string& id);
/// A series' mark alone, for the legend; a guide's line where `guide`.
std::string legend_mark(std::size_t index, bool guide);

/// "&amp;" for "&".
std::string escaped(std::string_view text);

}  // namespace concord::study
