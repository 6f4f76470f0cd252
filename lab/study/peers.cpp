#include "peers.hpp"

#include <concord/lab/table.hpp>

#include <algorithm>
#include <map>
#include <tuple>

namespace concord::study {
namespace {

using Unit = Scale::Unit;

std::string code(const std::string& text) {
    return "`" + text + "`";
}

// Words by a heading, in order of appearance.
using Lists = std::vector<std::pair<std::string, std::vector<std::string>>>;
void add(Lists& lists, const std::string& heading, const std::string& word) {
    auto it = std::ranges::find(lists, heading, &Lists::value_type::first);
    if (it == lists.end()) it = lists.insert(it, {heading, {}});
    it->second.push_back(word);
}

}  // namespace

std::string joined(const std::vector<std::string>& words, const char* separator) {
    std::string text;
    for (auto it = words.begin(); it != words.end(); ++it) {
        if (!it->empty() && std::find(words.begin(), it, *it) == it)
            text.append(text.empty() ? "" : separator).append(*it);
    }
    return text;
}

std::vector<PeerGroup> peer_groups(const std::vector<const Result*>& results) {
    std::vector<PeerGroup> groups;
    std::map<std::string, std::size_t> at;
    for (const Result* r : results) {
        const auto [it, is_new] = at.try_emplace(r->place(), groups.size());
        if (is_new) groups.emplace_back();
        PeerGroup& group = groups[it->second];
        (!r->ms ? group.problems : r->baseline ? group.peers : group.variants).push_back(r);
    }
    std::erase_if(groups, [](const PeerGroup& group) { return group.variants.empty(); });
    for (PeerGroup& group : groups) {
        for (auto* rows : {&group.variants, &group.peers})
            std::ranges::stable_sort(*rows, {}, [](const Result* r) { return *r->ms; });
    }
    return groups;
}

std::string rate_of(const Result& r) {
    const double seconds = *r.ms * 1e-3;
    if (r.algorithm == "sort") return rate(static_cast<double>(r.n) / seconds, "keys/s");
    const bool computes = r.ceiling == "fma" || r.ceiling == "mma" || r.bytes == 0;
    if (computes && r.operations > 0) return rate(r.operations / seconds, "FLOP/s");
    if (r.ceiling_ms && r.bytes > 0) return rate(r.bytes / seconds, "B/s");
    return rate(static_cast<double>(r.n) / seconds, "elem/s");
}

std::string work_of_group(const Result& r) {
    return r.workload + " of " + lab::size_name(r.n) + " " + r.type;
}

std::string peer_name(const Result& peer) {
    return peer.library + (peer.call.empty() ? "" : " (" + peer.call + ")");
}

Chart faster_peers(const std::vector<PeerGroup>& groups) {
    std::vector<std::tuple<double, const PeerGroup*, const Result*>> found;
    std::size_t all = 0;
    for (const PeerGroup& group : groups) {
        all += group.peers.size();
        for (const Result* peer : group.peers) {
            if (group.speed_up(*peer) < 1) found.emplace_back(group.speed_up(*peer), &group, peer);
        }
    }
    std::ranges::stable_sort(found, {}, [](const auto& row) { return std::get<0>(row); });
    Chart chart;
    chart.text =
        all == 0 ? "No peer library was measured on this device."
                 : std::to_string(found.size()) + " of " + std::to_string(all) + " comparisons with peers.";
    chart.matrix = {{"work", "type", ">elements", "variant", ">time", "peer", ">peer's time", ">speed-up"}};
    for (const auto& [speed_up, group, peer] : found)
        chart.matrix.push_back({peer->algorithm + " " + peer->workload, peer->type, lab::size_name(peer->n),
                                code(group->best().variant), time_of(group->best()), peer_name(*peer),
                                time_of(*peer), factor(speed_up)});
    if (found.empty()) chart.matrix.push_back({"none", "", "", "", "", "", "", ""});
    return chart;
}

Chart compared_rates(const std::vector<PeerGroup>& groups) {
    Chart chart;
    chart.matrix = {
        {"workload", "type", ">elements", "variant", ">time", ">rate", ">fraction", "speed-up over peers"}};
    Lists calls, notes;
    std::vector<std::string> problems;
    for (const PeerGroup& group : groups) {
        std::string peers;
        for (const Result* peer : group.peers) {
            peers += (peers.empty() ? "" : ", ") + factor(group.speed_up(*peer)) + " " + code(peer->variant) +
                     (peer->note.empty() ? "" : " *");
            add(calls, code(peer->variant) + " is " + peer->library, peer->call);
        }
        for (const Result* r : group.variants) {
            const bool is_best = r == &group.best();
            chart.matrix.push_back({r->workload, r->type, lab::size_name(r->n), code(r->variant), time_of(*r),
                                    rate_of(*r), fraction_of(*r).empty() ? "–" : fraction_of(*r),
                                    !is_best        ? ""
                                    : peers.empty() ? "–"
                                                    : peers});
        }
        for (const auto& rows : {group.variants, group.peers}) {
            for (const Result* r : rows) {
                if (!r->note.empty()) add(notes, r->note, code(r->variant) + " " + work_of_group(*r));
            }
        }
        for (const Result* r : group.problems) {
            std::string problem = r->problem;
            std::ranges::replace(problem, '`', '\'');
            problems.push_back("No time: " + code(r->variant) + " " + work_of_group(*r) + ": " + problem +
                               ".");
        }
    }
    std::vector<std::string> names;
    for (const auto& [peer, functions] : calls) {
        const std::string list = joined(functions, ", ");
        names.push_back(peer + (list.empty() ? "" : " (" + list + ")"));
    }
    if (!names.empty()) chart.remarks.push_back("Peers: " + joined(names, "; ") + ".");
    for (const auto& [note, rows] : notes)
        chart.remarks.push_back("* " + note + ": " + joined(rows, ", ") + ".");
    chart.remarks.insert(chart.remarks.end(), problems.begin(), problems.end());
    return chart;
}

std::vector<Chart> faster_baselines(const Figure& figure, const Data& data) {
    std::vector<Chart> charts;
    for (const auto& [device, results] : groups(figure, data.results, {By::device})) {
        charts.push_back(faster_peers(peer_groups(results)));
        charts.back().title = panel_title(device, data);
    }
    return charts;
}

std::vector<Chart> all_baselines(const Figure& figure, const Data& data) {
    std::vector<Chart> charts;
    for (const auto& [title, results] : groups(figure, data.results, {By::device, By::algorithm})) {
        charts.push_back(compared_rates(peer_groups(results)));
        charts.back().title = title;
    }
    return charts;
}

std::vector<Chart> speed_ups(const Figure& figure, const Data& data) {
    std::vector<Chart> charts;
    for (const auto& [name, results] : groups(figure, data.results, figure.panels)) {
        Chart chart;
        chart.title = name;
        chart.x = {.name = "number of elements", .unit = Unit::power_of_two, .log = true};
        chart.y = {.name = "speed-up", .unit = Unit::factor, .log = true};
        std::map<double, double> same;
        std::map<std::string, Series> series;
        for (const PeerGroup& group : peer_groups(results)) {
            for (const Result* peer : group.peers) {
                const auto x = static_cast<double>(peer->n);
                series[peer->variant].marks.push_back({.x = x, .y = group.speed_up(*peer), .of = peer});
                same[x] = 1;
            }
        }
        for (const Result* r : results) {
            if (!r->ms) chart.missing.push_back(r);
        }
        for (auto& [peer, line] : series) {
            line.name = peer;
            chart.series.push_back(std::move(line));
        }
        if (same.size() > 1) chart.guides.push_back({"as fast as the peer", {same.begin(), same.end()}});
        add_chart(charts, std::move(chart));
    }
    return charts;
}

}  // namespace concord::study
