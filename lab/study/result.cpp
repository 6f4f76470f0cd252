#include <concord/study/internal/result.hpp>

#include "parse_json.hpp"

#include <concord/lab/table.hpp>

#include <algorithm>

namespace concord::study {
namespace {

using nlohmann::ordered_json;

std::string text(const ordered_json& row, const char* name) {
    const auto it = row.find(name);
    return it != row.end() && it->is_string() ? it->get<std::string>() : std::string();
}

std::optional<double> number(const ordered_json& row, const char* name) {
    const auto it = row.find(name);
    return it != row.end() && it->is_number() ? std::optional(it->get<double>()) : std::nullopt;
}

}  // namespace

std::string Result::key() const {
    return algorithm + "|" + workload + "|" + asked + "|" + device + "|" + std::to_string(threads) + "|" +
           type + "|" + std::to_string(n) + (compared ? "|compared" : "");
}

std::string Result::place() const {
    return algorithm + "|" + workload + "|" + device + "|" + std::to_string(threads) + "|" + type + "|" +
           std::to_string(n);
}

bool Result::left_out() const {
    return !ms && (problem.rfind(study::left_out, 0) == 0 || problem.rfind("no room", 0) == 0 ||
                   problem.rfind("not verified", 0) == 0);
}

std::string Result::title() const {
    return algorithm + (workload == algorithm ? "" : " " + workload) + ", " + variant +
           (asked == "auto" ? " (auto)" : "") + ", " + device +
           (threads == 0 ? "" : ", " + std::to_string(threads) + (threads == 1 ? " thread" : " threads")) +
           ", " + type + ", " + lab::size_name(n);
}

ordered_json line_of(const Result& asked, ordered_json row) {
    // Lists a kernel once, even if it is launched many times.
    ordered_json kernels = ordered_json::array();
    for (ordered_json& use : row["kernels"]) {
        if (std::find(kernels.begin(), kernels.end(), use) == kernels.end())
            kernels.push_back(std::move(use));
    }
    row["kernels"] = std::move(kernels);
    ordered_json line = {{"kind", "result"},
                         {"key", asked.key()},
                         {"asked", asked.asked},
                         {"workload", asked.workload},
                         {"threads", asked.threads}};
    if (asked.compared) line["compared"] = true;
    line["row"] = std::move(row);
    return line;
}

Result result_of(const ordered_json& line) {
    const ordered_json& row = line.at("row");
    Result r;
    r.asked = line.at("asked");
    r.workload = line.at("workload");
    r.threads = static_cast<u32>(whole_number(line.at("threads")));
    r.compared = line.value("compared", false);
    r.baseline = text(row, "kind") == "baseline";
    r.library = text(row, "library");
    r.call = text(row, "call");
    r.note = text(row, "note");
    r.algorithm = text(row, "algorithm");
    r.variant = text(row, "variant");
    r.device = text(row, "device");
    r.type = text(row, "type");
    r.ceiling = text(row, "ceiling");
    r.problem = text(row, "problem");
    r.n = whole_number(row.at("n"));
    r.ms = number(row, "median_ms");
    // Stored rows have rates in place of amounts, and old ones of sorts a fraction of the copy rate.
    const auto amount = [&](const char* name, const char* giga_per_s) {
        return number(row, name).value_or(number(row, giga_per_s).value_or(0) * r.ms.value_or(0) * 1e6);
    };
    r.bytes = amount("bytes", "gb_per_s");
    r.operations = amount("operations", "gflop_per_s");
    r.q1 = number(row, "q1_ms");
    r.q3 = number(row, "q3_ms");
    r.ceiling_ms = number(row, "ceiling_ms");
    if (const auto part = number(row, "of_ceiling"); part && !r.ceiling_ms && r.ms && r.algorithm != "sort")
        r.ceiling_ms = *part * *r.ms;
    if (!r.problem.empty()) r.ms.reset();
    return r;
}

}  // namespace concord::study
