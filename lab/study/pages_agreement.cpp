// The agreement of variants in stored checks.

#include "overview.hpp"
#include "pages.hpp"
#include "peers.hpp"

#include <concord/algorithm.hpp>
#include <concord/internal/language.hpp>
#include <concord/lab/suite.hpp>

#include <algorithm>
#include <map>
#include <vector>

namespace concord::study {
namespace {

namespace fs = std::filesystem;

// How a stored check's device runs kernels: `groups` if variants passed that are refused elsewhere.
LaunchModel launch_model(const ordered_json& matrix, const ordered_json& device) {
    const DeviceTraits many{.launch = LaunchModel::groups}, one{.launch = LaunchModel::single_items};
    const bool has_groups = std::ranges::any_of(matrix, [&](const ordered_json& cell) {
        return cell.at("device") == device && cell.at("passed") != 0 &&
               std::ranges::any_of(lab::refusals(), [&](const lab::Refusal& refusal) {
                   return !refusal.is_possible_only && refusal.algorithm == text_of(cell, "algorithm") &&
                          refusal.variant == text_of(cell, "variant") && refusal.applies(one) &&
                          !refusal.applies(many);
               });
    });
    return has_groups ? LaunchModel::groups : LaunchModel::single_items;
}

// Whether the variant runs on the backend of a selector, on devices of that kind.
bool applies_to(const Algorithm& algorithm, const Variant& variant, const std::string& selector,
                LaunchModel launch) {
    // A backend that is not named like a language is the CPU's.
    const std::string backend = selector.substr(0, selector.find(':'));
    const auto language =
        std::ranges::find_if(detail::languages, [&](const auto& row) { return row.id == backend; });
    const Dialect dialect = language == std::end(detail::languages) ? Dialect::host : language->dialect;
    const DeviceTraits traits{.launch = launch};
    return variant.dialects.has(dialect) &&
           std::ranges::none_of(lab::refusals(), [&](const lab::Refusal& refusal) {
               return !refusal.is_possible_only && refusal.algorithm == algorithm.name &&
                      refusal.variant == variant.name && refusal.applies(traits);
           });
}

// How many variants of an algorithm agree with the reference on a device. lacking: exist now, but were not checked.
struct Verdicts {
    u64 bits = 0, bound = 0, compiled = 0, failed = 0, lacking = 0, cases = 0;

