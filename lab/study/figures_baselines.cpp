// Figures of the study `headline`: Concord compared with baselines that were measured in the same run.

#include "figures.hpp"

#include <concord/lab/table.hpp>

#include <algorithm>
#include <map>

namespace concord::study {
namespace {

using Unit = Scale::Unit;

// A baseline's row and Concord's row of the same work. Concord's is null if it has no time.
struct Compared {
    const Result* concord;
    const Result* baseline;

    std::optional<double> ratio() const {
        if (concord == nullptr || !baseline->ms || *concord->ms <= 0) return std::nullopt;
        return *baseline->ms / *concord->ms;
    }
};

std::vector<Compared> compared(const std::vector<const Result*>& results) {
    std::map<std::string, const Result*> concord;
    for (const Result* r : results) {
        if (!r->baseline && r->ms) concord[r->place()] = r;
    }
    std::vector<Compared> list;
    for (const Result* r : results) {
        if (!r->baseline) continue;
        const auto it = concord.find(r->place());
        list.push_back({it == concord.end() ? nullptr : it->second, r});
    }
    return list;
}

std::string time_of(const Result* r) {
    if (r == nullptr || !r->ms) return "none";
    return Scale{.unit = Unit::milliseconds}.write(*r->ms) + (r->note.empty() ? "" : " *");
}

// One table per device. `only_faster`: only the rows in which the baseline is faster, the fastest first.
std::vector<Chart> tables(const Data& data, bool only_faster) {
    std::map<std::string, std::vector<const Result*>> by_device;
    for (const Result* r : data.results)
        by_device[r->device].push_back(r);
    std::vector<Chart> charts;
    for (const auto& [device, results] : by_device) {
        std::vector<Compared> rows = compared(results);
        const std::size_t all = rows.size();
        if (only_faster) {
            std::erase_if(rows, [](const Compared& row) { return row.ratio().value_or(1) >= 1; });
            std::stable_sort(rows.begin(), rows.end(),
                             [](const Compared& a, const Compared& b) { return *a.ratio() < *b.ratio(); });
        }
        Chart chart;
        chart.title = panel_title(device, data);
        if (all == 0) {
            chart.text = "No peer library was measured on this device.";
        } else if (only_faster) {
            chart.text = std::to_string(rows.size()) + " of " + std::to_string(all) + " comparisons.";
        }
        chart.matrix = {{"work", "type", "elements", "variant", "time", "peer", "library", "call",
                         "peer's time", "speed-up", "note"}};
        for (const Compared& row : rows) {
            const Result& peer = *row.baseline;
            const auto ratio = row.ratio();
            chart.matrix.push_back({peer.algorithm + " " + peer.workload, peer.type, lab::size_name(peer.n),
                                    row.concord == nullptr ? "" : row.concord->variant, time_of(row.concord),
                                    peer.variant, peer.library, peer.call, time_of(&peer),
                                    ratio ? Scale{.unit = Unit::factor}.write(*ratio) : "",
                                    peer.ms ? peer.note : peer.problem});
        }
        if (chart.matrix.size() == 1)
            chart.matrix.push_back({"none", "", "", "", "", "", "", "", "", "", ""});
        charts.push_back(std::move(chart));
    }
    return charts;
}

}  // namespace

std::vector<Chart> speed_ups(const Figure& figure, const Data& data) {
    std::vector<Chart> charts;
    for (const auto& [name, results] : groups(figure, data.results, figure.panels)) {
        Chart chart;
        chart.title = name;
        chart.x = {.name = "number of elements", .unit = Unit::power_of_two, .log = true};
        chart.y = {.name = "speed-up", .unit = Unit::factor, .log = true};
        Guide same{"as fast as the peer", {}};
        std::map<std::string, Series> series;
        for (const Compared& row : compared(results)) {
            const auto ratio = row.ratio();
            if (!ratio) {
                chart.missing.push_back(row.baseline);
                continue;
            }
            Mark mark;
            mark.x = static_cast<double>(row.baseline->n);
            mark.y = *ratio;
            mark.of = row.baseline;
            series[row.baseline->variant].marks.push_back(mark);
            same.points.emplace_back(mark.x, 1.0);
        }
        for (auto& [peer, line] : series) {
            line.name = peer;
            std::sort(line.marks.begin(), line.marks.end(),
                      [](const Mark& a, const Mark& b) { return a.x < b.x; });
            chart.series.push_back(std::move(line));
        }
        std::sort(same.points.begin(), same.points.end());
        same.points.erase(std::unique(same.points.begin(), same.points.end()), same.points.end());
        if (same.points.size() > 1) chart.guides.push_back(std::move(same));
        if (!chart.series.empty() || !chart.missing.empty()) charts.push_back(std::move(chart));
    }
    return charts;
}

std::vector<Chart> faster_baselines(const Figure& /*figure*/, const Data& data) {
    constexpr bool only_faster = true;
    return tables(data, only_faster);
}

std::vector<Chart> all_baselines(const Figure& /*figure*/, const Data& data) {
    constexpr bool only_faster = false;
    return tables(data, only_faster);
}

}  // namespace concord::study
