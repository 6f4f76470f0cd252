#include "store.hpp"

#include <concord/conformance/machine.hpp>
#include <concord/error.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace concord::study {
namespace fs = std::filesystem;
namespace {

constexpr int schema = 1;

[[noreturn]] void fail(const fs::path& path, const std::string& why) {
    throw Error(ErrorCode::io, "study", path.string() + ": " + why);
}

// The file's lines as JSON, up to one that is torn.
std::vector<ordered_json> lines_of(const fs::path& path) {
    std::ifstream file(path);
    if (!file) fail(path, std::strerror(errno));
    std::vector<ordered_json> lines;
    for (std::string line; std::getline(file, line);) {
        ordered_json value = ordered_json::parse(line, nullptr, false);
        if (value.is_discarded() && file.eof()) break;
        if (!value.is_object() || !value.contains("kind"))
            fail(path, "line " + std::to_string(lines.size() + 1) + " is none of a study's");
        lines.push_back(std::move(value));
    }
    if (lines.empty() || lines.front()["kind"] != "run" || lines.front().value("schema", 0) != schema)
        fail(path, "is no file of a study's results, or of another version");
    return lines;
}

// What must be equal for results to be of one run.
ordered_json identity(ordered_json run) {
    run.erase("date");
    return run;
}

bool same_place(const ordered_json& a, const ordered_json& b) {
    return a["selector"] == b["selector"] && a["threads"] == b["threads"];
}

std::string key_of(const ordered_json& line) {
    return line.value("key", std::string());
}

}  // namespace

const ordered_json* Records::device(const std::string& selector) const {
    const ordered_json* found = nullptr;
    for (const ordered_json& line : devices) {
        if (line["selector"] == selector && (found == nullptr || line["threads"] > (*found)["threads"]))
            found = &line;
    }
    return found;
}

Records read_records(const fs::path& folder) {
    Records records;
    std::map<std::string, std::size_t> places;
    for (ordered_json& line : lines_of(folder / "results.jsonl")) {
        const std::string kind = line["kind"];
        if (kind == "run") {
            records.run = std::move(line);
        } else if (kind == "device") {
            auto& list = records.devices;
            const auto it = std::find_if(list.begin(), list.end(),
                                         [&](const ordered_json& other) { return same_place(line, other); });
            if (it == list.end())
                list.push_back(std::move(line));
            else
                *it = std::move(line);
        } else if (kind == "check" || kind == "file") {
            auto& list = kind == "check" ? records.checks : records.files;
            std::erase_if(list, [&](const auto& other) { return key_of(other) == key_of(line); });
            list.push_back(std::move(line));
        } else if (kind == "study") {
            records.studies[key_of(line)] = line.value("types", std::vector<std::string>());
        } else if (kind == "result") {
            const auto [it, is_new] = places.try_emplace(key_of(line), records.results.size());
            if (is_new) {
                records.results.emplace_back();
                records.lines.emplace_back();
            }
            records.results[it->second] = result_of(line);
            records.lines[it->second] = std::move(line);
        }
    }
    return records;
}

ordered_json run_line(bool quick) {
    const conformance::Machine machine = conformance::this_machine();
    return {{"kind", "run"},
            {"schema", schema},
            {"version", CONCORD_VERSION},
            {"date", conformance::date_now()},
            {"quick", quick},
            {"machine",
             {{"cpu", machine.cpu},
              {"cores", machine.cores},
              {"memory_bytes", machine.memory},
              {"os", machine.os},
              {"compiler", machine.compiler}}}};
}

Store::Store(fs::path folder, const ordered_json& run) : folder_(std::move(folder)) {
    std::error_code error;
    fs::create_directories(folder_, error);
    if (error) fail(folder_, error.message());
    std::vector<ordered_json> lines;
    if (fs::exists(file())) {
        lines = lines_of(file());
        const ordered_json before = identity(lines.front()), now = identity(run);
        for (const auto& [name, value] : now.items()) {
            if (before.value(name, ordered_json()) != value)
                set_aside_.append(set_aside_.empty() ? "" : ", ").append(name);
        }
        if (!set_aside_.empty()) {
            std::string date = lines.front().value("date", "before");
            std::erase(date, ':');
            const std::string kept = "results-" + date + ".jsonl";
            fs::rename(file(), folder_ / kept, error);
            if (error) fail(file(), error.message());
            set_aside_ = "of another " + set_aside_ + ": kept as " + kept;
            lines.clear();
        }
    }
    if (lines.empty()) lines.push_back(run);
    rewrite(lines);
}

void Store::rewrite(const std::vector<ordered_json>& lines) {
    out_.close();
    const fs::path beside = folder_ / "results.jsonl.new";
    keys_.clear();
    devices_.clear();
    {
        std::ofstream file(beside, std::ios::trunc);
        for (const ordered_json& line : lines) {
            file << line.dump() << '\n';
            if (const std::string key = key_of(line); !key.empty()) keys_.insert(key);
            if (line["kind"] == "device") devices_.push_back(line);
        }
        if (!file.flush()) fail(beside, std::strerror(errno));
    }
    std::error_code error;
    fs::rename(beside, file(), error);
    if (error) fail(file(), error.message());
    out_.open(file(), std::ios::app);
    if (!out_) fail(file(), std::strerror(errno));
}

void Store::reload() {
    rewrite(lines_of(file()));
}

void Store::add(const ordered_json& line) {
    out_ << line.dump(-1, ' ', false, ordered_json::error_handler_t::replace) << '\n' << std::flush;
    if (!out_) fail(file(), std::strerror(errno));
    if (const std::string key = key_of(line); !key.empty()) keys_.insert(key);
}

void Store::add_device(const ordered_json& line) {
    for (const ordered_json& known : devices_) {
        if (!same_place(known, line)) continue;
        if (known["name"] == line["name"] && known["driver"] == line["driver"]) return;
        std::vector<ordered_json> kept = lines_of(file());
        std::erase_if(kept, [&](const ordered_json& other) {
            if (other["kind"] == "device") return same_place(other, line);
            if (other["kind"] == "check") return true;
            return other["kind"] == "result" &&
                   other["row"].value("device", std::string()) == line["selector"];
        });
        rewrite(kept);
        break;
    }
    devices_.push_back(line);
    add(line);
}

}  // namespace concord::study
