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

std::string peer_label(const Result& peer, const PeerGroup& group) {
    const auto count = std::ranges::count(group.peers, peer.library, &Result::library);
    return count > 1 ? peer_name(peer) : peer.library;
}

std::string above_ceiling(const std::vector<const Result*>& results) {
    std::vector<std::string> list;
    for (const Result* r : results) {
        if (!fraction_of(*r).starts_with('>')) continue;
        Result ceiling = *r;
        ceiling.ms = r->ceiling_ms;
        list.push_back(work_of_group(*r) + " (" + rate_of(*r) + "; " + r->ceiling + ": " + rate_of(ceiling) +
                       ")");
    }
    return list.empty() ? ""
                        : "> 100 %: faster than the kernel that measures the ceiling with as much work: " +
                              joined(list, ", ") + ".";
}

void keep_newest(std::vector<const Result*>& peers) {
    // "CUB , run_to_run" and {3, 5, 0} of "CUB 3.5.0, run_to_run".
    struct Release {
        std::string name;
        std::vector<u64> numbers;
    };
    const auto release_of = [](const Result& peer) {
        Release release{peer.call, {}};
        bool in_number = false;
        for (const char c : peer.library) {
            const bool is_digit = c >= '0' && c <= '9';
            if (is_digit && !in_number) release.numbers.push_back(0);
            if (is_digit)
                release.numbers.back() = release.numbers.back() * 10 + static_cast<u64>(c - '0');
            else if (c != '.')
                release.name += c;
            in_number = is_digit;
        }
        return release;
    };
    const std::vector<const Result*> all = peers;
    std::erase_if(peers, [&](const Result* peer) {
        const Release own = release_of(*peer);
        return std::ranges::any_of(all, [&](const Result* other) {
            const Release release = release_of(*other);
            return release.name == own.name && release.numbers > own.numbers;
        });
    });
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
        {"workload", "type", ">elements", "variant", ">time", ">rate", ">of ceiling", "speed-up over peers"}};
    Lists calls, notes;
    std::vector<std::string> problems;
    std::vector<const Result*> shown;
    for (const PeerGroup& group : groups) {
        std::string peers;
        for (const Result* peer : group.peers) {
            peers += (peers.empty() ? "" : ", ") + factor(group.speed_up(*peer)) + " " +
                     peer_label(*peer, group) + (peer->note.empty() ? "" : " *");
            add(calls, peer->library, peer->call);
        }
        for (const Result* r : group.variants) {
            const bool is_best = r == &group.best();
            shown.push_back(r);
            chart.matrix.push_back({r->workload, r->type, lab::size_name(r->n), code(r->variant), time_of(*r),
                                    rate_of(*r), fraction_of(*r).empty() ? "–" : fraction_of(*r),
                                    !is_best        ? ""
                                    : peers.empty() ? "–"
                                                    : peers});
        }
        for (const auto& rows : {group.variants, group.peers}) {
            for (const Result* r : rows) {
                if (r->note.empty()) continue;
                // The bound is the same for all rows, and a differing count is not.
                const bool is_bound = r->note.starts_with("verified by a statistical bound");
                const std::string& name = r->baseline ? r->library : r->variant;
                add(notes, r->note, is_bound ? "" : name + " " + work_of_group(*r));
            }
        }
        for (const Result* r : group.problems) {
            std::string problem = r->problem;
            std::ranges::replace(problem, '`', '\'');
            const std::string name = r->baseline ? peer_name(*r) : code(r->variant);
            problems.push_back("No time: " + name + " " + work_of_group(*r) + ": " + problem + ".");
        }
    }
    std::vector<std::string> names;
    for (const auto& [peer, functions] : calls) {
        const std::string list = joined(functions, ", ");
        names.push_back(peer + (list.empty() ? "" : " (" + list + ")"));
    }
    if (!names.empty()) chart.remarks.push_back("Peers: " + joined(names, "; ") + ".");
    for (const auto& [note, rows] : notes) {
        const std::string list = joined(rows, ", ");
        chart.remarks.push_back("* " + note + (list.empty() ? "" : ": " + list) + ".");
    }
    if (const std::string above = above_ceiling(shown); !above.empty()) chart.remarks.push_back(above);
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
    return charts_of(figure, data, figure.panels, [&](Chart& chart, const Group& panel) {
        const auto& [name, results] = panel;
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
    });
}

}  // namespace concord::study
