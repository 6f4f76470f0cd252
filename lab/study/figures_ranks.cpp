// Parallel efficiency over ranks, and the model of computation and communication.

#include <concord/study/internal/fits.hpp>
#include <concord/study/internal/rank_studies.hpp>
#include "figures.hpp"

#include <concord/distributed_stencil.hpp>
#include <concord/lab/table.hpp>

#include <algorithm>
#include <iterator>

namespace concord::study {
namespace {

using lab::rounded;
using Unit = Scale::Unit;

bool is_of(const char* variant, const Result& r) {
    return r.variant.rfind(variant, 0) == 0;
}

// Work of a step: the largest part of a rank, or the sum over all ranks if they share one device.
RanksStep step_of(const Result& r) {
    const u32 p = ranks_of(r), radius = ranks_radius();
    const StencilCut cut = stencil_cut(ranks_shape(r.n, r.algorithm == weak_ranks, p), p, radius);
    const u64 columns = cut.shape.columns;
    RanksStep step;
    for (u32 rank = 0; rank < cut.parts(); ++rank) {
        const StencilBox box = cut.part_of(rank);
        const u64 planes = box.z_end - box.z_begin, rows = box.y_end - box.y_begin;
        const u64 across_z = (box.z_begin > 0 ? 1 : 0) + (box.z_end < cut.shape.depth ? 1 : 0),
                  across_y = (box.y_begin > 0 ? 1 : 0) + (box.y_end < cut.shape.rows ? 1 : 0);
        const RanksStep one{
            static_cast<double>(box.points(columns)), static_cast<double>(across_z + across_y),
            static_cast<double>(radius * columns * sizeof(f32) * (across_z * rows + across_y * planes)), 0};
        if (is_shared(r)) {
            step.points += one.points;
            step.messages += one.messages;
            step.bytes += one.bytes;
        } else {
            step.points = std::max(step.points, one.points);
            step.messages = std::max(step.messages, one.messages);
            step.bytes = std::max(step.bytes, one.bytes);
        }
    }
    step.ms = r.ms.value_or(0);
    return step;
}

const Result* one_rank(const std::vector<const Result*>& results) {
    const auto it = std::find_if(results.begin(), results.end(),
                                 [](const Result* r) { return r->ms && ranks_of(*r) == 1; });
    return it == results.end() ? nullptr : *it;
}

// Efficiency of one workload over ranks. Results without a time, or without a time of one rank, become missing results.
Series efficiency(Chart& chart, std::string name, const std::vector<const Result*>& results) {
    Series series{std::move(name), {}};
    const Result* one = one_rank(results);
    for (const Result* r : results) {
        if (!r->ms || one == nullptr) {
            chart.missing.push_back(r);
            continue;
        }
        const double ideal = *one->ms * ideal_times(*r);
        Mark mark{.x = static_cast<double>(ranks_of(*r)), .y = 100 * ideal / *r->ms, .of = r};
        if (r->q1 && r->q3) {
            mark.low = 100 * ideal / *r->q3;
            mark.high = 100 * ideal / *r->q1;
        }
        series.marks.push_back(mark);
    }
    std::ranges::sort(series.marks, {}, &Mark::x);
    return series;
}

const Scale ranks_axis = {.name = "ranks", .unit = Unit::count};
const Scale efficiency_axis = {.name = "parallel efficiency", .unit = Unit::percent};

constexpr const char* shared_text =
    " All ranks share one device. 100 % is the time of one rank for the same work.";

// "cuda:0, NVIDIA H200, one device per rank". `words`: selector and workload.
std::string ranks_title(const std::string& words, const Data& data) {
    for (const ordered_json& line : data.records.devices) {
        const std::string selector = line["selector"].get<std::string>();
        if (words.rfind(selector + ", ", 0) != 0) continue;
        return panel_title(selector, data) + words.substr(selector.size());
    }
    return words;
}

std::string model_text(const RanksModel& m, std::size_t steps) {
    std::string text = "Fit to " + std::to_string(steps) +
                       " times of `sequential` on this device: t = points / (" +
                       rounded(m.point > 0 ? 1e-6 / m.point : 0) + " Gpoint/s)";
    if (m.message > 0) text += " + messages × " + rounded(m.message * 1e3) + " µs";
    if (m.byte > 0) text += " + bytes / (" + rounded(1e-6 / m.byte) + " GB/s)";
    const int terms = (m.point > 0) + (m.message > 0) + (m.byte > 0);
    text += steps > static_cast<std::size_t>(terms)
                ? ", with an error of " + rounded(m.error * 100, 2) + " % (root mean square)"
                : ". So few times determine the terms but do not test the model";
    return text + ". The model of the other variants is the longer of computation and communication.";
}

}  // namespace

u32 ranks_of(const Result& r) {
    std::size_t digits = r.variant.size();
    while (digits > 0 && r.variant[digits - 1] >= '0' && r.variant[digits - 1] <= '9')
        --digits;
    return digits == r.variant.size() ? 0 : static_cast<u32>(std::stoul(r.variant.substr(digits)));
}

double ideal_times(const Result& r) {
    const double p = ranks_of(r);
    const bool is_weak = r.algorithm != strong_ranks, shares = is_shared(r);
    return is_weak ? (shares ? p : 1) : (shares ? 1 : 1 / p);
}

std::vector<Chart> over_ranks(const Figure& figure, const Data& data) {
    std::vector<Chart> charts;
    for (const auto& [device, results] : groups(figure, data.results, {By::device, By::workload})) {
        std::vector<RanksStep> steps;
        for (const Result* r : results) {
            if (r->ms && is_of("sequential", *r)) steps.push_back(step_of(*r));
        }
        const RanksModel model = ranks_model(steps);
        for (const auto& [size, members] : groups(figure, results, {By::n})) {
            Chart chart;
            chart.title = ranks_title(device, data) + ", " + size;
            chart.x = ranks_axis;
            chart.y = efficiency_axis;
            u32 most = 1;
            for (const char* const variant : {"fused", "overlapped", "sequential"}) {
                const std::string name = variant;
                std::vector<const Result*> of_variant;
                std::copy_if(members.begin(), members.end(), std::back_inserter(of_variant),
                             [&](const Result* r) { return is_of(variant, *r); });
                Series series = efficiency(chart, name, of_variant);
                if (series.marks.empty()) continue;
                const RanksStep first = step_of(*one_rank(of_variant));
                Guide guide{"model, " + name, {}};
                for (const Mark& mark : series.marks) {
                    most = std::max(most, ranks_of(*mark.of));
                    const RanksStep step = step_of(*mark.of);
                    const double computing = model.computing(step), communicating = model.communicating(step);
                    const double modelled =
                        name == "sequential" ? computing + communicating : std::max(computing, communicating);
                    if (modelled > 0)
                        guide.points.emplace_back(
                            mark.x, 100 * model.computing(first) * ideal_times(*mark.of) / modelled);
                }
                chart.series.push_back(std::move(series));
                if (guide.points.size() > 1) chart.guides.push_back(std::move(guide));
            }
            chart.text =
                most < 2 ? "One rank only: a fit needs at least two." : model_text(model, steps.size());
            if (is_shared(*members.front())) chart.text += shared_text;
            add_chart(charts, std::move(chart));
        }
    }
    return charts;
}

std::vector<Chart> efficiency_over_ranks(const Figure& figure, const Data& data) {
    return charts_of(figure, data, figure.panels, [&](Chart& chart, const Group& panel) {
        chart.x = ranks_axis;
        chart.y = efficiency_axis;
        std::string sizes;
        u32 most = 1;
        for (const auto& [size, members] : groups(figure, panel.second, figure.series)) {
            Series series = efficiency(chart, size, members);
            if (series.marks.empty()) continue;
            most = std::max(most, ranks_of(*series.marks.back().of));
            chart.series.push_back(std::move(series));
        }
        for (const Series& series : chart.series) {
            const Mark& last = series.marks.back();
            if (ranks_of(*last.of) == most && most > 1)
                sizes += (sizes.empty() ? "" : ", ") + chart.y.write(last.y) + " at " + series.name;
        }
        if (!sizes.empty())
            chart.text =
                "Efficiency with " + std::to_string(most) + " ranks, by elements per rank: " + sizes + ".";
        if (is_shared(*panel.second.front())) chart.text += shared_text;
        chart.title = ranks_title(panel.first, data);
    });
}

}  // namespace concord::study
