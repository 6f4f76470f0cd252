// The documentation's blocks of stored results.

#include "pages.hpp"
#include "overview.hpp"
#include "parse_json.hpp"
#include "peers.hpp"
#include "sections.hpp"

#include <concord/algorithm.hpp>
#include <concord/error.hpp>
#include <concord/internal/input_file.hpp>
#include <concord/internal/number_text.hpp>
#include <concord/lab/table.hpp>
#include <concord/study/internal/rank_studies.hpp>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>

namespace concord::study {

namespace fs = std::filesystem;

void for_each_file(const fs::path& folder, const std::string& kind,
                   const std::function<void(const std::string& name, const ordered_json& content)>& visit) {
    std::map<std::string, fs::path> paths;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
        if (const fs::path name = entry.path().filename(); name.stem().extension() == kind)
            paths[name.stem().stem()] = entry.path();
    }
    for (const auto& [name, path] : paths) {
        try {
            visit(name, parse_json(detail::text_of_file(path, "--stored"), max_levels_of_file));
        } catch (const std::exception& problem) {
            throw Error(ErrorCode::io, "--stored", path.string() + ": " + problem.what());
        }
    }
}

std::string text_of(const ordered_json& object, const char* name) {
    return object.at(name).get<std::string>();
}

std::string backend_of(const std::string& selector) {
    const std::string name = selector.substr(0, selector.find(':'));
    return name == "cuda" ? "CUDA" : name == "opencl" ? "OpenCL" : name == "tbb" ? "oneTBB" : name;
}

std::string commit_of(const ordered_json& run) {
    std::string commit = run.value("commit", "");
    if (commit.empty() || commit == "unknown") return ", commit not recorded";
    constexpr std::string_view modified = " (modified)";
    if (!commit.ends_with(modified)) return ", commit " + commit;
    commit.resize(commit.size() - modified.size());
    return ", commit " + commit + " **with changes that were not committed**";
}

