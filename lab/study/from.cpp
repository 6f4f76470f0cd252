// Imports files of `concord bench --json` and `concord check --json` as sections of the report.

#include "parse_json.hpp"

#include <concord/study/internal/study.hpp>

#include <concord/error.hpp>
#include <concord/internal/input_file.hpp>
#include <concord/internal/kernel_key.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <sstream>

namespace concord::study {
namespace {

// `details`: follow the file's name.
[[noreturn]] void refuse(const std::filesystem::path& file, const std::string& wrong,
                         const std::string& details = {}) {
    throw Error(ErrorCode::io, "--from",
                detail::error_message(wrong, detail::quoted(file.string())) +
                    (details.empty() ? "" : ": " + details));
}

// The name of a file's section, which is also the beginning of file names: short, and different for different keys.
std::string section_name(const std::string& name, const std::string& key) {
    constexpr std::size_t longest = 40;
    std::string section = "file-";
    for (const char c : name.substr(0, longest))
        section += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '-';
    std::array<char, 18> hash;
    std::snprintf(hash.data(), hash.size(), "-%016llx",
                  static_cast<unsigned long long>(detail::content_hash(key).low));
    return section + hash.data();
}

}  // namespace

ordered_json line_of_file(const std::filesystem::path& file) {
    std::istringstream content(detail::text_of_file(file, "--from"));
    return line_of_content(content, file);
}

ordered_json line_of_content(std::istream& stream, const std::filesystem::path& file) {
    const std::string text(std::istreambuf_iterator<char>(stream), {});
    ordered_json content = parse_json(text, max_levels_of_file);
    const bool bench = content.is_object() && content.contains("results") && content.contains("machine") &&
                       content["schema"] == 1;
    const bool check = content.is_object() && content.contains("matrix");
    if (!bench && !check) refuse(file, "not a file of `concord bench --json` or `concord check --json`");
    std::error_code error;
    const std::filesystem::path whole = std::filesystem::absolute(file, error);
    if (error) refuse(file, "cannot be read", error.message());
    ordered_json line = {{"kind", "file"},
                         {"key", "file|" + whole.lexically_normal().string()},
                         {"name", file.filename().string()},
                         {"content", std::move(content)}};
    try {
        charts_of_file(line);
    } catch (const ordered_json::exception& problem) {
        refuse(file, "not a file of `concord bench --json` or `concord check --json`",
               std::string("unexpected content: ") + problem.what());
    }
    return line;
}

void charts_of_file(const ordered_json& line) {
    const Records records = records_of_file(line);
    Data data{records, {}};
    for (const Result& r : records.results)
        data.results.push_back(&r);
    for (const Figure& figure : study_of_file(line).figures)
        figure.build(figure, data);
}

Records records_of_file(const ordered_json& line) {
    const ordered_json& content = line.at("content");
    Records records;
    if (content.contains("matrix")) {
        records.checks.push_back({{"report", content}});
        return records;
    }
    for (const ordered_json& device : content.at("devices"))
        records.devices.push_back({{"selector", device.at("selector").get<std::string>()},
                                   {"threads", 0},
                                   {"name", device.at("name").get<std::string>()}});
    for (const ordered_json& row : content.at("results")) {
        Result asked;
        asked.asked = row.at("variant");
        asked.workload = row.at("function");
        records.results.push_back(result_of(line_of(asked, row)));
    }
    return records;
}

Study study_of_file(const ordered_json& line) {
    const ordered_json& content = line.at("content");
    Study study;
    const std::string name = line.at("name");
    study.name = section_name(name, line.at("key"));
    const bool check = content.contains("matrix");
    study.title = (check ? "Imported checks: " : "Imported benchmarks: ") + name;
    study.question = check ? "Results of concord check." : "Results of concord bench.";
    study.text = "Concord " + content.value("version", std::string("(unknown version)"));
    if (!check) {
        const ordered_json& machine = content.at("machine");
        study.text += ", " + content.value("date", std::string()) + ", " +
                      machine.value("cpu", std::string()) + ", " +
                      std::to_string(machine.contains("cores") ? whole_number(machine["cores"]) : 0) +
                      " cores; " + machine.value("os", std::string());
    }
    study.text += ".";
    study.figures = {{.title = check ? "Agreement matrix" : "Time per call over the number of elements",
                      .build = check ? agreement : lines,
                      .panels = {By::algorithm, By::workload, By::device}}};
    return study;
}

}  // namespace concord::study
