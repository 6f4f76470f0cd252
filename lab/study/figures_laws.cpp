// Figures that compare results with a law: scaling over threads, and performance portability.

#include <concord/study/internal/fits.hpp>
#include "figures.hpp"

#include <concord/lab/table.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace concord::study {

using lab::rounded;
using Unit = Scale::Unit;

namespace {

struct Scaling {
    std::string algorithm;
    std::map<std::pair<u32, u64>, const Result*> at;  // by threads and n
    std::set<u64> sizes;
    std::set<u32> threads;
};

std::vector<Scaling> scalings(const Figure& figure, const Data& data) {
    std::vector<Scaling> list;
    for (const auto& [name, results] : groups(figure, data.results, {By::algorithm})) {
        Scaling one{name, {}, {}, {}};
        for (const Result* r : results) {
            if (!r->ms || r->threads == 0) continue;
            one.at[{r->threads, r->n}] = r;
            one.sizes.insert(r->n);
            one.threads.insert(r->threads);
        }
        if (one.threads.count(1) != 0) list.push_back(std::move(one));
    }
    return list;
}

// `point` returns the result with p threads and its speed-up, `fit` the serial fraction, and `curve` evaluates the law.
template <class Point, class Fit, class Law>
std::vector<Chart> fitted(const Figure& figure, const Data& data, const char* law, Point point, Fit fit,
                          Law curve) {
    std::vector<Chart> charts;
    for (const Scaling& one : scalings(figure, data)) {
        Chart chart;
        chart.x = {.name = "threads", .unit = Unit::count};
        chart.y = {.name = "speed-up over one thread", .unit = Unit::factor};
        SpeedUps points;
        Series measured{"measured", {}};
        for (const u32 p : one.threads) {
            const auto [r, speed_up] = point(one, p);
            if (r == nullptr) continue;
            measured.marks.push_back({.x = static_cast<double>(p), .y = speed_up, .of = r});
            points.emplace_back(p, speed_up);
        }
        if (points.empty()) continue;
        const double serial = fit(points), most = points.back().first;
        Guide ideal{"ideal", {}}, model{std::string(law) + "'s law", {}};
        for (double p = 1; p <= most; p += std::max(1.0, most / 64)) {
            ideal.points.emplace_back(p, p);
            model.points.emplace_back(p, curve(serial, p));
        }
        chart.title = one.algorithm;
        chart.text = points.size() < 2 ? "One thread only: a fit needs at least two."
                                       : "Serial fraction of " + std::string(law) +
                                             "'s law: " + rounded(serial * 100, 2) + " %.";
        chart.series = {std::move(measured)};
        if (ideal.points.size() > 1) chart.guides = {std::move(ideal), std::move(model)};
        charts.push_back(std::move(chart));
    }
    return charts;
}

}  // namespace

std::vector<Chart> amdahl(const Figure& figure, const Data& data) {
    auto point = [](const Scaling& s, u32 p) -> std::pair<const Result*, double> {
        const u64 n = *s.sizes.rbegin();
        const auto one = s.at.find({1, n}), many = s.at.find({p, n});
        if (one == s.at.end() || many == s.at.end()) return {nullptr, 0};
        return {many->second, *one->second->ms / *many->second->ms};
    };
    return fitted(figure, data, "Amdahl", point, amdahl_serial_fraction,
                  [](double s, double p) { return amdahl(s, p); });
}

std::vector<Chart> gustafson(const Figure& figure, const Data& data) {
    auto point = [](const Scaling& s, u32 p) -> std::pair<const Result*, double> {
        const u64 n = *s.sizes.begin();
        const auto one = s.at.find({1, n}), many = s.at.find({p, p * n});
        if (one == s.at.end() || many == s.at.end()) return {nullptr, 0};
        // In operations if they are known, because those of matmul grow faster than its elements.
        auto speed = [](const Result& r) { return (r.operations > 0 ? r.operations : r.bytes) / *r.ms; };
        return {many->second, speed(*many->second) / speed(*one->second)};
    };
    return fitted(figure, data, "Gustafson", point, gustafson_serial_fraction,
                  [](double s, double p) { return gustafson(s, p); });
}

// Whether there are times and no attainable rate bounds them, as of sorts.
static bool has_no_ceiling(const std::vector<const Result*>& results) {
    return std::ranges::any_of(results, [](const Result* r) { return r->ms && !r->ceiling_ms; }) &&
           std::ranges::none_of(results, [](const Result* r) { return r->ceiling_ms.has_value(); });
}

std::vector<Chart> portability(const Figure& figure, const Data& data) {
    std::vector<Chart> charts;
    std::map<std::string, std::map<std::string, double>> parts;  // by algorithm and device
    std::vector<std::string> algorithms;
    std::set<std::string> devices;
    for (const auto& [device, results] : groups(figure, data.results, {By::device})) {
        Chart chart;
        chart.bars = true;
        chart.notes = "variant";
        chart.title = panel_title(device, data);
        chart.y = scale_of(Measure::of_ceiling);
        Series bars;
        for (const auto& [algorithm, members] : groups(figure, results, {By::algorithm})) {
            if (has_no_ceiling(members)) continue;
            if (std::find(algorithms.begin(), algorithms.end(), algorithm) == algorithms.end())
                algorithms.push_back(algorithm);
            const u64 n = common_size(members);
            for (const Result* r : members) {
                if (r->n != n) continue;
                if (!r->ms || !r->ceiling_ms) {
                    chart.missing.push_back(r);
                    continue;
                }
                Mark mark = mark_of(*r, Measure::of_ceiling, 0);
                mark.label = algorithm;
                mark.note = r->variant;
                parts[algorithm][device] = mark.y / 100;
                bars.marks.push_back(std::move(mark));
            }
        }
        devices.insert(device);
        chart.text =
            "Variants that `auto` chooses, as a fraction of the device's own ceiling for the same bytes or "
            "operations.";
        chart.series.push_back(std::move(bars));
        add_chart(charts, std::move(chart));
    }
    Chart mean;
    mean.bars = true;
    mean.title = "Harmonic mean over the devices";
    mean.text =
        "Performance portability after Pennycook, Sewall and Lee (2016): the harmonic mean of the "
        "fractions over " +
        std::to_string(devices.size()) +
        " devices. Each fraction is limited to 1. The mean is 0 if a device has no result.";
    mean.y = scale_of(Measure::of_ceiling);
    Series bars;
    for (const std::string& algorithm : algorithms) {
        std::vector<double> efficiencies;
        efficiencies.reserve(devices.size());
        for (const std::string& device : devices)
            efficiencies.push_back(
                parts[algorithm].count(device) != 0 ? std::min(1.0, parts[algorithm][device]) : 0);
        bars.marks.push_back({.y = performance_portability(efficiencies) * 100, .label = algorithm});
    }
    mean.series.push_back(std::move(bars));
    add_chart(charts, std::move(mean));
    return charts;
}

}  // namespace concord::study