namespace {

// A device's measurements in a file.
struct StoredDevice {
    std::string machine, title, backend;  // "h200", "NVIDIA H200, CUDA", "CUDA"
    ordered_json info;
    std::vector<PeerGroup> groups;
};
using Devices = std::vector<const StoredDevice*>;

struct StoredMachine {
    std::string name;
    ordered_json file;
    std::vector<Records> runs;
    std::vector<StoredDevice> devices;
};
using Machines = std::vector<StoredMachine>;

void require(bool holds, const std::string& wrong, const Result& r) {
    if (!holds) throw std::invalid_argument(wrong + ", got '" + r.title() + "'");
}

void check(const Records& run) {
    std::set<std::string> seen;
    for (const Result& r : run.results) {
        require(run.device(r.device) != nullptr, "unknown device", r);
        require(r.ms.has_value() == r.problem.empty(), "expected a time or a problem", r);
        require(!r.baseline || !r.library.empty(), "a baseline lacks 'library'", r);
        require(seen.insert(r.title() + r.library).second, "a second row of the same measurement", r);
    }
}

Machines stored_machines(const fs::path& folder) {
    Machines machines;
    for_each_file(folder, ".bench", [&](const std::string& name, const ordered_json& content) {
        StoredMachine& machine = machines.emplace_back();
        machine.name = name;
        machine.file = content;
        for (const ordered_json& run : machine.file.at("runs")) {
            check(machine.runs.emplace_back(records_of_file({{"content", run}})));
            for (const char* fact : {"cpu", "os", "compiler"})
                (void)text_of(run.at("machine"), fact);
            for (const char* fact : {"command", "date", "version"})
                (void)text_of(run, fact);
        }
        for (std::size_t k = 0; k < machine.runs.size(); ++k) {
            const ordered_json& run = machine.file["runs"][k];
            for (const ordered_json& info : run.at("devices")) {
                const std::string selector = info.at("selector"), backend = backend_of(selector);
                auto it = std::ranges::find(machine.devices, info["selector"],
                                            [](const StoredDevice& d) { return d.info["selector"]; });
                if (it == machine.devices.end())
                    it = machine.devices.insert(
                        it, {name, info.at("name").get<std::string>() + ", " + backend, backend, info, {}});
                else if (info.contains("libraries"))
                    it->info["libraries"].update(info["libraries"]);
                std::vector<const Result*> results;
                for (const Result& r : machine.runs[k].results) {
                    if (r.device == selector) results.push_back(&r);
                }
                for (PeerGroup& group : peer_groups(results)) {
                    group.run = &run;
                    keep_newest(group.peers);
                    const auto older = std::ranges::find(it->groups, group.best().place(),
                                                         [](const auto& g) { return g.best().place(); });
                    if (older == it->groups.end())
                        it->groups.push_back(std::move(group));
                    else if (text_of(*older->run, "date") <= text_of(run, "date"))
                        *older = std::move(group);
                }
            }
        }
    });
    return machines;
}

// The groups of an algorithm; empty: all.
std::vector<PeerGroup> groups_of(const StoredDevice& device, const std::string& algorithm) {
    std::vector<PeerGroup> list = device.groups;
    std::erase_if(list,
                  [&](const PeerGroup& g) { return !algorithm.empty() && g.best().algorithm != algorithm; });
    return list;
}

// The same at the largest size of each workload and type. `compared`: only groups with a peer.
std::vector<PeerGroup> largest(const StoredDevice& device, const std::string& algorithm, bool compared) {
    std::vector<PeerGroup> list;
    for (const PeerGroup& group : groups_of(device, algorithm)) {
        if (compared && group.peers.empty()) continue;
        const auto work = [](const PeerGroup& g) {
            return std::tie(g.best().algorithm, g.best().workload, g.best().type);
        };
        const auto it = std::ranges::find(list, work(group), work);
        if (it == list.end())
            list.push_back(group);
        else if (it->best().n < group.best().n)
            *it = group;
    }
    return list;
}

// The first workload of an algorithm that has a peer, or the first one. May be empty.
std::vector<PeerGroup> first_workload(const StoredDevice& device, const std::string& algorithm) {
    auto list = largest(device, algorithm, true);
    if (list.empty()) list = largest(device, algorithm, false);
    if (list.size() > 1) list.resize(1);
    return list;
}

// The lowest speed-up of all workloads.
PeerGroup lowest(const StoredDevice& device) {
    return std::ranges::min(largest(device, "", true), {},
                            [](const PeerGroup& g) { return g.speed_up(*g.peers.front()); });
}

std::vector<std::string> algorithms_of(const Devices& devices) {
    std::vector<std::string> names;
    for (const StoredDevice* device : devices) {
        for (const PeerGroup& group : device->groups) {
            if (std::ranges::find(names, group.best().algorithm) == names.end())
                names.push_back(group.best().algorithm);
        }
    }
    return names;
}

// The devices that peers were measured on. Names: of machines; empty: all.
Devices compared_devices(const Machines& machines, const std::vector<std::string>& names) {
    Devices devices;
    for (const StoredMachine& machine : machines) {
        if (!names.empty() && std::ranges::find(names, machine.name) == names.end()) continue;
        for (const StoredDevice& device : machine.devices) {
            if (!largest(device, "", true).empty()) devices.push_back(&device);
        }
    }
    std::ranges::stable_sort(devices, {}, &StoredDevice::backend);
    return devices;
}

constexpr const char* explanation =
    "Speed-up is the peer's time divided by Concord's: above 1, Concord is faster. Results are verified "
    "before "
    "they are timed. A [ceiling](../measuring.md#ceilings) is the rate that a simple kernel attains on the "
    "device "
    "with as many bytes, measured in the same run. `> 100 %`: the call is more than 3 % faster than that "
    "kernel. "
    "The line below the table names both rates. Small work is bound by latency and caches, some calls have "
    "another "
    "mix of reads and writes, and machines that are shared are disturbed. Of each peer's function the newest "
    "measured "
    "release is shown; `docs/results` has the others.\n";

// Puts a no-break space between a number and its unit.
std::string with_units_kept(const std::string& text) {
    constexpr std::string_view prefixes[] = {"", "k", "M", "G", "T", "P", "n", "µ", "m"},
                               units[] = {"B/s", "FLOP/s", "keys/s", "elem/s", "s"};
    const auto is_unit = [&](std::string_view rest) {
        const auto ends = [&](const std::string& unit) {
            return rest.starts_with(unit) &&
                   (rest.size() == unit.size() ||
                    std::isalnum(static_cast<unsigned char>(rest[unit.size()])) == 0);
        };
        if (ends("%")) return true;
        return std::ranges::any_of(prefixes, [&](std::string_view prefix) {
            return std::ranges::any_of(
                units, [&](std::string_view unit) { return ends(std::string(prefix).append(unit)); });
        });
    };
    std::string kept;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool is_gap =
            text[i] == ' ' && i > 0 && std::isdigit(static_cast<unsigned char>(text[i - 1])) != 0;
        kept += is_gap && is_unit(std::string_view(text).substr(i + 1)) ? no_break_space : text.substr(i, 1);
    }
    return kept;
}

