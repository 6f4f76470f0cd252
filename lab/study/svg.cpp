// Draws charts as SVG. The page's style sheet colours the series by class (s0 to s7); everything else uses
// currentColor.

#include "svg.hpp"
#include "page.hpp"

#include <concord/internal/number_text.hpp>
#include <concord/lab/table.hpp>

#include <algorithm>
#include <cmath>

namespace concord::study {

std::string at(double value) {
    return detail::fixed_text(value, 1);
}

std::string text_at(double x, double y, const char* anchor, const std::string& inside, const char* css) {
    return "<text class=\"" + std::string(css) + "\" x=\"" + at(x) + "\" y=\"" + at(y) + "\" text-anchor=\"" +
           anchor + "\">" + inside + "</text>";
}

namespace {

constexpr double left = 72, right = 14, top = 30, bottom = 42, height = 290;
constexpr double bar_height = 16, bar_gap = 5;
constexpr std::size_t colours = 8;

struct Tick {
    double value;
    std::string text;
};

// "10 ms" for "10.0 ms".
std::string brief(std::string text) {
    const std::size_t point = text.find('.');
    if (point == std::string::npos) return text;
    const std::size_t unit = std::min(text.find_first_not_of("0123456789", point + 1), text.size());
    std::size_t end = unit;
    while (text[end - 1] == '0')
        --end;
    if (text[end - 1] == '.') --end;
    return text.erase(end, unit - end);
}

// Maps values to coordinates.
class Axis {
  public:
    Axis(const Scale& scale, double low, double high, double from, double to)
        : scale_(scale), from_(from), to_(to) {
        if (scale.log) {
            low_ = std::log10(low), high_ = std::log10(high);
            const double room = std::max(0.04 * (high_ - low_), 0.03);
            low_ -= room, high_ += room;
        } else {
            low_ = std::min(low, 0.0), high_ = high > low_ ? high * 1.06 : low_ + 1;
        }
    }
    double place(double value) const {
        const double v = scale_.log ? std::log10(value) : value;
        return from_ + (v - low_) / (high_ - low_) * (to_ - from_);
    }
    std::vector<Tick> ticks() const {
        if (!scale_.log) return even_ticks();
        return scale_.unit == Scale::Unit::power_of_two || scale_.unit == Scale::Unit::count ? powers_of_two()
                                                                                             : decades();
    }

  private:
    std::vector<Tick> even_ticks() const { return even_ticks(0, high_); }
    std::vector<Tick> even_ticks(double low, double high) const {
        const double rough = (high - low) / 5, unit = std::pow(10, std::floor(std::log10(rough)));
        double step = unit * (rough / unit < 1.5 ? 1 : rough / unit < 3.5 ? 2 : rough / unit < 7.5 ? 5 : 10);
        if (scale_.unit == Scale::Unit::count) step = std::max(step, 1.0);
        std::vector<Tick> list;
        for (double v = std::ceil(low / step) * step; v <= high; v += step)
            list.push_back({v, v == 0 ? "0" : brief(scale_.write(v))});
        return list;
    }
    std::vector<Tick> powers_of_two() const {
        const double two = std::log10(2.0);
        const int first = static_cast<int>(std::ceil(low_ / two)),
                  last = static_cast<int>(std::floor(high_ / two));
        int step = 1;
        while ((last - first) / step > 7)
            step += step < 2 ? 1 : 2;
        std::vector<Tick> list;
        for (int k = first; k <= last; k += step) {
            const double v = std::exp2(k);
            list.push_back(
                {v, scale_.unit == Scale::Unit::count ? scale_.write(v) : "2^" + std::to_string(k)});
        }
        return list;
    }
    // Powers of ten. If there are fewer than three, also their multiples by 2 and 5, or else even steps.
    std::vector<Tick> decades() const {
        const int first = static_cast<int>(std::floor(low_)), last = static_cast<int>(std::ceil(high_));
        const int step = std::max(1, (last - first + 4) / 6);
        for (const std::vector<double>& parts : {std::vector{1.0}, std::vector{1.0, 2.0, 5.0}}) {
            std::vector<Tick> list;
            for (int k = first; k <= last; k += step) {
                for (const double part : parts) {
                    const double v = part * std::pow(10, k);
                    if (std::log10(v) >= low_ && std::log10(v) <= high_)
                        list.push_back({v, brief(scale_.write(v))});
                }
            }
            if (list.size() > 2) return list;
        }
        return even_ticks(std::pow(10, low_), std::pow(10, high_));
    }

