#include "parse_json.hpp"

#include <concord/study/internal/store.hpp>

#include <concord/error.hpp>
#include <concord/internal/input_file.hpp>
#include <concord/internal/new_file.hpp>
#include <concord/lab/machine.hpp>
#include <concord/study/internal/study.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <sstream>

namespace concord::study {
namespace fs = std::filesystem;
namespace {

constexpr int schema = 1;

[[noreturn]] void fail(const fs::path& path, const std::string& why) {
    throw Error(ErrorCode::io, "study", path.string() + ": " + why);
}

// Throws a JSON exception if a member that is read later is missing or has another type.
void check_shape(const ordered_json& line) {
    auto words = [](const ordered_json& in, std::initializer_list<const char*> names) {
        for (const char* name : names)
            in.at(name).get_ref<const std::string&>();
    };
    const std::string& kind = line.at("kind").get_ref<const std::string&>();
    if (line.contains("key")) words(line, {"key"});
    if (kind == "run") {
        words(line, {"version", "date"});
        line.value("commit", std::string());
        words(line.at("machine"), {"cpu", "os", "compiler"});
        whole_number(line.at("machine").at("cores"));
        whole_number(line.at("machine").at("memory_bytes"));
        line.at("quick").get<bool>();
    } else if (kind == "device") {
        words(line, {"selector", "name", "driver"});
        whole_number(line.at("threads"));
        line.at("ceilings").get<std::map<std::string, double>>();
        line.value("hardware", std::string());
        line.value("libraries", std::map<std::string, std::string>());
    } else if (kind == "result") {
        result_of(line);
        line.at("row").at("device").get<std::string>();
    } else if (kind == "study") {
        line.value("types", std::vector<std::string>());
        line.value("unfinished", false);
    } else if (kind == "check") {
        if (line.at("report").contains("failed")) whole_number(line["report"]["failed"]);
        line.value("types", std::vector<std::string>());
        if (line.contains("device")) words(line, {"device"});
        Records records;
        records.checks = {line};
        agreement({}, {records, {}});
    } else if (kind == "file") {
        charts_of_file(line);
    }
}

// The lines of a file's content as JSON. Ignores an incomplete last line.
std::vector<ordered_json> lines_of(std::istream& content, const fs::path& path) {
    std::vector<ordered_json> lines;
    for (std::string line; std::getline(content, line);) {
        ordered_json value = parse_json(line, max_levels_of_results);
        if (value.is_discarded() && content.eof()) break;
        const std::string place = "line " + std::to_string(lines.size() + 1);
        if (!value.is_object() || !value.contains("kind"))
            fail(path, place + " is not a study's result; remove the line, or choose another folder");
        if (lines.empty() && (value["kind"] != "run" || value["schema"] != schema))
            fail(path, "not a results file of this version; choose another folder");
        try {
            check_shape(value);
        } catch (const ordered_json::exception& error) {
            fail(path, place + ": " + error.what());
        }
        lines.push_back(std::move(value));
    }
    if (lines.empty()) fail(path, "not a results file; choose another folder");
    return lines;
}

std::vector<ordered_json> lines_of(const fs::path& path) {
    std::istringstream content(detail::text_of_file(path, "study"));
    return lines_of(content, path);
}

// Members that must be equal for results to belong to one run.
ordered_json identity(ordered_json run) {
    run.erase("date");
    // The memory of a virtual machine may grow.
    if (run.contains("machine")) run["machine"].erase("memory_bytes");
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
    const fs::path path = folder / "results.jsonl";
    std::istringstream content(detail::text_of_file(path, "study"));
    return records_of(content, path);
}

Records records_of(std::istream& content, const fs::path& file) {
    Records records;
    std::map<std::string, std::size_t> places;
    for (ordered_json& line : lines_of(content, file)) {
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
            const std::string name = key_of(line);
            records.studies[name] = line.value("types", std::vector<std::string>());
            records.unfinished.erase(name);
            if (line.value("unfinished", false)) records.unfinished.insert(name);
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
    const lab::Machine machine = lab::this_machine();
    return {{"kind", "run"},
            {"schema", schema},
            {"version", CONCORD_VERSION},
            {"commit", lab::build_commit()},
            {"date", lab::date_now()},
            {"quick", quick},
            {"machine",
             {{"cpu", machine.cpu},
              {"cores", machine.cores},
              {"memory_bytes", machine.memory},
              {"os", machine.os},
              {"compiler", machine.compiler}}}};
}

Store::Lock::~Lock() {
    if (file_ >= 0) ::close(file_);
}

void Store::Lock::take(const fs::path& folder) {
    const fs::path path = folder / "results.lock";
    file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    if (file_ < 0) fail(path, std::strerror(errno));
    struct stat status {};
    if (::fstat(file_, &status) != 0) fail(path, std::strerror(errno));
    if (!S_ISREG(status.st_mode)) fail(path, "not a regular file");
    if (::flock(file_, LOCK_EX | LOCK_NB) == 0) return;
    if (errno == EWOULDBLOCK)
        fail(folder, "another study is writing its results there; wait, or choose another folder");
    fail(path, std::strerror(errno));
}

Store::Store(fs::path folder, const ordered_json& run, LockedBy locked_by) : folder_(std::move(folder)) {
    std::error_code error;
    fs::create_directories(folder_, error);
    if (error) fail(folder_, error.message());
    if (locked_by == LockedBy::store) lock_.take(folder_);
    std::vector<ordered_json> lines;
    if (fs::exists(file(), error)) {
        lines = lines_of(file());
        const ordered_json before = identity(lines.front());
        ordered_json now = identity(run);
        // A new build must not start the parent's results over.
        if (locked_by == LockedBy::parent) now.erase("commit");
        for (const auto& [name, value] : now.items()) {
            if (before.value(name, ordered_json()) != value)
                set_aside_.append(set_aside_.empty() ? "" : ", ").append(name == "quick" ? "--quick" : name);
        }
        if (!set_aside_.empty()) {
            const auto is_file = [](const ordered_json& line) { return line["kind"] == "file"; };
            if (std::all_of(lines.begin() + 1, lines.end(), is_file)) {
                set_aside_.clear();  // without measurements there is nothing to keep
            } else {
                const std::string kept = kept_name(lines.front());
                fs::rename(file(), folder_ / kept, error);
                if (error) fail(file(), error.message());
                set_aside_ = "existing results differ in " + set_aside_ + ": moved to " + kept;
            }
            std::erase_if(lines, std::not_fn(is_file));
            lines.insert(lines.begin(), run);
        }
    }
    if (lines.empty()) lines.push_back(run);
    rewrite(lines);
}

// An unused file name.
std::string Store::kept_name(const ordered_json& run) const {
    std::string date = run["date"];
    std::erase(date, ':');
    std::string name = "results-" + date + ".jsonl";
    std::error_code error;
    for (u32 k = 2; fs::exists(folder_ / name, error); ++k)
        name = "results-" + date + "-" + std::to_string(k) + ".jsonl";
    return name;
}

void Store::rewrite(const std::vector<ordered_json>& lines) {
    out_.close();
    devices_.clear();
    std::string text;
    for (const ordered_json& line : lines) {
        text += line.dump() + '\n';
        if (line["kind"] == "device") devices_.push_back(line);
    }
    detail::write_file(file(), {text});
    out_.open(file(), std::ios::app);
    if (!out_) fail(file(), std::strerror(errno));
}

void Store::reload() {
    rewrite(lines_of(file()));
}

void Store::add_all(const std::vector<ordered_json>& lines) {
    std::string text;
    for (const ordered_json& line : lines)
        text += line.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + '\n';
    out_ << text << std::flush;
    if (!out_) fail(file(), std::strerror(errno));
}

void Store::add_device(const ordered_json& line) {
    const std::string selector = line["selector"];
    bool is_there = false, is_other = false;
    for (const ordered_json& known : devices_) {
        if (!same_place(known, line)) continue;
        is_there = true;
        is_other = is_other || known["name"] != line["name"] || known["driver"] != line["driver"];
    }
    if (is_other) {
        std::vector<ordered_json> lines = lines_of(file());
        const std::string kept = kept_name(lines.front());
        detail::write_file(folder_ / kept, {detail::text_of_file(file(), "study")});
        set_aside_.append(set_aside_.empty() ? "" : "; ")
            .append("existing results of " + selector + " have another driver: copied to " + kept);
        std::erase_if(lines, [&](const ordered_json& other) {
            // Drops the device with every thread count, so that child processes do not drop it again.
            if (other["kind"] == "device") return other["selector"] == selector;
            if (other["kind"] == "check") return other.value("device", selector) == selector;
            return other["kind"] == "result" && other["row"]["device"] == selector;
        });
        rewrite(lines);
    } else if (is_there) {
        return;
    }
    devices_.push_back(line);
    add(line);
}

}  // namespace concord::study