// A part of a page that is folded. GitHub and the site show the summary.
std::string folded(const std::string& summary, const std::string& text) {
    return "<details>\n<summary>" + summary + "</summary>\n\n" + text + "</details>\n\n";
}

// Hosts and commands of a file's runs.
std::string measured_by(const ordered_json& file) {
    std::vector<std::string> hosts;
    std::string commands;
    for (const ordered_json& run : file.at("runs")) {
        const ordered_json& m = run.at("machine");
        hosts.push_back(text_of(m, "cpu") + ", " + m.at("cores").dump() + " cores, " + text_of(m, "os") +
                        "; Concord compiled by " + text_of(m, "compiler"));
        const std::string note = run.value("note", "");
        commands += "- `" + text_of(run, "command") + "`, version " + text_of(run, "version") +
                    commit_of(run) + ", " + text_of(run, "date") + (note.empty() ? "" : ". " + note) + "\n";
    }
    return "Host: " + joined(hosts, ". ") + ".\n\nMeasured by\n\n" + commands + "\n";
}

// "0.99x CUB 3.5.0" of the fastest peer.
std::string fastest_peer(const PeerGroup& group) {
    if (group.peers.empty()) return "–";
    const Result& peer = *group.peers.front();
    return factor(group.speed_up(peer)) + " " + peer.library + (peer.note.empty() ? "" : " *");
}

std::string fraction_cell(const Result& r) {
    return fraction_of(r).empty() ? "–" : fraction_of(r);
}

// A row for each workload and type.
Chart largest_rates(const StoredDevice& device) {
    Chart chart;
    chart.matrix = {
        {"work", "type", ">elements", "variant", ">time", ">rate", ">of ceiling", "fastest peer"}};
    std::vector<const Result*> shown;
    for (const PeerGroup& group : largest(device, "", false)) {
        const Result& r = group.best();
        shown.push_back(&r);
        chart.matrix.push_back({r.algorithm + " " + r.workload, r.type, lab::size_name(r.n),
                                "`" + r.variant + "`", time_of(r), rate_of(r), fraction_cell(r),
                                fastest_peer(group)});
    }
    chart.remarks = {above_ceiling(shown)};
    std::erase(chart.remarks, "");
    return chart;
}

std::string machine_page(const StoredMachine& machine) {
    std::string text = measured_by(machine.file) + explanation;
    for (const StoredDevice& device : machine.devices) {
        std::vector<std::string> facts = {"Selector `" + text_of(device.info, "selector") + "`",
                                          device.info.value("hardware", ""), device.info.value("driver", "")},
                                 rates;
        const ordered_json libraries = device.info.value("libraries", ordered_json::object());
        for (const auto& [name, version] : libraries.items())
            facts.push_back(name + ": " + version.get<std::string>());
        for (const auto& [name, value] : ceilings_of(device.info)) {
            if (!value.empty()) rates.emplace_back(name).append(": ").append(value);
        }
        text += "\n## " + device.title + "\n\n" + joined(facts, "; ") + ".\n\n";
        text += rates.empty()
                    ? "Ceilings: not stored, because the study was interrupted before it had written them. "
                      "The column *of ceiling* compares with those that it measured next to the rows.\n\n"
                    : "Ceilings: " + joined(rates, "; ") + ".\n\n";
        text += "At the largest size:\n\n" + markdown_of(largest_rates(device));
        if (!largest(device, "", true).empty()) {
            const Chart chart = faster_peers(device.groups);
            text += folded("Where a peer is faster: " + chart.text, markdown_of(chart));
        }
        for (const std::string& algorithm : algorithms_of({&device}))
            text += folded(algorithm + ": all sizes and peers",
                           markdown_of(compared_rates(groups_of(device, algorithm))));
        text.pop_back();
    }
    return text;
}