    const Scale& scale_;
    double from_, to_, low_ = 0, high_ = 1;
};

// "2^20" with a superscript.
std::string label(const std::string& text) {
    const std::size_t hat = text.find('^');
    if (hat == std::string::npos) return escaped(text);
    return escaped(text.substr(0, hat)) + "<tspan dy=\"-5\" class=\"exponent\">" +
           escaped(text.substr(hat + 1)) + "</tspan>";
}

std::string line_between(double x1, double y1, double x2, double y2, const char* css) {
    return "<line class=\"" + std::string(css) + "\" x1=\"" + at(x1) + "\" y1=\"" + at(y1) + "\" x2=\"" +
           at(x2) + "\" y2=\"" + at(y2) + "\"/>";
}

// Eight filled shapes, then eight hollow ones, so that series differ in shape as well as in colour.
std::string shape(std::size_t index, double x, double y) {
    const std::string paths[] = {
        "M-4.4 0a4.4 4.4 0 1 0 8.8 0a4.4 4.4 0 1 0-8.8 0z",
        "M-4-4h8v8h-8z",
        "M0-5.2l5 8.6h-10z",
        "M0-5.4l5.4 5.4l-5.4 5.4l-5.4-5.4z",
        "M0 5.2l5-8.6h-10z",
        "M-1.6-5h3.2v3.4h3.4v3.2h-3.4v3.4h-3.2v-3.4h-3.4v-3.2h3.4z",
        "M-5-3l3-2l2 3l2-3l3 2l-2.4 3l2.4 3l-3 2l-2-3l-2 3l-3-2l2.4-3z",
        "M0-5.4l1.6 3.6l3.8.4l-2.9 2.6l.8 3.9l-3.3-2l-3.3 2l.8-3.9l-2.9-2.6l3.8-.4z"};
    return "<path class=\"mark-shape" + std::string(index / colours % 2 == 1 ? " hollow" : "") +
           "\" transform=\"translate(" + at(x) + " " + at(y) + ")\" d=\"" + paths[index % colours] + "\"/>";
}

std::string css_of(std::size_t index) {
    return "s" + std::to_string(index % colours) + (index / colours % 2 == 1 ? " second" : "");
}

std::string title_of(const Chart& chart, const Series& series, const Mark& mark) {
    std::string text = chart.bars ? mark.label : series.name + ", " + chart.x.write(mark.x);
    text += ": " + chart.y.write(mark.y);
    if (mark.of != nullptr && mark.of->ms && mark.of->ceiling_ms && *mark.of->ceiling_ms > 0)
        text += ", " + lab::rounded(*mark.of->ceiling_ms / *mark.of->ms * 100, 2) + " % of the ceiling";
    return "<title>" + escaped(text) + "</title>";
}

struct Range {
    double low = 1e300, high = -1e300;
    void add(double v) {
        low = std::min(low, v);
        high = std::max(high, v);
    }
};

std::string body_of_lines(const Chart& chart) {
    Range xs, ys;
    for (const Series& series : chart.series) {
        for (const Mark& mark : series.marks) {
            xs.add(mark.x);
            ys.add(mark.y);
            if (mark.low && mark.high && (!chart.y.log || std::min(*mark.low, *mark.high) > 0)) {
                ys.add(*mark.low);
                ys.add(*mark.high);
            }
        }
    }
    for (const Guide& guide : chart.guides) {
        for (const auto& [x, y] : guide.points)
            ys.add(y);
    }
    const Axis x(chart.x, xs.low, xs.high, left, chart.width - right),
        y(chart.y, ys.low, ys.high, height - bottom, top);
    std::string body;
    for (const Tick& tick : y.ticks()) {
        body += line_between(left, y.place(tick.value), chart.width - right, y.place(tick.value), "grid");
        body += text_at(left - 6, y.place(tick.value) + 4, "end", label(tick.text));
    }
    for (const Tick& tick : x.ticks()) {
        body += line_between(x.place(tick.value), top, x.place(tick.value), height - bottom, "grid");
        body += text_at(x.place(tick.value), height - bottom + 18, "middle", label(tick.text));
    }
    body += line_between(left, height - bottom, chart.width - right, height - bottom, "axis");
    body += text_at(4, 16, "start", escaped(chart.y.name), "name");
    body += text_at(chart.width - right, height - 6, "end", escaped(chart.x.name), "name");
    auto path = [&](const auto& points, const std::string& css) {
        std::string d;
        for (const auto& [px, py] : points)
            d += (d.empty() ? "M" : "L") + at(x.place(px)) + " " + at(y.place(py));
        return "<path class=\"" + css + "\" d=\"" + d + "\"/>";
    };
    for (std::size_t k = 0; k < chart.guides.size(); ++k)
        body += path(chart.guides[k].points, "guide g" + std::to_string(k % 2));
    for (std::size_t k = 0; k < chart.series.size(); ++k) {
        const Series& series = chart.series[k];
        std::vector<std::pair<double, double>> points;
        for (const Mark& mark : series.marks)
            points.emplace_back(mark.x, mark.y);
        body += "<g class=\"" + css_of(k) + "\">" + path(points, "line");
        for (const Mark& mark : series.marks) {
            body += "<g class=\"mark\">" + title_of(chart, series, mark);
            if (mark.low && mark.high && (!chart.y.log || std::min(*mark.low, *mark.high) > 0))
                body += line_between(x.place(mark.x), y.place(*mark.low), x.place(mark.x),
                                     y.place(*mark.high), "spread");
            body += shape(k, x.place(mark.x), y.place(mark.y)) + "</g>";
        }
        body += "</g>";
    }
    return body;
}

std::string value_of(const Chart& chart, const Mark& mark) {
    return chart.y.write(mark.y) + (mark.note.empty() ? "" : " · " + mark.note);
}

// The text, cut to `most` letters. Tables have the whole text.
std::string cut_to(std::string text, std::size_t most) {
    if (lab::width_of(text) <= most) return text;
    std::size_t end = 0;
    for (std::size_t count = 0; end < text.size(); ++end) {
        if ((text[end] & 0xc0) != 0x80 && ++count == most) break;
    }
    return text.substr(0, end) + "…";
}

// Where the bars of a chart are: between their labels and values, or below them if these leave too little width.
struct BarPlaces {
    double letter = 0;  // width of one
    bool under = false;
    bool two_lines = false;  // label and value each have a line
    double left = 0, right = 0;

