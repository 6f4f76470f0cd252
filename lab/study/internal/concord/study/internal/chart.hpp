#pragma once
// Data of a chart, from which the report makes an SVG drawing, a table and a CSV file.

#include <concord/study/internal/result.hpp>

#include <concord/lab/table.hpp>

#include <string>
#include <utility>
#include <vector>

namespace concord::study {

// An axis: name, unit and spacing.
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
    std::string name = {};
    Unit unit = Unit::count;
    bool log = false;
    // Formats a value with its unit: "12 µs", "2^20", "87 %".
    std::string write(double value) const;
};

// A rate with a prefix: "3.01 TB/s".
std::string rate(double per_second, const char* unit);
// A ratio: "1.24x".
std::string factor(double value);
// Median time of a result, marked with * if the result has a note: "12.0 µs". Empty: it has no time.
std::string time_of(const Result& r);
// Fraction of the attainable rate: "87 %", or "> 100 %" beyond its tolerance. Empty: unknown.
std::string fraction_of(const Result& r);

// A measured point.
struct Mark {
    double x = 0, y = 0;
    std::optional<double> low = {}, high = {};  // quartiles of y
    std::string label = {};                     // of a bar
    std::string note = {};                      // follows a bar's value: "3.1 x"
    const Result* of = nullptr;                 // the measurement
};

struct Series {
    std::string name;
    std::vector<Mark> marks;
};

// A curve that is not measured: a ceiling or a fitted model.
struct Guide {
    std::string name;
    std::vector<std::pair<double, double>> points;
};

struct Chart {
    std::string figure;  // title of the figure that it belongs to
    std::string title;   // names the chart within the figure
    std::string text;    // finding
    bool bars = false;
    double width = 420;              // of the drawing
    std::string notes = "speed-up";  // heading of the bars' notes
    Scale x, y;
    std::vector<Series> series;
    std::vector<Guide> guides;
    std::vector<const Result*> missing;            // failed or skipped measurements
    std::vector<std::vector<std::string>> matrix;  // if not empty: a table replaces the drawing
    std::vector<std::string> remarks;              // follow the table

    u64 marks() const;
};

// Rows of a table. The first is the header: '>' before a name aligns the column to the right.
using Rows = std::vector<std::vector<std::string>>;
bool is_number(const std::string& header);
std::string title_of(const std::string& header);

// The chart as a table: one row per x of a line chart, or per bar. Leaves out columns without values.
Rows table_of(const Chart& chart);
// The chart as CSV: one line per mark with the whole measurement, and one per measurement without a time.
std::string csv_of(const Chart& chart);

// The chart as SVG. `id` is unique on the page.
std::string svg_of(const Chart& chart, const std::string& id);
// Symbols of the index-th series and the index-th guide, for the legend.
std::string legend_mark(std::size_t index);
std::string legend_guide(std::size_t index);

using lab::escaped;

}  // namespace concord::study
