// A TuneReport as a table and as JSON.

#include <concord/lab/internal/tune.hpp>
#include <concord/lab/table.hpp>

#include <nlohmann/json.hpp>

#include <ostream>

namespace concord::lab {
namespace {

using nlohmann::ordered_json;

std::string words_of(const TunePoint& point) {
    std::string words;
    for (const TuningRow& row : point.rows)
        words += (words.empty() ? "" : ", ") +
                 (row.what.find('.') == std::string::npos ? "" : row.what + " ") + row.value;
    return words;
}

ordered_json json_of(const TunePoint& point) {
    ordered_json rows = ordered_json::array();
    for (const TuningRow& row : point.rows)
        rows.push_back({{"what", row.what}, {"value", row.value}, {"gain", row.gain}});
    ordered_json object = {{"algorithm", point.algorithm},
                           {"workload", point.workload},
                           {"type", name_of(point.type)},
                           {"n", point.n},
                           {"default_variant", point.default_variant},
                           {"variant", point.variant},
                           {"default_ms", point.default_ms},
                           {"tuned_ms", point.tuned_ms},
                           {"gain", point.gain},
                           {"tried", point.tried},
                           {"rows", std::move(rows)}};
    object["note"] = point.note.empty() ? ordered_json() : ordered_json(point.note);
    object["problem"] = point.problem.empty() ? ordered_json() : ordered_json(point.problem);
    return object;
}

}  // namespace

void TuneReport::print(std::ostream& out) const {
    Table results({"algorithm", "workload", "type", ">size", ">default ms", ">tuned ms", ">speed-up",
                   ">candidates", "choice"});
    u64 left_out = 0;
    for (const TunePoint& point : points) {
        if (!point.problem.empty()) {
            ++left_out;
            results.add({point.algorithm,
                         point.workload,
                         std::string(name_of(point.type)),
                         size_name(point.n),
                         "-",
                         "-",
                         "-",
                         "-",
                         {point.problem, Tone::faint}});
            continue;
        }
        const bool better = !point.rows.empty();
        results.add({point.algorithm,
                     point.workload,
                     std::string(name_of(point.type)),
                     size_name(point.n),
                     rounded(point.default_ms),
                     rounded(point.tuned_ms),
                     {better ? rounded(point.gain) : "-", better ? Tone::good : Tone::plain},
                     std::to_string(point.tried),
                     better ? Cell(words_of(point))
                            : Cell("default, " + point.default_variant +
                                       (point.note.empty() ? "" : "; " + point.note),
                                   Tone::faint)});
    }
    if (!results.empty()) results.print(out);
    for (const std::string& what : wrong)
        out << painted("WRONG", Tone::bad) << ' ' << what << '\n';
    if (load > busy)
        out << "the machine is busy, with up to " << rounded(load)
            << " runnable threads per thread of the device: candidates with a single group were skipped, "
               "because they look faster than they are\n";
    u64 better = 0;
    for (const TunePoint& point : points)
        better += point.rows.empty() ? 0 : 1;
    out << better << " of " << points.size() - left_out << " workloads are faster, with " << rows_found
        << " rows; " << left_out << " left out; " << rounded(seconds) << " s\n";
    if (table.rows.size() > rows_found)
        out << "kept " << table.rows.size() - rows_found
            << " rows of the previous table, for algorithms and types that were not tuned\n";
}

std::string TuneReport::json() const {
    ordered_json root = {{"schema", 1},
                         {"version", table.version},
                         {"date", table.date},
                         {"backend", table.backend},
                         {"hardware", table.hardware},
                         {"device", table.device},
                         {"units", table.units},
                         {"driver", table.driver},
                         {"seconds", seconds},
                         {"load", load}};
    root["points"] = ordered_json::array();
    for (const TunePoint& point : points)
        root["points"].push_back(json_of(point));
    root["wrong"] = wrong;
    root["table"] = table.text();
    return root.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace concord::lab