    double text() const { return under ? (two_lines ? 38 : 22) : 0; }
    double step() const { return text() + (under ? bar_height - 8 : bar_height) + bar_gap; }
};

BarPlaces places_of_bars(const Chart& chart) {
    const double letter = 8.2;                         // on narrow pages, which have larger ones
    std::size_t before = 6, behind = 0, together = 0;  // letters
    for (const Series& series : chart.series) {
        for (const Mark& mark : series.marks) {
            const std::size_t label = lab::width_of(mark.label), value = lab::width_of(value_of(chart, mark));
            before = std::max(before, label);
            behind = std::max(behind, value);
            together = std::max(together, label + value);
        }
    }
    const double label_width = letter * static_cast<double>(before) + 8,
                 value_width = letter * static_cast<double>(behind) * 0.92 + 8;
    if (label_width + value_width <= chart.width - 210)
        return {.letter = letter, .left = label_width, .right = chart.width - value_width};
    return {.letter = letter,
            .under = true,
            .two_lines = letter * static_cast<double>(together + 2) > chart.width,
            .left = 4,
            .right = chart.width - 4};
}

double height_of_bars(const Chart& chart) {
    return 40 + static_cast<double>(chart.marks()) * places_of_bars(chart).step() + 34;
}

std::string body_of_bars(const Chart& chart) {
    const BarPlaces places = places_of_bars(chart);
    const double first = chart.y.log ? 1 : 0;  // where bars begin: logarithmic ones show factors
    Range range{first, first};
    for (const Series& series : chart.series) {
        for (const Mark& mark : series.marks)
            range.add(mark.y);
    }
    for (const Guide& guide : chart.guides) {
        for (const auto& point : guide.points)
            range.add(point.second);
    }
    const double full = height_of_bars(chart), floor = full - 34;
    const Axis x(chart.y, range.low, range.high, places.left, places.right);
    const double begin_of_bars = x.place(first);
    std::string body = text_at(places.left, 16, "start", escaped(chart.y.name), "name");
    double free_from = 0;  // keeps labels apart
    for (const Tick& tick : x.ticks()) {
        const double place = x.place(tick.value),
                     text = places.letter * static_cast<double>(tick.text.size());
        body += line_between(place, 28, place, floor, "grid");
        const double half = text / 2, begin = std::clamp(place - half, 0.0, chart.width - text);
        if (begin < free_from) continue;
        if (half > place) {  // labels stay within the drawing
            body += text_at(0, floor + 18, "start", label(tick.text));
        } else if (place + half > chart.width) {
            body += text_at(chart.width, floor + 18, "end", label(tick.text));
        } else {
            body += text_at(place, floor + 18, "middle", label(tick.text));
        }
        free_from = begin + text + 4;
    }
    for (std::size_t k = 0; k < chart.guides.size(); ++k) {
        const double place = x.place(chart.guides[k].points.front().second);
        body += "<path class=\"guide g" + std::to_string(k % 2) + "\" d=\"M" + at(place) + " 28V" +
                at(floor) + "\"/>";
    }
    const auto max_letters = static_cast<std::size_t>(chart.width / places.letter / 0.92) - 1;
    double y = 36;
    for (std::size_t k = 0; k < chart.series.size(); ++k) {
        for (const Mark& mark : chart.series[k].marks) {
            const double low = std::min(begin_of_bars, x.place(mark.y)),
                         high = std::max(begin_of_bars, x.place(mark.y)),
                         bar = places.under ? bar_height - 8 : bar_height;
            const std::string value = escaped(cut_to(value_of(chart, mark), max_letters));
            body += "<g class=\"" + css_of(mark.y < first ? 1 : k) + "\"><g class=\"mark\">" +
                    title_of(chart, chart.series[k], mark) + "<rect class=\"bar\" x=\"" + at(low) +
                    "\" y=\"" + at(y + places.text()) + "\" width=\"" + at(std::max(1.0, high - low)) +
                    "\" height=\"" + at(bar) + "\"/></g></g>";
            if (places.under) {
                body +=
                    text_at(places.left, y + 13, "start", escaped(cut_to(mark.label, max_letters)), "tick");
                body += places.two_lines ? text_at(places.left, y + 29, "start", value, "value")
                                         : text_at(places.right, y + 13, "end", value, "value");
            } else {
                body += text_at(places.left - 6, y + 12, "end", escaped(mark.label), "tick");
                body += text_at(high + 5, y + 12, "start", value, "value");
            }
            y += places.step();
        }
    }
    return body + line_between(begin_of_bars, 28, begin_of_bars, floor, "axis");
}

std::string legend_symbol(const std::string& inside) {
    return "<svg class=\"key\" viewBox=\"0 0 32 16\" aria-hidden=\"true\" focusable=\"false\">" + inside +
           "</svg>";
}

double height_of(const Chart& chart) {
    return chart.bars ? height_of_bars(chart) : height;
}

std::string body_of(const Chart& chart) {
    return chart.bars ? body_of_bars(chart) : body_of_lines(chart);
}

}  // namespace

std::string legend_mark(std::size_t index) {
    return legend_symbol("<g class=\"" + css_of(index) + "\"><path class=\"line\" d=\"M1 8H31\"/>" +
                         shape(index, 16, 8) + "</g>");
}

std::string legend_guide(std::size_t index) {
    return legend_symbol("<path class=\"guide g" + std::to_string(index % 2) + "\" d=\"M1 8H31\"/>");
}

std::string svg_of(const Chart& chart, const std::string& id) {
    std::string said = chart.text + (chart.text.empty() ? "" : " ") + std::to_string(chart.marks()) +
                       " values; see the table below.";
    return "<svg class=\"plot\" role=\"img\" viewBox=\"0 0 " + at(chart.width) + " " + at(height_of(chart)) +
           "\" aria-labelledby=\"" + id + "-t " + id + "-d\"><title id=\"" + id + "-t\">" +
           escaped(chart.figure + ": " + chart.title) + "</title><desc id=\"" + id + "-d\">" + escaped(said) +
           "</desc>" + body_of(chart) + "</svg>";
}

}  // namespace concord::study