// Without escapes of the links in it.
std::string with_links(std::string text) {
    for (std::size_t at = 0; (at = text.find("\\[", at)) != std::string::npos;)
        text.erase(at, 1);
    return text;
}

std::string machines_page(const Machines& machines) {
    Rows rows = {{"machine", "selector", "device", "backend", "measured on", ">workloads",
                  ">comparisons with peers", ">peer faster"}};
    for (const StoredMachine& machine : machines) {
        for (const StoredDevice& device : machine.devices) {
            std::string date;
            std::size_t peers = 0;
            for (const PeerGroup& group : device.groups) {
                date = std::max(date, text_of(*group.run, "date"));
                peers += group.peers.size();
            }
            const Rows faster = faster_peers(device.groups).matrix;
            const std::size_t count = faster.back().front() == "none" ? 0 : faster.size() - 1;
            rows.push_back({"[" + text_of(machine.file, "title") + "](" + machine.name + ".md)",
                            "`" + text_of(device.info, "selector") + "`", device.info["name"], device.backend,
                            date, std::to_string(device.groups.size()), std::to_string(peers),
                            std::to_string(count)});
        }
    }
    std::string text = with_links(markdown_table(rows));
    text.pop_back();
    return text;
}

// A device's heading in the headline, in few words: "NVIDIA H100, CUDA", "Intel Xeon, oneTBB, 2 cores".
std::string headline_title(const StoredDevice& device) {
    std::string title = device.title;
    for (const std::string_view part : {"(R)", "(R)", " Processor", " 80GB HBM3"})
        if (const std::size_t at = title.find(part); at != std::string::npos) title.erase(at, part.size());
    if (device.backend != "oneTBB") return title;
    return title + ", " + device.groups.front().run->at("machine").at("cores").dump() + " cores";
}

// A row for each device: the algorithm's first workload at its largest size.
std::string algorithm_page(const Machines& machines, const std::string& name) {
    Rows rows = {{"device", "work", "variant", ">rate", ">of ceiling", "fastest peer", "measured on"}};
    for (const StoredMachine& machine : machines) {
        for (const StoredDevice& device : machine.devices) {
            for (const PeerGroup& group : first_workload(device, name)) {
                const Result& r = group.best();
                rows.push_back({"[" + headline_title(device) + "](../performance/" + machine.name + ".md)",
                                work_of_group(r), "`" + r.variant + "`", rate_of(r), fraction_cell(r),
                                fastest_peer(group), text_of(*group.run, "date")});
            }
        }
    }
    if (rows.size() == 1) return "There are no stored measurements.\n";
    return with_links(markdown_table(rows)) +
           "The pages of the devices have all workloads, sizes and peers, and the commands. "
           "[Performance](../performance/index.md) explains the columns.\n";
}

// "CUB" of "CUB 3.5.0, run_to_run".
std::string short_peer_name(const Result& peer) {
    return peer.library.substr(0, peer.library.find_first_of(" ,"));
}

// "0.99x CUB".
std::string ratio_cell(const PeerGroup& group) {
    const Result& peer = *group.peers.front();
    return factor(group.speed_up(peer)) + " " + short_peer_name(peer) + (peer.note.empty() ? "" : " *");
}

// A line break in a cell. Numbers and units have no such letter.
constexpr const char* new_line = "\x1f";

// "3.00 TB/s" above "0.99x CUB".
std::string headline_cell(const PeerGroup& group) {
    const std::string rate = rate_of(group.best());
    return group.peers.empty() ? rate : rate + new_line + ratio_cell(group);
}

