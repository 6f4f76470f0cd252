#include "stored.hpp"

#include "parse_json.hpp"

#include <concord/error.hpp>
#include <concord/internal/input_file.hpp>

#include <algorithm>
#include <set>
#include <span>

namespace concord::study {
namespace {

namespace fs = std::filesystem;

struct Invalid {
    std::string what;
};

void require(bool holds, const std::string& where, const std::string& wrong) {
    if (!holds) throw Invalid{where + ": " + wrong};
}

// Members of an object: the name of their type in the JSON library, and whether they are required.
struct Member {
    const char *name, *type;
    bool required = true;
};
constexpr Member row_members[] = {{"algorithm", "string"},
                                  {"function", "string"},
                                  {"variant", "string"},
                                  {"device", "string"},
                                  {"kind", "string"},
                                  {"library", "string", false},
                                  {"call", "string", false},
                                  {"type", "string"},
                                  {"n", "number"},
                                  {"median_ms", "number", false},
                                  {"q1_ms", "number", false},
                                  {"q3_ms", "number", false},
                                  {"gb_per_s", "number", false},
                                  {"gflop_per_s", "number", false},
                                  {"ceiling", "string", false},
                                  {"of_ceiling", "number", false},
                                  {"ratio_to", "string", false},
                                  {"problem", "string", false},
                                  {"note", "string", false}};
constexpr Member cell_members[] = {{"algorithm", "string"},
                                   {"variant", "string"},
                                   {"order", "string"},
                                   {"device", "string"},
                                   {"verdict", "string"},
                                   {"passed", "number", false},
                                   {"compiled", "number", false},
                                   {"failed", "number", false},
                                   {"skipped", "number", false},
                                   {"not_applicable", "number", false},
                                   {"worst_error_over_bound", "number", false}};
constexpr Member machine_members[] = {
    {"cpu", "string"}, {"cores", "number"}, {"os", "string"}, {"compiler", "string"}};
constexpr Member device_members[] = {{"selector", "string"},         {"name", "string"},
                                     {"driver", "string", false},    {"hardware", "string", false},
                                     {"libraries", "object", false}, {"ceilings", "object", false}};
constexpr Member run_members[] = {{"command", "string"},     {"date", "string"},
                                  {"version", "string"},     {"commit", "string", false},
                                  {"note", "string", false}, {"calls", "number", false},
                                  {"hot", "boolean", false}, {"machine", "object"},
                                  {"devices", "array"},      {"results", "array"}};
constexpr Member bench_members[] = {{"schema", "number"}, {"title", "string"}, {"runs", "array"}};
constexpr Member check_members[] = {{"schema", "number"}, {"title", "string"},   {"version", "string"},
                                    {"date", "string"},   {"command", "string"}, {"covers", "string"},
                                    {"devices", "array"}, {"matrix", "array"}};
constexpr Member python_members[] = {{"schema", "number"}, {"date", "string"},    {"version", "string"},
                                     {"device", "string"}, {"driver", "string"},  {"versions", "object"},
                                     {"rows", "array"},    {"overhead", "object"}};

void check(const ordered_json& value, std::span<const Member> members, const std::string& where) {
    require(value.is_object(), where, "not an object");
    for (const Member& member : members) {
        const auto it = value.find(member.name);
        if (it == value.end()) {
            require(!member.required, where, "lacks '" + std::string(member.name) + "'");
        } else {
            const bool is_date = std::string_view(member.name) == "date";
            require(it->type_name() == std::string_view(member.type) && !it->empty() &&
                        !(it->is_number() && *it < 0) &&
                        !(is_date && (it->size() != 1 || it->get_ref<const std::string&>().find_first_not_of(
                                                             "0123456789-") != std::string::npos)),
                    where, "unexpected '" + std::string(member.name) + "', got " + it->dump().substr(0, 60));
        }
    }
    for (const auto& [name, _] : value.items())
        require(std::ranges::any_of(members, [&name = name](const Member& m) { return m.name == name; }),
                where, "unknown member '" + name + "'");
}

void check_run(const ordered_json& run, const std::string& where) {
    check(run, run_members, where);
    check(run["machine"], machine_members, where + ", machine");
    std::set<std::string> selectors, seen;
    for (const ordered_json& device : run["devices"]) {
        check(device, device_members, where + ", device " + std::to_string(selectors.size() + 1));
        selectors.insert(device["selector"]);
    }
    std::size_t number = 0;
    for (const ordered_json& row : run["results"]) {
        const std::string at = where + ", result " + std::to_string(++number);
        check(row, row_members, at);
        require(type_named(row["type"].get<std::string>()).has_value(), at,
                "unexpected 'type', got " + row["type"].dump());
        require(selectors.count(row["device"]) != 0, at, "unknown device " + row["device"].dump());
        require(row["kind"] == "variant" || (row["kind"] == "baseline" && row.contains("library")), at,
                "lacks 'library', or unexpected 'kind'");
        require(row.contains("median_ms") != row.contains("problem") && row.value("median_ms", 1.0) > 0, at,
                "has either a time or a problem");
        ordered_json key;
        for (const char* name : {"device", "algorithm", "function", "type", "n", "kind", "variant"})
            key.push_back(row[name]);
        require(seen.insert(key.dump()).second, at, "a second row of the same measurement");
    }
}

void check_file(const ordered_json& stored, const std::string& kind) {
    if (kind == "bench") {
        check(stored, bench_members, "the file");
        std::size_t number = 0;
        for (const ordered_json& run : stored["runs"])
            check_run(run, "run " + std::to_string(++number));
    } else if (kind == "check") {
        check(stored, check_members, "the file");
        for (const ordered_json& device : stored["devices"])
            check(device, std::span(device_members).first(2), "a device");
        for (const ordered_json& cell : stored["matrix"])
            check(cell, cell_members, "a cell of the matrix");
    } else {
        check(stored, python_members, "the file");
    }
}

// Names and contents of the files of a kind, sorted by name.
std::vector<std::pair<std::string, ordered_json>> read_files(const fs::path& folder,
                                                             const std::string& kind) {
    std::vector<std::pair<std::string, ordered_json>> files;
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
        const std::string name = entry.path().filename().string(), ending = "." + kind + ".json";
        if (!name.ends_with(ending)) continue;
        ordered_json stored = parse_json(detail::text_of_file(entry.path(), "--stored"), most_levels_of_file);
        try {
            check_file(stored, kind);
        } catch (const Invalid& problem) {
            throw Error(ErrorCode::io, "--stored", entry.path().string() + ": " + problem.what);
        }
        files.emplace_back(name.substr(0, name.size() - ending.size()), std::move(stored));
    }
    if (error) throw Error(ErrorCode::io, "--stored", folder.string() + ": " + error.message());
    std::ranges::sort(files, {}, &std::pair<std::string, ordered_json>::first);
    return files;
}

// A stored row has rates in place of amounts.
Result stored_result(const ordered_json& row) {
    Result r =
        result_of({{"asked", row["variant"]}, {"workload", row["function"]}, {"threads", 0}, {"row", row}});
    if (!r.ms) return r;
    r.bytes = row.value("gb_per_s", 0.0) * *r.ms * 1e6;
    r.operations = row.value("gflop_per_s", 0.0) * *r.ms * 1e6;
    // Older rows of sorts have a fraction of the copy rate.
    if (row.contains("of_ceiling") && !r.ceiling.empty() && r.algorithm != "sort")
        r.ceiling_ms = row["of_ceiling"].get<double>() * *r.ms;
    return r;
}

void add_run(StoredMachine& machine, const ordered_json& run) {
    std::vector<Result>& results = machine.results.emplace_back();
    for (const ordered_json& row : run["results"])
        results.push_back(stored_result(row));
    for (const ordered_json& info : run["devices"]) {
        const std::string selector = info["selector"];
        auto it = std::ranges::find(machine.devices, info["selector"],
                                    [](const StoredDevice& d) { return d.info["selector"]; });
        if (it == machine.devices.end()) {
            const std::string backend = backend_title(selector);
            it = machine.devices.insert(
                it, {machine.name, info["name"].get<std::string>() + ", " + backend, backend, info, {}});
        } else if (info.contains("libraries")) {
            it->info["libraries"].update(info["libraries"]);
        }
        std::vector<const Result*> of_device;
        for (const Result& r : results) {
            if (r.device == selector) of_device.push_back(&r);
        }
        for (PeerGroup& group : peer_groups(of_device))
            it->groups.push_back({std::move(group), &run});
    }
}

}  // namespace

