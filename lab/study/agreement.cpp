// The agreement matrix.

#include <concord/study/internal/study.hpp>

#include <concord/lab/check.hpp>

#include <algorithm>
#include <map>

namespace concord::study {

using lab::Pattern;
using lab::Placement;

ordered_json run_check(const std::string& algorithm, const std::vector<std::string>& devices,
                       const std::vector<Type>& types, bool quick, int& status) {
    lab::CheckOptions options;
    options.algorithms = {algorithm};
    options.devices = devices;
    options.types = types;
    if (quick) {
        // One type, the two most revealing patterns, and one placement.
        if (types.empty()) options.types = {Type::f32};
        options.patterns = {Pattern::random, Pattern::special};
        options.placements = {Placement{}};
        options.sizes = {1025, 65537};
    }
    options.program = "concord check";
    const lab::CheckReport report = lab::check(lab::suites(), options);
    if (report.status() != 2) status = std::max(status, report.status());
    return ordered_json::parse(report.json());
}

std::vector<Chart> agreement(const Figure& /*figure*/, const Data& data) {
    Chart matrix;
    matrix.title = "Agreement of all variants on all devices with the reference";
    matrix.text =
        "bits: bitwise identical to the reference. bound: largest error as a fraction of the derived bound. "
        "-: not supported on this device or with these types.";
    // The last check of a variant on a device counts, among those with the types of the last run.
    std::vector<std::string> devices;
    std::vector<std::pair<std::string, std::string>> variants;
    std::map<std::pair<std::string, std::string>, std::map<std::string, const ordered_json*>> cells;
    const auto run = data.records.studies.find("agreement");
    for (const ordered_json& check : data.records.checks) {
        if (run != data.records.studies.end() &&
            check.value("types", std::vector<std::string>()) != run->second)
            continue;
        for (const ordered_json& cell : check.at("report").at("matrix")) {
            const std::string device = cell.at("device");
            const std::pair<std::string, std::string> variant(cell.at("algorithm"), cell.at("variant"));
            if (std::find(devices.begin(), devices.end(), device) == devices.end()) devices.push_back(device);
            if (cells.count(variant) == 0) variants.push_back(variant);
            cells[variant][device] = &cell;
        }
    }
    matrix.matrix = {{"algorithm", "variant", "order"}};
    matrix.matrix.front().insert(matrix.matrix.front().end(), devices.begin(), devices.end());
    std::map<std::string, Series> worst;
    for (const auto& variant : variants) {
        const auto& of_variant = cells[variant];
        std::vector<std::string> row = {variant.first, variant.second,
                                        of_variant.begin()->second->at("order")};
        for (const std::string& device : devices) {
            const auto it = of_variant.find(device);
            row.push_back(it == of_variant.end() ? "" : it->second->at("verdict").get<std::string>());
            if (it == of_variant.end() || !it->second->contains("worst_error_over_bound")) continue;
            worst[device].marks.push_back({.y = it->second->at("worst_error_over_bound").get<double>() * 100,
                                           .label = variant.first + " " + variant.second});
        }
        const bool is_empty = std::all_of(
            row.begin() + 3, row.end(), [](const std::string& cell) { return cell.empty() || cell == "-"; });
        if (!is_empty) matrix.matrix.push_back(std::move(row));
    }
    if (matrix.matrix.size() == 1) return {};
    std::vector<Chart> charts = {std::move(matrix)};
    for (const std::string& device : devices) {
        if (worst[device].marks.empty()) continue;
        Chart chart;
        chart.bars = true;
        chart.title = "Largest error on " + device;
        chart.text =
            "Largest error of f32 and f64 results against a more precise reference, as a fraction of the "
            "error bound of the variant's order of operations.";
        chart.y = {.name = "fraction of the error bound", .unit = Scale::Unit::percent};
        chart.series = {worst[device]};
        charts.push_back(std::move(chart));
    }
    return charts;
}

}  // namespace concord::study