// The machine's page has sizes, types, the fractions of the ceilings, and the peers' calls and versions.
std::string headline_page(const Devices& devices) {
    Rows rows = {{"workload"}};
    for (const StoredDevice* device : devices)
        rows.front().push_back(">" + headline_title(*device));
    bool is_marked = false;
    for (const std::string& algorithm : algorithms_of(devices)) {
        rows.push_back({algorithm});
        for (const StoredDevice* device : devices) {
            rows.back().emplace_back("–");
            for (const PeerGroup& group : first_workload(*device, algorithm)) {
                const std::string& workload = group.best().workload;
                if (rows.back().front() == algorithm && workload != algorithm)
                    rows.back().front() += ", " + workload;
                rows.back().back() = headline_cell(group);
                is_marked = is_marked || rows.back().back().ends_with('*');
            }
        }
    }
    rows.push_back({"lowest ratio"});
    for (const StoredDevice* device : devices) {
        const PeerGroup group = lowest(*device);
        rows.back().push_back(group.best().algorithm + ", " + group.best().workload + new_line +
                              ratio_cell(group));
    }
    std::string table = markdown_table(rows);
    for (std::size_t at = 0; (at = table.find(new_line, at)) != std::string::npos;)
        table.replace(at, 1, "<br>");
    return table + (is_marked ? "\\* see the note on the machine's page: the peer's contract "
                                "differs, or the result is verified "
                                "with a statistical bound.\n"
                              : "");
}

// "512 x 512 x 512 per rank", "2^28 per rank".
std::string size_of_ranks(const Result& r) {
    std::string text = lab::size_name(r.n);
    if (r.algorithm == weak_ranks || r.algorithm == strong_ranks) {
        const VolumeExtents shape = ranks_shape(r.n, r.algorithm == weak_ranks, 1);
        text = std::to_string(shape.depth) + " x " + std::to_string(shape.rows) + " x " +
               std::to_string(shape.columns);
    }
    return text + (r.algorithm == strong_ranks ? "" : " per rank");
}

std::string work_of_ranks(const Result& r) {
    if (r.algorithm == weak_ranks) return "stencil, weak scaling";
    if (r.algorithm == strong_ranks) return "stencil, strong scaling";
    constexpr std::string_view prefix = "distributed_";
    return r.algorithm.substr(r.algorithm.starts_with(prefix) ? prefix.size() : 0) + " of " + r.type;
}

// The time of one rank's fastest variant; null if there is none.
const Result* one_rank_of(const PeerGroup& group) {
    const auto it = std::ranges::find(group.variants, 1U, [](const Result* r) { return ranks_of(*r); });
    return it == group.variants.end() ? nullptr : *it;
}

// Speed-up over one rank that does the work of all ranks. Empty if that was not measured.
std::string total_speed_up(const Result& r, const std::vector<PeerGroup>& groups) {
    if (r.algorithm == weak_ranks) return {};  // a volume of another shape
    Result whole = r;
    if (r.algorithm != strong_ranks) whole.n *= ranks_of(r);
    const auto it = std::ranges::find(groups, whole.place(), [](const auto& g) { return g.best().place(); });
    const Result* one = it == groups.end() ? nullptr : one_rank_of(*it);
    return one == nullptr ? "" : factor(*one->ms / *r.ms);
}

// Results of one workload on devices of one kind.
std::string ranks_table(const std::vector<const Result*>& results) {
    Chart chart;
    chart.matrix = {{"work", "size", "variant", ">ranks", ">one rank (ms)", ">all ranks (ms)",
                     ">parallel efficiency", ">speed-up"}};
    std::ranges::copy_if(results, std::back_inserter(chart.missing), [](const Result* r) { return !r->ms; });
    const std::vector<PeerGroup> groups = peer_groups(results);
    for (const PeerGroup& group : groups) {
        const Result* one = one_rank_of(group);
        std::vector<const Result*> rows = group.variants;
        std::erase_if(rows, [](const Result* r) { return ranks_of(*r) < 2; });
        std::ranges::sort(rows, {}, [](const Result* r) { return std::pair(ranks_of(*r), r->variant); });
        for (const Result* r : rows) {
            const std::string variant = r->variant.substr(0, r->variant.find_first_of("0123456789")),
                              speed_up = total_speed_up(*r, groups);
            chart.matrix.push_back(
                {work_of_ranks(*r), size_of_ranks(*r), variant == "ranks" ? "–" : "`" + variant + "`",
                 std::to_string(ranks_of(*r)), one == nullptr ? "–" : lab::rounded(*one->ms),
                 lab::rounded(*r->ms),
                 one == nullptr ? "–" : lab::rounded(100 * *one->ms * ideal_times(*r) / *r->ms) + " %",
                 speed_up.empty() ? "–" : speed_up});
        }
    }
    return markdown_of(chart);
}

