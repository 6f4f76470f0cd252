// What `concord bench --json` and `concord check --json` wrote, as sections of the report.

#include "study.hpp"

#include <concord/error.hpp>

#include <algorithm>
#include <fstream>

namespace concord::study {
namespace {

[[noreturn]] void refuse(const std::filesystem::path& file, const std::string& why) {
    throw Error(ErrorCode::io, "study", file.string() + ": " + why);
}

}  // namespace

ordered_json line_of_file(const std::filesystem::path& file) {
    std::ifstream stream(file);
    if (!stream) refuse(file, "cannot be read");
    ordered_json content = ordered_json::parse(stream, nullptr, false);
    const bool bench = content.is_object() && content.contains("results") && content.contains("machine") &&
                       content["schema"] == 1;
    const bool check = content.is_object() && content.contains("matrix");
    if (!bench && !check) refuse(file, "is neither of `concord bench --json` nor of `concord check --json`");
    std::error_code error;
    const std::filesystem::path whole = std::filesystem::absolute(file, error);
    if (error) refuse(file, error.message());
    ordered_json line = {{"kind", "file"},
                         {"key", "file|" + whole.lexically_normal().string()},
                         {"name", file.filename().string()},
                         {"content", std::move(content)}};
    try {
        charts_of_file(line);
    } catch (const ordered_json::exception& problem) {
        refuse(file, std::string("is not as `concord bench --json` or `concord check --json` writes it: ") +
                         problem.what());
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
    study.name = "file-";
    for (const char c : line.at("key").get<std::string>())
        study.name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '-';
    const bool check = content.contains("matrix");
    study.title = (check ? "Checked: " : "Measured: ") + name;
    study.question = check ? "What concord check found." : "What concord bench measured.";
    study.text = "Concord " + content.value("version", std::string("of an unknown version"));
    if (!check) {
        const ordered_json& machine = content.at("machine");
        study.text += ", " + content.value("date", std::string()) + ", " +
                      machine.value("cpu", std::string()) + ", " + std::to_string(machine.value("cores", 0)) +
                      " cores; " + machine.value("os", std::string());
    }
    study.text += ".";
    Figure figure{check ? "The matrix" : "Time over sizes", "", check ? agreement : lines};
    figure.panels = {By::algorithm, By::workload, By::device};
    study.figures = {std::move(figure)};
    return study;
}

}  // namespace concord::study
