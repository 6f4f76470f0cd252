// Builds figures from results.

#include "figures.hpp"

#include <concord/internal/number_text.hpp>
#include <concord/lab/table.hpp>

#include <algorithm>
#include <map>

namespace concord::study {
namespace {

using lab::rounded;
using Unit = Scale::Unit;

// The last number in a name: 32 of "group32", 256 of "even256_equal".
std::optional<double> trailing_number(const std::string& text) {
    const std::size_t last = text.find_last_of("0123456789");
    if (last == std::string::npos) return std::nullopt;
    const std::size_t before = text.find_last_not_of("0123456789", last);
    const std::size_t first = before == std::string::npos ? 0 : before + 1;
    return detail::number_of_text(std::string_view(text).substr(first, last + 1 - first));
}

std::string without_number(std::string text) {
    const std::size_t last = text.find_last_of("0123456789");
    if (last == std::string::npos) return text;
    std::size_t first = text.find_last_not_of("0123456789", last);
    first = first == std::string::npos ? 0 : first + 1;
    text.erase(first, last + 1 - first);
    while (!text.empty() && (text.back() == '_' || text.back() == ' '))
        text.pop_back();
    return text;
}

// The value of an attribute. Leaves out a number that the x axis shows.
std::string word(const Result& r, By by, By x) {
    switch (by) {
        case By::variant:
            return r.asked == "auto"         ? "auto"
                   : x == By::variant_number ? without_number(r.variant)
                                             : r.variant;
        case By::workload:
            return x == By::workload_number ? without_number(r.workload) : r.workload;
        case By::algorithm:
            return r.algorithm;
        case By::device:
            return r.device;
        case By::type:
            return r.type;
        case By::threads:
            return std::to_string(r.threads) + (r.threads == 1 ? " thread" : " threads");
        case By::n:
            return lab::size_name(r.n);
        case By::variant_number:
        case By::workload_number:
            break;
    }
    return {};
}

std::string words(const Result& r, const std::vector<By>& by, By x) {
    std::string text;
    for (const By one : by) {
        const std::string next = word(r, one, x);
        if (!next.empty()) text.append(text.empty() ? "" : ", ").append(next);
    }
    return text;
}

std::optional<double> place(const Result& r, By by) {
    if (by == By::n) return static_cast<double>(r.n);
    if (by == By::threads) return r.threads;
    if (by == By::variant_number) return trailing_number(r.variant);
    return by == By::workload_number ? trailing_number(r.workload) : std::nullopt;
}

// The quantity that the result would have with this time.
std::optional<double> value(const Result& r, Measure measure, const std::optional<double>& ms) {
    if (!ms || *ms <= 0) return std::nullopt;
    switch (measure) {
        case Measure::time:
            return *ms;
        case Measure::rate:
            return r.bytes / *ms * 1e-6;
        case Measure::flops:
            return r.operations / *ms * 1e-6;
        case Measure::items:
            return static_cast<double>(r.n) / *ms * 1e-6;
        case Measure::of_ceiling:
            return r.ceiling_ms ? std::optional(*r.ceiling_ms / *ms * 100) : std::nullopt;
    }
    return std::nullopt;
}

Scale scale_of(const Figure& figure) {
    if (figure.x == By::n)
        return {.name = "number of elements", .unit = Unit::power_of_two, .log = figure.log_x};
    return {.name = figure.x == By::threads ? "threads" : figure.x_name,
            .unit = Unit::count,
            .log = figure.log_x};
}

}  // namespace

Scale scale_of(Measure measure) {
    static const std::map<Measure, Scale> scales = {
        {Measure::time, {.name = "time per call", .unit = Unit::milliseconds}},
        {Measure::rate, {.name = "bytes per second", .unit = Unit::gb_per_s}},
        {Measure::flops, {.name = "operations per second", .unit = Unit::gflop_per_s}},
        {Measure::items, {.name = "elements per second", .unit = Unit::items_per_s}},
        {Measure::of_ceiling, {.name = "fraction of the ceiling", .unit = Unit::percent}}};
    return scales.at(measure);
}

std::string panel_title(const std::string& words, const Data& data) {
    for (const ordered_json& line : data.records.devices) {
        if (line["selector"] == words) return words + ", " + line["name"].get<std::string>();
    }
    return words;
}

std::vector<Group> groups(const Figure& figure, const std::vector<const Result*>& results,
                          const std::vector<By>& by) {
    std::vector<Group> list;
    const auto is_in = [](const std::vector<std::string>& names, const std::string& name) {
        return names.empty() || std::ranges::find(names, name) != names.end();
    };
    for (const Result* r : results) {
        if (!is_in(figure.only, r->algorithm) || !is_in(figure.workloads, r->workload)) continue;
        const std::string name = words(*r, by, figure.x);
        auto it = std::ranges::find(list, name, &Group::first);
        if (it == list.end()) it = list.insert(list.end(), {name, {}});
        it->second.push_back(r);
    }
    return list;
}

Mark mark_of(const Result& r, Measure measure, double x) {
    return {.x = x,
            .y = value(r, measure, r.ms).value_or(0),
            .low = value(r, measure, r.q1),
            .high = value(r, measure, r.q3),
            .of = &r};
}

void add_chart(std::vector<Chart>& charts, Chart chart) {
    std::erase_if(chart.series, [](const Series& series) { return series.marks.empty(); });
    for (Series& series : chart.series) {
        if (!chart.bars) std::ranges::sort(series.marks, {}, &Mark::x);
    }
    if (!chart.series.empty() || !chart.missing.empty()) charts.push_back(std::move(chart));
}

std::vector<Chart> charts_of(const Figure& figure, const Data& data, const std::vector<By>& by,
                             const std::function<void(Chart&, const Group&)>& draw) {
    std::vector<Chart> charts;
    for (const Group& group : groups(figure, data.results, by)) {
        Chart chart;
        chart.title = panel_title(group.first, data);
        draw(chart, group);
        add_chart(charts, std::move(chart));
    }
    return charts;
}

u64 common_size(const std::vector<const Result*>& results) {
    std::map<u64, u64> timed;
    for (const Result* r : results)
        timed[r->n] += r->ms ? 1 : 0;
    u64 most = 0, best = 0;
    for (const auto& [n, count] : timed)
        most = std::max(most, count);
    for (const auto& [n, count] : timed) {
        if (count * 4 >= most * 3) best = n;
    }
    return best;
}

namespace {

std::vector<By> panels_of(const Figure& figure, const Data& data) {
    std::vector<By> by = figure.panels;
    if (std::any_of(data.results.begin(), data.results.end(),
                    [&](const Result* r) { return r->type != data.results.front()->type; }))
        by.push_back(By::type);
    return by;
}

// Adds the ceiling as a curve over x.
void add_ceiling(Chart& chart, const Figure& figure, const std::vector<const Result*>& results) {
    std::map<double, std::map<double, int>> by_place;
    for (const Result* r : results) {
        const auto x = place(*r, figure.x);
        const auto y = value(*r, figure.y, r->ceiling_ms);
        if (x && y && r->ms) ++by_place[*x][*y];
    }
    Guide guide{"ceiling of the device", {}};
    for (const auto& [x, values] : by_place) {
        if (values.size() != 1) return;  // the results differ in their work
        guide.points.emplace_back(x, values.begin()->first);
    }
    if (guide.points.size() > 1) chart.guides.push_back(std::move(guide));
}

}  // namespace

std::vector<Chart> lines(const Figure& figure, const Data& data) {
    return charts_of(figure, data, panels_of(figure, data), [&](Chart& chart, const Group& panel) {
        chart.x = scale_of(figure);
        chart.y = scale_of(figure.y);
        chart.y.log = figure.log_y;
        for (const auto& [series, members] : groups(figure, panel.second, figure.series)) {
            Series line{series, {}};
            for (const Result* r : members) {
                const auto x = place(*r, figure.x);
                if (!r->ms)
                    chart.missing.push_back(r);
                else if (x && value(*r, figure.y, r->ms))
                    line.marks.push_back(mark_of(*r, figure.y, *x));
            }
            chart.series.push_back(std::move(line));
        }
        if (figure.ceilings) add_ceiling(chart, figure, panel.second);
    });
}

std::vector<Chart> steps(const Figure& figure, const Data& data) {
    return charts_of(figure, data, panels_of(figure, data), [&](Chart& chart, const Group& panel) {
        const u64 n = common_size(panel.second);
        chart.bars = true;
        chart.y = scale_of(figure.y);
        chart.title += ", " + lab::size_name(n) + " elements";
        std::vector<const Result*> there;
        for (const Result* r : panel.second) {
            if (r->n != n) continue;
            (r->ms ? there : chart.missing).push_back(r);
        }
        std::reverse(there.begin(), there.end());  // the descriptor lists the best variant first
        Series bars;
        for (const Result* r : there) {
            Mark mark = mark_of(*r, figure.y, 0);
            mark.label = words(*r, figure.series, figure.x);
            if (!bars.marks.empty()) mark.note = factor(*there.front()->ms / *r->ms);
            bars.marks.push_back(std::move(mark));
        }
        if (bars.marks.size() > 1) {
            const Result &first = *there.front(), &best = **std::ranges::min_element(there, {}, &Result::ms);
            chart.text = &best == &first ? "No variant is faster than " + first.variant
                                         : "Speed-up of " + best.variant + " over " + first.variant + ": " +
                                               factor(*first.ms / *best.ms);
            chart.text += ". The factors next to the bars are speed-ups over the first bar.";
        }
        if (!there.empty() && figure.ceilings) {
            if (const auto y = value(*there.front(), figure.y, there.front()->ceiling_ms))
                chart.guides.push_back({"ceiling of the device", {{0, *y}}});
        }
        chart.series.push_back(std::move(bars));
    });
}

}  // namespace concord::study