bool StoredDevice::has_peers() const {
    return std::ranges::any_of(groups, [](const Group& group) { return !group.peers.empty(); });
}

std::vector<std::string> StoredDevice::algorithms() const {
    std::vector<std::string> names;
    for (const Group& group : groups) {
        if (std::ranges::find(names, group.best().algorithm) == names.end())
            names.push_back(group.best().algorithm);
    }
    return names;
}

std::vector<PeerGroup> StoredDevice::groups_of(const std::string& algorithm) const {
    std::vector<PeerGroup> list;
    for (const Group& group : groups) {
        if (algorithm.empty() || group.best().algorithm == algorithm) list.push_back(group);
    }
    return list;
}

std::vector<StoredMachine> stored_machines(const fs::path& folder) {
    std::vector<StoredMachine> machines;
    for (auto& [name, stored] : read_files(folder, "bench")) {
        StoredMachine& machine = machines.emplace_back();
        machine.name = name;
        machine.stored = std::move(stored);
        for (const ordered_json& run : machine.stored["runs"])
            add_run(machine, run);
        std::erase_if(machine.devices, [](const StoredDevice& device) { return device.groups.empty(); });
    }
    return machines;
}

std::vector<ordered_json> stored_files(const fs::path& folder, const std::string& kind) {
    std::vector<ordered_json> list;
    for (auto& [name, stored] : read_files(folder, kind))
        list.push_back(std::move(stored));
    return list;
}

std::string backend_title(const std::string& selector) {
    const std::string name = selector.substr(0, selector.find(':'));
    return name == "cuda" ? "CUDA" : name == "opencl" ? "OpenCL" : name == "tbb" ? "oneTBB" : name;
}

}  // namespace concord::study