// What the studies over ranks measured on a machine: a table for each kind of device and workload.
std::string ranks_page(const fs::path& folder, const std::string& machine) {
    std::string text;
    for_each_file(folder, ".ranks", [&](const std::string& name, const ordered_json& stored) {
        if (name != machine) return;
        Records all;
        std::vector<std::pair<std::string, std::vector<std::string>>> devices;  // selectors by description
        for (const ordered_json& run : stored.at("runs")) {
            const Records records = records_of_file({{"content", run}});
            all.results.insert(all.results.end(), records.results.begin(), records.results.end());
            all.devices.insert(all.devices.end(), records.devices.begin(), records.devices.end());
            for (const ordered_json& info : run.at("devices")) {
                const std::string facts =
                    joined({info.value("hardware", text_of(info, "name")), info.value("driver", "")}, "; ");
                auto it = std::ranges::find(devices, facts, [](const auto& d) { return d.first; });
                if (it == devices.end()) it = devices.insert(it, {facts, {}});
                it->second.push_back("`" + text_of(info, "selector") + "`");
            }
        }
        check(all);
        text = "Machine: " + text_of(stored, "title") + ". " + measured_by(stored);
        for (const auto& [facts, selectors] : devices)
            text += "Devices " + joined(selectors, ", ") + ": " + facts + ".\n\n";
        std::vector<std::pair<std::string, std::vector<const Result*>>> tables;
        for (const Result& r : all.results) {
            const std::string title = all.device(r.device)->at("name").get<std::string>() + ", " +
                                      backend_of(r.device) + ", " + r.workload;
            auto it = std::ranges::find(tables, title, [](const auto& t) { return t.first; });
            if (it == tables.end()) it = tables.insert(it, {title, {}});
            it->second.push_back(&r);
        }
        for (const auto& [title, results] : tables)
            text += "**" + title + "**:\n\n" + ranks_table(results);
        text +=
            "The time of one rank is that of its fastest variant. Parallel efficiency is the ideal time "
            "divided by the measured time of all ranks; these are separate measurements, so it can exceed "
            "100 %. Speed-up compares with one rank that does the work of all ranks.\n";
    });
    if (text.empty())
        throw Error(ErrorCode::invalid_argument, "--page",
                    detail::error_message("unknown machine", detail::quoted(machine)));
    return text;
}

