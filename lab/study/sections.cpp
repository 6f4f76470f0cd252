#include "sections.hpp"

#include <concord/lab/table.hpp>

#include <algorithm>
#include <map>

namespace concord::study {

void for_each_section(const Records& records,
                      const std::function<void(const Study&, const std::vector<Drawn>&)>& visit) {
    auto add = [&](const Study& study, const Data& data) {
        std::vector<Drawn> drawn;
        for (std::size_t f = 0; f < study.figures.size(); ++f) {
            const Figure& figure = study.figures[f];
            Drawn one{figure, {}};
            for (Chart& chart : figure.build(figure, data)) {
                chart.figure = figure.title;
                const std::string number = std::to_string(one.charts.size() + 1);
                one.charts.emplace_back(study.name + "-" + std::to_string(f + 1) + "-" + number,
                                        std::move(chart));
            }
            if (!one.charts.empty()) drawn.push_back(std::move(one));
        }
        if (!drawn.empty()) visit(study, drawn);
    };
    for (const Study& study : studies()) {
        if (records.studies.count(study.name) == 0) continue;
        Study as_run = study;
        if (records.unfinished.count(study.name) != 0)
            as_run.text += " Not finished: this study was interrupted, and results are missing.";
        add(as_run, {records, results_of(study, records)});
    }
    for (const ordered_json& line : records.files) {
        const Records file = records_of_file(line);
        Data data{file, {}};
        for (const Result& r : file.results)
            data.results.push_back(&r);
        add(study_of_file(line), data);
    }
}

Problems problems_in(const Chart& chart) {
    Problems problems;
    std::map<std::string, u64> left;
    for (const Result* r : chart.missing) {
        if (r->left_out())
            ++left[r->variant];
        else
            problems.failed.push_back(r);
    }
    for (const auto& [name, count] : left)
        problems.left_out += (problems.left_out.empty()
                                  ? "left out, because they need too much memory or a call takes too long: "
                                  : ", ") +
                             name + (count > 1 ? " (" + std::to_string(count) + " sizes)" : "");
    return problems;
}

std::vector<std::pair<std::string, std::string>> ceilings_of(const ordered_json& device) {
    using Unit = Scale::Unit;
    constexpr struct {
        const char *title, *name;
        Unit unit;
    } ceilings[] = {{"copy", "copy_gb_per_s", Unit::gb_per_s},
                    {"read", "read_gb_per_s", Unit::gb_per_s},
                    {"fused multiply-adds, f32", "fma_f32_gflop_per_s", Unit::gflop_per_s},
                    {"fused multiply-adds, f64", "fma_f64_gflop_per_s", Unit::gflop_per_s},
                    {"tensor cores, f64", "mma_f64_gflop_per_s", Unit::gflop_per_s},
                    {"upload, pinned", "upload_pinned_gb_per_s", Unit::gb_per_s},
                    {"download, pinned", "download_pinned_gb_per_s", Unit::gb_per_s},
                    {"upload, pageable", "upload_pageable_gb_per_s", Unit::gb_per_s},
                    {"download, pageable", "download_pageable_gb_per_s", Unit::gb_per_s},
                    {"launch and synchronise", "launch_ms", Unit::milliseconds}};
    std::vector<std::pair<std::string, std::string>> list;
    const ordered_json known = device.value("ceilings", ordered_json::object());
    for (const auto& [title, name, unit] : ceilings) {
        const auto it = known.find(name);
        list.emplace_back(title, it == known.end() ? "" : Scale{.unit = unit}.write(it->get<double>()));
    }
    return list;
}

Rows devices_rows(const Records& records) {
    Rows rows = {{""}, {"name"}, {"driver"}};
    for (const auto& [title, value] : ceilings_of(ordered_json::object()))
        rows.push_back({title});
    for (const ordered_json& any : records.devices) {
        const ordered_json& device = *records.device(any["selector"]);
        if (&device != &any) continue;
        std::size_t k = 0;
        for (const char* name : {"selector", "name", "driver"})
            rows[k++].push_back(device[name]);
        for (const auto& [title, value] : ceilings_of(device))
            rows[k++].push_back(value);
    }
    std::erase_if(rows, [](const auto& row) {
        return !row.front().empty() &&
               std::all_of(row.begin() + 1, row.end(), [](const std::string& cell) { return cell.empty(); });
    });
    return rows;
}

std::string machine_words(const ordered_json& run) {
    const ordered_json& m = run["machine"];
    return m["cpu"].get<std::string>() + ", " + std::to_string(m["cores"].get<u32>()) + " cores, " +
           lab::bytes_name(m["memory_bytes"]) + "; " + m["os"].get<std::string>() + "; " +
           m["compiler"].get<std::string>() + ". Concord " + run["version"].get<std::string>() + ", " +
           run["date"].get<std::string>() +
           (run.value("quick", false) ? ", a quick run: small sizes, few repetitions." : ".");
}

}  // namespace concord::study
