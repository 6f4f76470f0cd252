// Comparison of a run with stored results of the same devices.

#include "parse_json.hpp"
#include "peers.hpp"

#include <concord/study/internal/study.hpp>

#include <concord/error.hpp>
#include <concord/internal/input_file.hpp>
#include <concord/lab/table.hpp>

#include <algorithm>
#include <map>
#include <sstream>

namespace concord::study {
namespace {

namespace fs = std::filesystem;

// A time of Concord, and the run that it is from.
struct Time {
    Result result;
    std::string date, machine;
};
// By device, work, type and size; of several variants the fastest.
using Times = std::map<std::string, Time>;

// Backend and name of the device with that selector.
std::string device_of(const Records& records, const std::string& selector) {
    const ordered_json* device = records.device(selector);
    return selector.substr(0, selector.find(':')) + "|" +
           (device != nullptr ? device->at("name").get<std::string>() : selector);
}

// Adds the times of a run. Those of a later day replace others.
void add(Times& times, const Records& records, const std::string& date, const std::string& machine) {
    Times own;
    for (std::size_t k = 0; k < records.results.size(); ++k) {
        const Result& r = records.results[k];
        if (r.baseline || !r.ms || (!r.compared && !records.lines.empty())) continue;
        Result named = r;
        if (!records.lines.empty()) named.workload = records.lines[k].at("row").at("function");
        const std::string key = device_of(records, r.device) + "|" + r.algorithm + "|" + named.workload +
                                "|" + r.type + "|" + std::to_string(r.n);
        const auto it = own.find(key);
        if (it == own.end() || *r.ms < *it->second.result.ms)
            own.insert_or_assign(key, Time{std::move(named), date, machine});
    }
    for (auto& [key, time] : own) {
        const auto it = times.find(key);
        if (it == times.end() || it->second.date < date) times.insert_or_assign(key, std::move(time));
    }
}

Times stored_times(const fs::path& folder) {
    Times times;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
        const fs::path name = entry.path().filename();
        if (name.extension() != ".json" || name.stem().extension() != ".bench") continue;
        try {
            const ordered_json file =
                parse_json(detail::text_of_file(entry.path(), "--stored"), max_levels_of_file);
            for (const ordered_json& run : file.at("runs"))
                add(times, records_of_file({{"content", run}}), run.at("date"), name.stem().stem());
        } catch (const ordered_json::exception& problem) {
            throw Error(ErrorCode::io, "--stored", entry.path().string() + ": " + problem.what());
        }
    }
    return times;
}

}  // namespace

Regressions regressions(const Records& run, const fs::path& folder) {
    // Cards of one name differ by some percent, and times below 20 us vary by about a microsecond.
    constexpr double most = 1.15, min_ms = 1e-3;
    const Times before = stored_times(folder);
    Times now;
    add(now, run, "", "");
    Regressions found;
    std::vector<std::string> machines;
    lab::Table table({"work", ">stored", ">now", ">now / stored", "variant", "stored variant"});
    for (const auto& [key, time] : now) {
        const auto it = before.find(key);
        if (it == before.end()) continue;
        const Result &a = it->second.result, &b = time.result;
        ++found.compared;
        machines.push_back(it->second.machine + " of " + it->second.date);
        if (*b.ms <= most * *a.ms || *b.ms - *a.ms <= min_ms) continue;
        ++found.slower;
        table.add({b.device + ", " + b.algorithm + " " + work_of_group(b), time_of(a), time_of(b),
                   lab::rounded(*b.ms / *a.ms), b.variant, a.variant});
    }
    std::sort(machines.begin(), machines.end());
    std::ostringstream out;
    if (!table.empty()) table.print(out);
    if (found.compared == 0)
        out << "speed: not compared: no stored results of these devices\n";
    else
        out << "speed: " << found.compared << " results compared with " << joined(machines, ", ") << ", "
            << found.slower << " slower by more than 15 %\n";
    found.text = out.str();
    return found;
}

}  // namespace concord::study
