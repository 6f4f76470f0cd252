// The documentation's blocks of stored results.

#include "sections.hpp"
#include "stored.hpp"

#include <concord/error.hpp>
#include <concord/lab/table.hpp>

#include <algorithm>
#include <cmath>
#include <map>

namespace concord::study {
namespace {

using Machines = std::vector<StoredMachine>;
using Devices = std::vector<const StoredDevice*>;

// The words, without repetitions.
std::string joined(const std::vector<std::string>& words, const char* separator) {
    std::string text;
    for (std::size_t k = 0; k < words.size(); ++k) {
        if (!words[k].empty() && std::find(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(k),
                                           words[k]) == words.begin() + static_cast<std::ptrdiff_t>(k))
            text.append(text.empty() ? "" : separator).append(words[k]);
    }
    return text;
}

std::string command_of(const ordered_json& run) {
    return "`" + run["command"].get<std::string>() + "`";
}

std::string command_and_day(const ordered_json& run) {
    return command_of(run) + " on " + run["date"].get<std::string>();
}

constexpr const char* explanation =
    "Speed-up is the peer's time divided by Concord's: above 1, Concord is faster. Results are verified "
    "before they are "
    "timed. The fraction compares with the attainable rate (copy, read, fused multiply-add, or f64 products "
    "on tensor "
    "cores) measured in the same run. Above 103 % the table says > 100 %: small work is bound by latency and "
    "caches, and "
    "some calls use other units than the kernel that measures the rate, or another mix of reads and "
    "writes.\n";

std::string machine_page(const StoredMachine& machine) {
    std::vector<std::string> hosts;
    std::string commands;
    for (const ordered_json& run : machine.stored["runs"]) {
        const ordered_json& m = run["machine"];
        hosts.push_back(m["cpu"].get<std::string>() + ", " + m["cores"].dump() + " cores, " +
                        m["os"].get<std::string>() + "; Concord compiled by " +
                        m["compiler"].get<std::string>());
        const std::string commit = run.value("commit", ""), note = run.value("note", "");
        commands += "- " + command_of(run) + ", version " + run["version"].get<std::string>() +
                    (commit.empty() ? "" : ", commit " + commit) + ", " + run["date"].get<std::string>() +
                    (note.empty() ? "" : ". " + note) + "\n";
    }
    std::string text =
        "Host: " + joined(hosts, ". ") + ".\n\nMeasured by\n\n" + commands + "\n" + explanation;
    for (const StoredDevice& device : machine.devices) {
        std::vector<std::string> facts = {"Selector `" + device.info["selector"].get<std::string>() + "`",
                                          device.info.value("hardware", ""), device.info.value("driver", "")},
                                 rates;
        const ordered_json libraries = device.info.value("libraries", ordered_json::object());
        for (const auto& [name, version] : libraries.items())
            facts.push_back(name + ": " + version.get<std::string>());
        for (const auto& [name, value] : ceilings_of(device.info)) {
            if (!value.empty()) rates.push_back(name + " " + value);
        }
        text += "\n## " + device.title + "\n\n" + joined(facts, "; ") + ".\n\n";
        if (!rates.empty()) text += "Attainable rates: " + joined(rates, "; ") + ".\n\n";
        if (device.has_peers()) {
            const Chart chart = faster_peers(device.groups_of());
            text += "### Where a peer is faster (" + device.backend + ")\n\n" + chart.text + "\n\n" +
                    markdown_of(chart);
        }
        for (const std::string& algorithm : device.algorithms())
            text += "### " + algorithm + " (" + device.backend + ")\n\n" +
                    markdown_of(compared_rates(device.groups_of(algorithm)));
        text.pop_back();
    }
    return text;
}

std::string machines_page(const Machines& machines) {
    Rows rows = {{"machine", "selector", "device", "backend", "measured on", ">workloads",
                  ">comparisons with peers", ">peer faster"}};
    for (const StoredMachine& machine : machines) {
        for (const StoredDevice& device : machine.devices) {
            std::string date;
            std::size_t peers = 0;
            for (const StoredDevice::Group& group : device.groups) {
                date = std::max(date, (*group.run)["date"].get<std::string>());
                peers += group.peers.size();
            }
            const Rows faster = faster_peers(device.groups_of()).matrix;
            const std::size_t count = faster.back().front() == "none" ? 0 : faster.size() - 1;
            rows.push_back({"[" + machine.stored["title"].get<std::string>() + "](" + machine.name + ".md)",
                            "`" + device.info["selector"].get<std::string>() + "`", device.info["name"],
                            device.backend, date, std::to_string(device.groups.size()), std::to_string(peers),
                            std::to_string(count)});
        }
    }
    std::string text = markdown_table(rows);
    for (std::size_t at = 0; (at = text.find("\\[", at)) != std::string::npos;)
        text.erase(at, 1);  // links
    text.pop_back();
    return text;
}

// The largest sizes of each workload and type among groups that `is_wanted` accepts.
template <class Wanted>
std::vector<StoredDevice::Group> largest(const StoredDevice& device, const Wanted& is_wanted) {
    std::vector<StoredDevice::Group> list;
    for (const StoredDevice::Group& group : device.groups) {
        if (!is_wanted(group)) continue;
        const Result& r = group.best();
        const auto it = std::ranges::find_if(list, [&](const PeerGroup& g) {
            return g.best().algorithm == r.algorithm && g.best().workload == r.workload &&
                   g.best().type == r.type;
        });
        if (it == list.end())
            list.push_back(group);
        else if (it->best().n < r.n)
            *it = group;
    }
    return list;
}

std::string algorithm_page(const Machines& machines, const std::string& name) {
    std::string text;
    for (const StoredMachine& machine : machines) {
        for (const StoredDevice& device : machine.devices) {
            const auto groups =
                largest(device, [&](const PeerGroup& g) { return g.best().algorithm == name; });
            if (groups.empty()) continue;
            std::vector<std::string> runs;
            for (const StoredDevice::Group& group : groups)
                runs.push_back(command_and_day(*group.run));
            text += "**" + device.title + "** (" + joined(runs, "; ") + "; [all sizes](../performance/" +
                    machine.name + ".md)):\n\n" + markdown_of(compared_rates({groups.begin(), groups.end()}));
        }
    }
    return text.empty() ? "There are no stored measurements.\n" : text + explanation;
}

// The devices that peers were measured on. Names: machines; empty: all.
Devices compared_devices(const Machines& machines, const std::vector<std::string>& names) {
    Devices devices;
    for (const std::string backend : {"CUDA", "OpenCL", "oneTBB"}) {
        for (const StoredMachine& machine : machines) {
            if (!names.empty() && std::ranges::find(names, machine.name) == names.end()) continue;
            for (const StoredDevice& device : machine.devices) {
                if (device.backend == backend && device.has_peers()) devices.push_back(&device);
            }
        }
    }
    return devices;
}

std::vector<std::string> algorithms_of(const Devices& devices) {
    std::vector<std::string> names;
    for (const StoredDevice* device : devices) {
        for (const std::string& name : device->algorithms()) {
            if (std::ranges::find(names, name) == names.end()) names.push_back(name);
        }
    }
    return names;
}

// The first workload of an algorithm that has a peer, or the first one, at its largest size. May be empty.
std::vector<StoredDevice::Group> first_workload(const StoredDevice& device, const std::string& algorithm) {
    auto groups = largest(
        device, [&](const PeerGroup& g) { return g.best().algorithm == algorithm && !g.peers.empty(); });
    if (groups.empty())
        groups = largest(device, [&](const PeerGroup& g) { return g.best().algorithm == algorithm; });
    groups.resize(std::min<std::size_t>(groups.size(), 1));
    return groups;
}

// The lowest speed-up of all workloads at their largest size.
StoredDevice::Group lowest(const StoredDevice& device) {
    return std::ranges::min(largest(device, [](const PeerGroup& g) { return !g.peers.empty(); }), {},
                            [](const PeerGroup& g) { return g.speed_up(*g.peers.front()); });
}

// "1.24x the speed of CUB", "as fast as CUB".
std::string compared_words(const PeerGroup& group) {
    if (group.peers.empty()) return "no peer";
    const Result& peer = *group.peers.front();
    const double value = group.speed_up(peer);
    return (value >= 0.995 && value < 1.005 ? "as fast as " : factor(value) + " the speed of ") +
           peer_name(peer) + (peer.note.empty() ? "" : " *");
}

std::string headline_page(const Devices& devices) {
    Rows rows = {{"algorithm"}};
    for (const StoredDevice* device : devices)
        rows.front().push_back(device->title);
    bool is_marked = false;
    for (const std::string& algorithm : algorithms_of(devices)) {
        rows.push_back({algorithm});
        for (const StoredDevice* device : devices) {
            rows.back().emplace_back("–");
            for (const PeerGroup& group : first_workload(*device, algorithm)) {
                const std::string fraction = fraction_of(group.best());
                rows.back().back() = work_of_group(group.best()) + ": " + rate_of(group.best()) +
                                     (fraction.empty() ? "" : " (" + fraction + " of attainable)") + "; " +
                                     compared_words(group);
                is_marked = is_marked || rows.back().back().ends_with('*');
            }
        }
    }
    rows.push_back({"lowest speed-up of all workloads at their largest size"});
    for (const StoredDevice* device : devices) {
        const StoredDevice::Group group = lowest(*device);
        rows.back().push_back(group.best().algorithm + " " + work_of_group(group.best()) + ": " +
                              rate_of(group.best()) + "; " + compared_words(group));
    }
    return markdown_table(rows) + (is_marked ? "\\* see the note on the machine's page: the peer's contract "
                                               "differs, or the result is verified "
                                               "with a statistical bound.\n"
                                             : "");
}

// What python/benchmarks/compare.py measured: a table for each device.
std::string python_page(const std::filesystem::path& folder) {
    std::string text;
    for (const ordered_json& stored : stored_files(folder, "python")) {
        std::vector<std::string> libraries, versions, overheads;
        std::map<std::tuple<std::string, std::string, u64>, std::size_t> lines;
        Rows rows = {{"function", "dtype", ">elements", ">Concord"}};
        const auto time = [](double ms) { return Scale{.unit = Scale::Unit::milliseconds}.write(ms); };
        for (const ordered_json& row : stored["rows"]) {
            const std::string library = row.at("library"), function = row.at("function"),
                              type = row.at("dtype");
            const u64 n = row.at("n");
            const double ms = row.at("ms"), peer_ms = row.at("peer_ms");
            const auto at = std::ranges::find(libraries, library) - libraries.begin();
            if (static_cast<std::size_t>(at) == libraries.size()) {
                libraries.push_back(library);
                rows.front().push_back(">" + library);
            }
            const auto [line, is_new] = lines.try_emplace({function, type, n}, rows.size());
            if (is_new) rows.push_back({"`" + function + "`", type, lab::size_name(n), time(ms)});
            rows[line->second].resize(5 + static_cast<std::size_t>(at), "–");
            rows[line->second].back() = time(peer_ms) + " (" + factor(peer_ms / ms) + ")";
        }
        for (auto& row : rows)
            row.resize(rows.front().size(), "–");
        for (const auto& [name, version] : stored["versions"].items()) {
            if (name == "Python" || std::ranges::find(libraries, name) != libraries.end())
                versions.push_back(name + " " + version.get<std::string>());
        }
        for (const auto& [library, times] : stored["overhead"].items())
            overheads.push_back(lab::rounded(times.at("overhead_us").get<double>()) + " µs for " + library);
        text += "**" + stored["device"].get<std::string>() + "**, " + stored["driver"].get<std::string>() +
                "; " + joined(versions, ", ") + "; " + stored["date"].get<std::string>() + ", version " +
                stored["version"].get<std::string>() + ".\n\n" + markdown_table(rows) +
                "A call from Python takes longer on the host than the same call in C++, by " +
                joined(overheads, ", ") + ".\n\n";
    }
    return text;
}

// How many variants of an algorithm agree with the reference on a device: "2 identical, 1 within bound (800 cases)".
std::string agreement_of(const ordered_json& stored, const ordered_json& selector,
                         const std::string& algorithm) {
    u64 cases = 0, failed = 0, compiled = 0, bound = 0, bits = 0;
    for (const ordered_json& cell : stored["matrix"]) {
        if (cell["device"] != selector || cell["algorithm"] != algorithm) continue;
        const u64 correct = cell.value("passed", u64{0}) + cell.value("compiled", u64{0});
        const auto says = [&](const char* word) {
            return cell["verdict"].get_ref<const std::string&>().find(word) != std::string::npos;
        };
        cases += correct;
        if (cell.value("failed", 0) != 0)
            ++failed;
        else if (correct > 0)
            ++(says("compile") ? compiled : says("bound") ? bound : bits);
    }
    std::vector<std::string> parts;
    for (const auto& [count, what] : {std::pair(bits, " identical"), std::pair(bound, " within bound"),
                                      std::pair(compiled, " compile"), std::pair(failed, " FAILED")}) {
        if (count > 0) parts.push_back(std::to_string(count) + what);
    }
    if (parts.empty()) return "–";
    std::string digits = std::to_string(cases);
    for (std::size_t k = digits.size(); k > 3; k -= 3)
        digits.insert(k - 3, " ");
    return joined(parts, ", ") + " (" + digits + " cases)";
}

struct Agreement {
    Rows rows;
    std::string commands, covers;
};

Agreement stored_agreement(const std::filesystem::path& folder) {
    Agreement result{{{"algorithm"}}, {}, {}};
    const std::vector<ordered_json> checks = stored_files(folder, "check");
    std::vector<std::string> names, commands, covers;
    for (const ordered_json& stored : checks) {
        for (const ordered_json& cell : stored["matrix"])
            names.push_back(cell["algorithm"]);
        const std::string what = stored["covers"];
        commands.push_back(command_and_day(stored) + " (" + what + ")");
        covers.push_back(what + ", " + stored["date"].get<std::string>());
    }
    for (const std::string& name : names) {
        if (std::ranges::find(result.rows, name, [](const auto& row) { return row.front(); }) ==
            result.rows.end())
            result.rows.push_back({name});
    }
    for (const ordered_json& stored : checks) {
        for (const ordered_json& device : stored["devices"]) {
            result.rows.front().push_back(device["name"].get<std::string>() + ", " +
                                          backend_title(device["selector"]));
            for (std::size_t r = 1; r < result.rows.size(); ++r)
                result.rows[r].push_back(agreement_of(stored, device["selector"], result.rows[r].front()));
        }
    }
    result.commands = joined(commands, "; ");
    result.covers = joined(covers, "; ");
    return result;
}

std::string agreement_figure(const Agreement& agreement) {
    Chart chart;
    chart.width = 90 + 190 * static_cast<double>(agreement.rows.front().size() - 1);
    chart.matrix = agreement.rows;
    return svg_file("Agreement with the serial reference: variants of each algorithm",
                    "For each algorithm and device, how many variants give bitwise identical results.",
                    {chart},
                    {"identical: bitwise identical to the reference. within bound: sums in another order, or "
                     "split operands "
                     "(tf32x3), within the error bound",
                     agreement.covers});
}

std::string speed_ups_figure(const Devices& devices) {
    std::vector<Chart> charts;
    for (const StoredDevice* device : devices) {
        Chart& chart = charts.emplace_back();
        chart.bars = true;
        chart.width = 808;
        chart.y = {.unit = Scale::Unit::factor, .log = true};
        std::string date;
        auto add = [&](const StoredDevice::Group& group, const std::string& prefix) {
            if (group.peers.empty()) return;
            const Result &r = group.best(), &peer = *group.peers.front();
            date = std::max(date, (*group.run)["date"].get<std::string>());
            chart.series[0].marks.push_back({.y = group.speed_up(peer),
                                             .label = prefix + r.algorithm + " " + work_of_group(r),
                                             .note = peer.library,
                                             .of = &r});
        };
        chart.series.emplace_back();
        for (const std::string& algorithm : device->algorithms()) {
            for (const StoredDevice::Group& group : first_workload(*device, algorithm))
                add(group, "");
        }
        add(lowest(*device), "lowest: ");
        chart.y.name = device->title + ", measured on " + date;
    }
    std::vector<double> all = {0.5, 2};  // the charts have the same axis
    for (const Chart& chart : charts) {
        for (const Mark& mark : chart.series[0].marks)
            all.push_back(mark.y);
    }
    for (Chart& chart : charts)
        chart.shown = all;
    return svg_file("Speed-up over the fastest peer library (peer's time / Concord's time)",
                    "For each device and algorithm, Concord's speed-up over the fastest peer library.",
                    charts,
                    {"Right of 1x Concord is faster. lowest: the device's lowest speed-up of all workloads "
                     "at their largest size."});
}

}  // namespace

std::string stored_page(const std::filesystem::path& folder, const std::vector<std::string>& words) {
    const std::string& kind = words.front();
    const std::vector<std::string> names(words.begin() + 1, words.end());
    if (kind == "python") return python_page(folder);
    if (kind == "agreement") {
        const Agreement agreement = stored_agreement(folder);
        return markdown_table(agreement.rows) +
               "Variants per algorithm: *identical* results are bitwise those of the serial reference; "
               "results *within bound* "
               "are floating-point sums in another order, or products of split operands (`tf32x3`). "
               "Commands: " +
               agreement.commands + ".\n";
    }
    const Machines machines = stored_machines(folder);
    if (kind == "machines") return machines_page(machines);
    if (kind == "algorithm" && names.size() == 1) return algorithm_page(machines, names.front());
    for (const std::string& name : names) {
        const auto it = std::ranges::find(machines, name, &StoredMachine::name);
        if (it == machines.end())
            throw Error(ErrorCode::invalid_argument, "--page",
                        detail::error_message("unknown machine", detail::quoted(name)));
        if (kind == "machine") return machine_page(*it);
    }
    if (kind == "headline") return headline_page(compared_devices(machines, names));
    throw Error(ErrorCode::invalid_argument, "--page",
                detail::error_message("unknown page", detail::quoted(kind),
                                      "available: machines, machine NAME, algorithm NAME, headline "
                                      "[NAME...], python, agreement, figures DIR"));
}

void stored_figures(const std::filesystem::path& folder, const Save& save) {
    save("agreement.svg", agreement_figure(stored_agreement(folder)));
    save("speedups.svg", speed_ups_figure(compared_devices(stored_machines(folder), {})));
}

}  // namespace concord::study
