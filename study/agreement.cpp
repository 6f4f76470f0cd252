// The conformance matrix.

#include "study.hpp"

#include <concord/conformance/check.hpp>

#include <algorithm>
#include <map>

namespace concord::study {

using conformance::Pattern;
using conformance::Placement;

ordered_json run_check(const std::string& algorithm, const std::vector<std::string>& devices, bool quick,
                       int& status) {
    conformance::CheckOptions options;
    options.algorithms = {algorithm};
    options.devices = devices;
    if (quick) {
        // Of each kernel a taste: few of the types, of the patterns those that tell most, operands in place.
        options.types = {Type::f32};
        options.patterns = {Pattern::random, Pattern::special};
        options.placements = {Placement{}};
        options.sizes = {1025, 65537};
    }
    options.program = "concord check";
    const conformance::CheckReport report = conformance::check(conformance::suites(), options);
    if (report.status() != 2) status = std::max(status, report.status());
    return ordered_json::parse(report.json());
}

std::vector<Chart> agreement(const Figure& /*figure*/, const Data& data) {
    Chart matrix;
    matrix.title = "All variants on all devices";
    matrix.text =
        "bits: equal to the oracle's to the bit. bound: the worst error, as a part of the derived bound.";
    std::vector<std::string> devices;
    for (const ordered_json& check : data.records.checks) {
        for (const ordered_json& cell : check["report"]["matrix"]) {
            const std::string device = cell["device"];
            if (std::find(devices.begin(), devices.end(), device) == devices.end()) devices.push_back(device);
        }
    }
    matrix.matrix = {{"algorithm", "variant", "order"}};
    matrix.matrix.front().insert(matrix.matrix.front().end(), devices.begin(), devices.end());
    std::map<std::string, Series> worst;
    for (const ordered_json& check : data.records.checks) {
        std::map<std::string, std::size_t> places;
        for (const ordered_json& cell : check["report"]["matrix"]) {
            const std::string algorithm = cell["algorithm"], variant = cell["variant"],
                              device = cell["device"];
            const auto [it, is_new] = places.try_emplace(variant, matrix.matrix.size());
            if (is_new) {
                matrix.matrix.push_back({algorithm, variant, cell["order"]});
                matrix.matrix.back().resize(3 + devices.size());
            }
            const auto column = std::find(devices.begin(), devices.end(), device) - devices.begin();
            matrix.matrix[it->second][3 + static_cast<std::size_t>(column)] = cell["verdict"];
            if (const auto ratio = cell.find("worst_error_over_bound"); ratio != cell.end()) {
                Mark mark;
                mark.label = algorithm + " " + variant;
                mark.y = ratio->get<double>() * 100;
                worst[device].marks.push_back(mark);
            }
        }
    }
    if (matrix.matrix.size() == 1) return {};
    std::vector<Chart> charts = {std::move(matrix)};
    for (const std::string& device : devices) {
        if (worst[device].marks.empty()) continue;
        Chart chart;
        chart.bars = true;
        chart.title = device + ": the worst error";
        chart.text = "Of variants whose order of operations is their own, against float64.";
        chart.y = {"of the bound", Scale::Unit::percent, false};
        chart.series = {worst[device]};
        charts.push_back(std::move(chart));
    }
    return charts;
}

}  // namespace concord::study