// What python/benchmarks/compare.py measured: a table for each device.
std::string python_page(const fs::path& folder) {
    std::string text;
    for_each_file(folder, ".python", [&](const std::string& /*name*/, const ordered_json& stored) {
        std::vector<std::string> libraries, versions, overheads;
        for (const ordered_json& row : stored.at("rows")) {
            if (std::ranges::find(libraries, text_of(row, "library")) == libraries.end())
                libraries.push_back(row["library"]);
        }
        Rows rows = {{"function", "dtype", ">elements", ">Concord"}};
        for (const std::string& library : libraries)
            rows.front().push_back(">" + library);
        const auto time = [](double ms) { return Scale{.unit = Scale::Unit::milliseconds}.write(ms); };
        for (const ordered_json& row : stored["rows"]) {
            const double ms = row.at("ms"), peer_ms = row.at("peer_ms");
            std::string dtype = text_of(row, "dtype");  // "f4": a kind and a number of bytes
            if (dtype.size() == 2)
                dtype = (dtype[0] == 'f'   ? "float"
                         : dtype[0] == 'u' ? "uint"
                                           : "int") +
                        std::to_string(8 * (dtype[1] - '0'));
            std::vector<std::string> cells = {"`" + text_of(row, "function") + "`", dtype,
                                              lab::size_name(row.at("n"))};
            auto line = std::ranges::find_if(rows, [&](const auto& other) {
                return std::ranges::equal(cells, std::span(other).first(3));
            });
            if (line == rows.end()) {
                cells.push_back(time(ms));
                cells.resize(4 + libraries.size(), "–");
                line = rows.insert(line, cells);
            }
            const auto column =
                std::ranges::find(rows.front(), ">" + text_of(row, "library")) - rows.front().begin();
            (*line)[static_cast<std::size_t>(column)] = time(peer_ms) + " (" + factor(peer_ms / ms) + ")";
        }
        libraries.emplace_back("Python");
        for (const auto& [name, version] : stored.at("versions").items()) {
            if (std::ranges::find(libraries, name) != libraries.end())
                versions.push_back(name + " " + version.get<std::string>());
        }
        for (const auto& [library, times] : stored.at("overhead").items())
            overheads.push_back(lab::rounded(times.at("overhead_us")) + " µs for " + library);
        text += "**" + text_of(stored, "device") + "**, " + text_of(stored, "driver") + "; " +
                joined(versions, ", ") + "; " + text_of(stored, "date") + ", version " +
                text_of(stored, "version") + ".\n\n" + markdown_table(rows) +
                "A call from Python takes longer on the host than the same call in C++, by " +
                joined(overheads, ", ") + ".\n\n";
    });
    return text;
}

// "99.87 %". Rounded down, so that a share below 1 is not 100 %.
std::string percent(double share) {
    if (share == 1) return "100 %";
    return (share < 0.9999 ? detail::fixed_text(std::floor(share * 1e4) / 1e2, 2)
                           : detail::fixed_text(std::floor(share * 1e6) / 1e4, 4)) +
           " %";
}

// "[-0.9, 10]"
std::string interval_of(const ordered_json& row) {
    const auto bound = [&](const char* name) { return detail::general_text(row.at(name).get<double>(), 6); };
    return "[" + bound("low") + ", " + bound("high") + "]";
}

// What python/benchmarks/functions.py measured: a table for each machine.
std::string functions_page(const fs::path& folder) {
    std::string text;
    for_each_file(folder, ".functions", [&](const std::string& /*name*/, const ordered_json& stored) {
        // Those that the file has, in this order.
        std::vector<std::string> others, cpu = {"Concord"}, gpu;
        const auto has = [&](const char* part, const char* library) {
            return std::ranges::any_of(
                stored.at("rows"), [&](const ordered_json& row) { return row.at(part).contains(library); });
        };
        for (const char* library : {"NumPy", "PyTorch", "PyTorch on the GPU"}) {
            if (has("same", library)) others.emplace_back(library);
            if (has("ns", library)) cpu.emplace_back(library);
        }
        for (const char* library : {"Concord", "PyTorch"}) {
            if (has("gpu_ns", library)) gpu.emplace_back(library);
        }
        // "0.42 / 1.3 / –"
        const auto cell = [](const ordered_json& row, const char* part, const auto& libraries,
                             const auto& write) {
            std::vector<std::string> parts;
            parts.reserve(libraries.size());
            for (const std::string& library : libraries)
                parts.push_back(
                    row.at(part).contains(library) ? write(row[part][library].template get<double>()) : "–");
            return joined(parts, " / ");
        };
        const auto nanoseconds = [](double ns) { return lab::rounded(ns); };
        std::vector<std::string> all = others;
        all.insert(all.begin(), "Concord");
        Rows rows = {{"function", "dtype", "interval"}};
        for (const std::string& library : others)
            rows.front().push_back(">as " + library);
        rows.front().push_back(">correctly rounded: " + joined(all, " / "));
        rows.front().push_back(">ns: " + joined(cpu, " / "));
        if (!gpu.empty()) rows.front().push_back(">ns on the GPU: " + joined(gpu, " / "));
        for (const ordered_json& row : stored["rows"]) {
            std::vector<std::string> cells = {"`" + text_of(row, "function") + "`", row.at("dtype"),
                                              interval_of(row)};
            for (const std::string& library : others) {
                cells.push_back(row.at("same").contains(library)
                                    ? percent(row["same"][library]) + " (" +
                                          std::to_string(row.at("ulp").at(library).get<u64>()) + " ulp)"
                                    : "–");
            }
            cells.push_back(row.at("rounded").empty() ? "–" : cell(row, "rounded", all, percent));
            cells.push_back(cell(row, "ns", cpu, nanoseconds));
            if (!gpu.empty()) cells.push_back(cell(row, "gpu_ns", gpu, nanoseconds));
            rows.push_back(std::move(cells));
        }
        std::vector<std::string> versions;
        for (const auto& [name, version] : stored.at("versions").items())
            versions.push_back(name + " " + version.get<std::string>());
        text += "**" + text_of(stored, "device") +
                (stored.contains("gpu") ? "; " + text_of(stored, "gpu") : "") + "**; " +
                joined(versions, ", ") + "; " + text_of(stored, "date") + ", version " +
                text_of(stored, "version") + ", " + lab::size_name(stored.at("elements")) +
                " results compared.\n\n" + markdown_table(rows) + "\n";
    });
    return text.empty() ? "There are no stored measurements.\n" : text;
}