    u64 variants() const { return bits + bound + compiled + failed + lacking; }
};

// Adds the variants that the check lacks to `unchecked`.
Verdicts verdicts_of(const ordered_json& matrix, const ordered_json& device, const Algorithm& algorithm,
                     std::vector<std::string>& unchecked) {
    Verdicts all;
    const LaunchModel launch = launch_model(matrix, device);
    for (const Variant* variant : algorithm.variants) {
        const auto cell = std::ranges::find_if(matrix, [&](const ordered_json& c) {
            return c.at("device") == device && c.at("algorithm") == algorithm.name &&
                   c.at("variant") == variant->name;
        });
        if (cell == matrix.end()) {
            if (!applies_to(algorithm, *variant, device, launch)) continue;
            ++all.lacking;
            unchecked.push_back(std::string(algorithm.name) + " `" + std::string(variant->name) + "`");
            continue;
        }
        const u64 correct = cell->value("passed", u64{0}) + cell->value("compiled", u64{0});
        const std::string verdict = text_of(*cell, "verdict");
        all.cases += correct;
        if (cell->value("failed", u64{0}) != 0)
            ++all.failed;
        else if (correct > 0)
            ++(verdict.find("compile") != verdict.npos ? all.compiled
               : verdict.find("bound") != verdict.npos ? all.bound
                                                       : all.bits);
    }
    return all;
}

// "2 identical, 1 within bound (1 800 cases)"
std::string words_of(const Verdicts& verdicts) {
    std::vector<std::string> parts;
    for (const auto& [count, what] :
         {std::pair(verdicts.bits, " identical"), std::pair(verdicts.bound, " within bound"),
          std::pair(verdicts.compiled, " compile"), std::pair(verdicts.failed, " FAILED"),
          std::pair(verdicts.lacking, " not checked")}) {
        if (count > 0) parts.push_back(std::to_string(count) + what);
    }
    std::string digits = std::to_string(verdicts.cases);
    for (std::size_t k = digits.size(); k > 3; k -= 3)
        digits.insert(k - 3, no_break_space);
    return parts.empty() ? "–" : joined(parts, ", ") + " (" + digits + " cases)";
}

struct Agreement {
    Rows rows;
    std::map<std::pair<std::string, std::string>, Verdicts> cells;  // by algorithm and heading
    std::string commands, covers;
    std::vector<std::string> unchecked;  // "NVIDIA H100, CUDA: sort `rank_merge`", in Markdown
};

Agreement stored_agreement(const fs::path& folder) {
    Agreement agreement;
    agreement.rows = {{"algorithm"}};
    for (const Algorithm* algorithm : algorithms())
        agreement.rows.push_back({std::string(algorithm->name)});
    std::vector<std::string> commands, covers;
    for_each_file(folder, ".check", [&](const std::string& /*name*/, const ordered_json& stored) {
        for (const ordered_json& device : stored.at("devices")) {
            const ordered_json& selector = device.at("selector");
            const std::string title = text_of(device, "name") + ", " + backend_of(selector);
            std::vector<std::string> unchecked;
            agreement.rows.front().push_back(title);
            for (std::size_t k = 0; k < algorithms().size(); ++k) {
                const Verdicts verdicts =
                    verdicts_of(stored.at("matrix"), selector, *algorithms()[k], unchecked);
                agreement.rows[k + 1].push_back(words_of(verdicts));
                agreement.cells[{agreement.rows[k + 1].front(), title}] = verdicts;
            }
            if (!unchecked.empty()) agreement.unchecked.push_back(title + ": " + joined(unchecked, ", "));
        }
        // Variants may have been checked by several builds. Old files have one date and no commit.
        std::vector<std::string> builds, dates;
        for (const ordered_json& cell : stored.at("matrix")) {
            const std::string date = cell.contains("date") ? text_of(cell, "date") : text_of(stored, "date");
            builds.push_back("on " + date + commit_of(cell));
            dates.push_back(date);
        }
        commands.push_back("`" + text_of(stored, "command") + "` " + joined(builds, ", and ") + " (" +
                           text_of(stored, "covers") + ")");
        covers.push_back(text_of(stored, "covers") + ", " + joined(dates, ", "));
    });
    agreement.commands = joined(commands, "; ");
    agreement.covers = joined(covers, "; ");
    return agreement;
}

}  // namespace

std::string agreement_page(const fs::path& folder) {
    const Agreement agreement = stored_agreement(folder);
    std::string unchecked;
    for (const std::string& line : agreement.unchecked)
        unchecked += "- " + line + "\n";
    if (!unchecked.empty())
        unchecked = "*Not checked*: variants that exist now and did not when the results were stored.\n\n" +
                    unchecked + "\n";
    return markdown_table(agreement.rows) +
           "Variants per algorithm: *identical* results are bitwise those of the serial reference; "
           "results *within bound* are floating-point sums in another order, or products of split "
           "operands "
           "(`tf32x3`). By default `auto` uses identical ones only.\n\n" +
           unchecked + "Commands: " + agreement.commands + ".\n";
}

std::string agreement_figure(const fs::path& folder) {
    const Agreement agreement = stored_agreement(folder);
    Overview overview{
        .title = "Variants of each algorithm that agree with the serial reference",
        .description =
            "For each algorithm and device, how many variants give bitwise identical results, and "
            "how many results within an error bound, and how many were not checked.",
        .columns = {agreement.rows.front().begin() + 1, agreement.rows.front().end()}};
    bool any_failed = false;
    for (std::size_t r = 1; r < agreement.rows.size(); ++r) {
        Overview::Row row{agreement.rows[r].front(), {}};
        for (const std::string& column : overview.columns) {
            const auto it = agreement.cells.find({row.name, column});
            const Verdicts verdicts = it == agreement.cells.end() ? Verdicts{} : it->second;
            any_failed = any_failed || verdicts.failed > 0;
            Overview::Cell& cell = row.cells.emplace_back();
            const std::vector<std::pair<u64, const char*>> parts = {{verdicts.bits, "same"},
                                                                    {verdicts.bound, "bound"},
                                                                    {verdicts.compiled, "none"},
                                                                    {verdicts.failed, "failed"}};
            double from = 0;
            const auto all = static_cast<double>(verdicts.variants());
            for (const auto& [count, css] : parts) {
                if (count == 0) continue;
                const double to = from + static_cast<double>(count) / all;
                cell.boxes.push_back({from, to, css, std::to_string(count)});
                from = to;
            }
        }
        overview.rows.push_back(std::move(row));
    }
    overview.legend = {
        {"same", "bitwise identical to the reference; by default auto uses only these"},
        {"bound", "within the error bound of another order of operations, or of split operands (tf32x3)"}};
    if (any_failed) overview.legend.emplace_back("failed", "wrong");
    for (std::string line : agreement.unchecked) {
        std::erase(line, '`');
        overview.legend.emplace_back("none", "not checked on " + line);
    }
    overview.legend.emplace_back("", agreement.covers);
    return svg_file(overview);
}

}  // namespace concord::study
