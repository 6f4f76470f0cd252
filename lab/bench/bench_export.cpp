// BenchReport as JSON and CSV. bench.hpp describes the fields.

#include <concord/lab/bench.hpp>

#include <concord/lab/internal/statistics.hpp>

#include <concord/lab/table.hpp>

#include <nlohmann/json.hpp>

namespace concord::lab {
namespace {

using nlohmann::ordered_json;

ordered_json json_of(const std::optional<double>& value) {
    return value ? ordered_json(*value) : ordered_json();
}

ordered_json json_of(const KernelUse& use) {
    auto known = [](auto value) { return value < 0 ? ordered_json() : ordered_json(value); };
    const KernelAttributes& a = use.attributes;
    return {{"name", use.name},
            {"group_size", use.group_size},
            {"registers", known(a.registers)},
            {"local_bytes", known(a.local_bytes)},
            {"spill_bytes", known(a.spill_bytes)},
            {"occupancy", known(use.occupancy)},
            {"compile_ms", known(use.compile_ms)}};
}

// The fields of the schema in their order.
ordered_json row_json(const BenchRow& row) {
    ordered_json line = {{"algorithm", row.algorithm},
                         {"function", row.function},
                         {"variant", row.variant},
                         {"device", row.device},
                         {"kind", row.baseline ? "baseline" : "variant"},
                         {"library", row.baseline ? ordered_json(row.library) : ordered_json()},
                         {"call", row.call.empty() ? ordered_json() : ordered_json(row.call)},
                         {"type", name_of(row.type)},
                         {"n", row.n},
                         {"bytes", row.bytes},
                         {"operations", row.operations}};
    const Timing t = row.timing.value_or(Timing{});
    auto set = [&](const char* name, auto value, bool applies = true) {
        line[name] = applies && row.timing ? ordered_json(value) : ordered_json();
    };
    const bool bound = !row.ceiling.empty();
    set("median_ms", t.median);
    set("q1_ms", t.first_quartile);
    set("q3_ms", t.third_quartile);
    set("repetitions", t.repetitions);
    set("calls_each", t.batch);
    set("copies", row.copies);
    set("clock", row.host_clock ? "host" : "device");
    set("gb_per_s", per_second(row.bytes, t) * 1e-9, row.bytes > 0);
    set("gflop_per_s", per_second(row.operations, t) * 1e-9, row.operations > 0);
    set("ceiling", row.ceiling, bound);
    set("ceiling_ms", row.ceiling_ms, bound);
    set("of_ceiling", row.ceiling_ms / t.median, bound);
    line["compile_ms"] = json_of(row.compile_ms);
    line["upload_ms"] = json_of(row.upload_ms);
    line["download_ms"] = json_of(row.download_ms);
    line["end_to_end_ms"] = json_of(row.end_to_end_ms);
    line["ratio"] = json_of(row.ratio);
    line["ratio_to"] = row.ratio ? ordered_json(row.ratio_to) : ordered_json();
    line["kernels"] = ordered_json::array();
    for (const KernelUse& use : row.kernels)
        line["kernels"].push_back(json_of(use));
    line["problem"] = row.problem.empty() ? ordered_json() : ordered_json(row.problem);
    line["note"] = row.note.empty() ? ordered_json() : ordered_json(row.note);
    return line;
}

std::string csv_field(const ordered_json& value) {
    if (value.is_null()) return {};
    if (value.is_number_float()) return rounded(value.get<double>(), 6);
    return value.is_string() ? lab::csv_field(value.get_ref<const std::string&>()) : value.dump();
}

std::string csv_of(const ordered_json& kernels) {
    std::string text;
    for (const ordered_json& kernel : kernels) {
        text += text.empty() ? "" : " ";
        for (const auto& [name, value] : kernel.items())
            text += (name == "name" ? "" : ":") + csv_field(value);
    }
    return text;
}

}  // namespace

std::vector<std::pair<std::string, double>> fields_of(const Ceilings::Known& known) {
    std::vector<std::pair<std::string, double>> fields;
    auto add = [&](const char* name, const std::optional<double>& value, double scale) {
        if (value) fields.emplace_back(name, *value * scale);
    };
    add("copy_gb_per_s", known.copy, 1e-9);
    add("read_gb_per_s", known.read, 1e-9);
    add("fma_f32_gflop_per_s", known.fma_f32, 1e-9);
    add("fma_f64_gflop_per_s", known.fma_f64, 1e-9);
    add("mma_f64_gflop_per_s", known.mma_f64, 1e-9);
    if (const auto& t = known.transfers) {
        add("upload_pinned_gb_per_s", t->upload_pinned, 1e-9);
        add("download_pinned_gb_per_s", t->download_pinned, 1e-9);
        add("upload_pageable_gb_per_s", t->upload_pageable, 1e-9);
        add("download_pageable_gb_per_s", t->download_pageable, 1e-9);
    }
    add("launch_ms", known.launch_ms, 1);
    return fields;
}

std::string json_of(const BenchRow& row) {
    return row_json(row).dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

std::string BenchReport::json() const {
    ordered_json root = {{"schema", 1},
                         {"version", CONCORD_VERSION},
                         {"commit", build_commit()},
                         {"date", date_},
                         {"machine",
                          {{"cpu", machine_.cpu},
                           {"cores", machine_.cores},
                           {"memory_bytes", machine_.memory},
                           {"os", machine_.os},
                           {"compiler", machine_.compiler}}},
                         {"hot", options_.hot},
                         {"calls", options_.calls},
                         {"recorded", options_.recorded},
                         {"interrupted", interrupted_},
                         {"devices", ordered_json::array()},
                         {"results", ordered_json::array()}};
    for (const BenchDevice& device : devices_) {
        ordered_json libraries = ordered_json::object(), ceilings = ordered_json::object();
        for (const DeviceProperty& library : device.libraries)
            libraries[library.name] = library.value;
        for (const auto& [name, value] : fields_of(device.ceilings))
            ceilings[name] = value;
        root["devices"].push_back({{"selector", device.info.selector},
                                   {"name", device.info.name},
                                   {"driver", device.info.driver},
                                   {"hardware", device.info.hardware},
                                   {"libraries", libraries},
                                   {"ceilings", ceilings}});
    }
    for (const BenchRow& row : rows_)
        root["results"].push_back(row_json(row));
    return root.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::string BenchReport::csv() const {
    std::string text;
    const ordered_json names = row_json(BenchRow{});
    for (const auto& [name, value] : names.items())
        text += (text.empty() ? "" : ",") + name;
    text += '\n';
    for (const BenchRow& row : rows_) {
        std::string line;
        const ordered_json fields = row_json(row);
        for (const auto& [name, value] : fields.items()) {
            if (name != "algorithm") line += ',';
            line += name == "kernels" ? csv_of(value) : csv_field(value);
        }
        text += line + '\n';
    }
    return text;
}

}  // namespace concord::lab