// "0.96x", "12.1x": two decimals suffice next to a bar.
std::string brief_factor(double value) {
    return detail::fixed_text(value, value < 9.995 ? 2 : 1) + "x";
}

std::string speed_ups_figure(const Devices& devices) {
    Overview overview{
        .title = "Speed-up over the fastest peer library (its time / Concord's time)",
        .description = "For each device and algorithm, Concord's speed-up over the fastest peer library."};
    for (const std::string& algorithm : algorithms_of(devices))
        overview.rows.push_back({algorithm, {}});
    overview.rows.push_back({"lowest", {}});
    for (const StoredDevice* device : devices) {
        overview.columns.push_back(headline_title(*device));
        std::vector<double> factors;  // 0: no peer
        for (const Overview::Row& row : overview.rows) {
            const auto groups =
                row.name == "lowest" ? std::vector{lowest(*device)} : first_workload(*device, row.name);
            factors.push_back(groups.empty() || groups.front().peers.empty()
                                  ? 0
                                  : groups.front().speed_up(*groups.front().peers.front()));
        }
        double low = 0, high = 0.1;  // logarithms
        for (const double f : factors) {
            if (f > 0) low = std::min(low, std::log(f)), high = std::max(high, std::log(f));
        }
        const double axis = -low / (high - low);
        for (std::size_t r = 0; r < factors.size(); ++r) {
            Overview::Cell& cell = overview.rows[r].cells.emplace_back();
            cell.axis = axis;
            cell.value = factors[r] > 0 ? brief_factor(factors[r]) : "–";
            if (factors[r] <= 0) continue;
            const double end = axis + std::log(factors[r]) / (high - low);
            cell.boxes = {
                {std::min(axis, end), std::max(axis, end), factors[r] < 1 ? "slower" : "faster", ""}};
        }
    }
    overview.legend = {{"faster", "Concord is faster"},
                       {"slower", "the peer is faster"},
                       {"", "Bars are logarithmic, with a scale for each device; the line is 1x."},
                       {"", "lowest: of all workloads at their largest size."}};
    return svg_file(overview);
}

std::string page_of(const fs::path& folder, const std::vector<std::string>& words) {
    const std::string& kind = words.front();
    const std::vector<std::string> names(words.begin() + 1, words.end());
    if (kind == "python") return python_page(folder);
    if (kind == "functions") return functions_page(folder);
    if (kind == "ranks" && names.size() == 1) return ranks_page(folder, names.front());
    if (kind == "agreement") return agreement_page(folder);
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
                                      "[NAME...], ranks NAME, python, functions, agreement, figures DIR"));
}

}  // namespace

std::string stored_page(const fs::path& folder, const std::vector<std::string>& words) {
    return with_units_kept(page_of(folder, words));
}

void stored_figures(const fs::path& folder, const Save& save) {
    save("agreement.svg", agreement_figure(folder));
    save("speedups.svg", speed_ups_figure(compared_devices(stored_machines(folder), {})));
}

}  // namespace concord::study
