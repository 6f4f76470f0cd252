// Comparison of two runs.

#include "page.hpp"
#include "sections.hpp"

#include <concord/lab/table.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

namespace concord::study {
namespace {

using lab::Cell;
using lab::rounded;
using lab::Tone;

struct Match {
    const Result* a;
    const Result* b;
    double ratio = 0;  // time of b / time of a
    bool changed = false;
};

// Whether the intervals between the quartiles, widened by 1.5 times the interquartile range (J. Tukey's fences), do not
// overlap. The quartiles of one run alone underestimate the variation between runs.
bool has_changed(const Result& a, const Result& b) {
    struct Fences {
        double low, high;
        explicit Fences(const Result& r) {
            const double q1 = r.q1.value_or(*r.ms), q3 = r.q3.value_or(*r.ms), reach = 1.5 * (q3 - q1);
            low = q1 - reach, high = q3 + reach;
        }
    };
    const Fences x(a), y(b);
    return x.high < y.low || y.high < x.low;
}

std::string time_or_problem(const Result& r) {
    return r.ms ? time_of(r) : r.left_out() ? "left out" : "failed";
}

std::vector<Match> matches_of(const Records& a, const Records& b) {
    std::map<std::string, const Result*> others;
    for (const Result& r : b.results)
        others[r.key()] = &r;
    std::vector<Match> matches;
    for (const Result& r : a.results) {
        const auto it = others.find(r.key());
        if (it == others.end()) continue;
        Match match{&r, it->second};
        if (r.ms && it->second->ms) {
            match.ratio = *it->second->ms / *r.ms;
            match.changed = has_changed(r, *it->second);
        } else {
            match.changed = r.ms.has_value() != it->second->ms.has_value();
        }
        matches.push_back(match);
    }
    // The largest changes come first, then the unchanged results in their order.
    std::stable_sort(matches.begin(), matches.end(), [](const Match& x, const Match& y) {
        auto weight = [](const Match& p) {
            return !p.changed ? -1.0 : p.ratio > 0 ? std::abs(std::log(p.ratio)) : 1e9;
        };
        return weight(x) > weight(y);
    });
    return matches;
}

}  // namespace

Comparison compare(const Records& a, const Records& b, const std::string& name_a, const std::string& name_b) {
    Comparison result;
    Rows rows = {{"measurement", ">time of A", ">time of B", ">B / A", ""}};
    lab::Table table(rows.front());
    std::map<std::string, std::pair<double, u64>> means;  // of log ratios, by device and algorithm
    for (const Match& match : matches_of(a, b)) {
        ++result.common;
        result.changed += match.changed ? 1 : 0;
        const std::string ratio = match.ratio > 0 ? rounded(match.ratio) : "";
        rows.push_back({match.a->title(), time_or_problem(*match.a), time_or_problem(*match.b), ratio,
                        match.changed ? "changed" : ""});
        if (match.ratio > 0) {
            auto& [sum, count] = means[match.a->device + ", " + match.a->algorithm];
            sum += std::log(match.ratio);
            ++count;
        }
        if (!match.changed) continue;
        const Tone tone = match.ratio > 1 || !match.b->ms ? Tone::bad : Tone::good;
        table.add({match.a->title(), time_or_problem(*match.a), time_or_problem(*match.b), ratio,
                   Cell(match.ratio > 1   ? "slower"
                        : match.ratio > 0 ? "faster"
                                          : "changed",
                        tone)});
    }
    const u64 only_a = a.results.size() - result.common, only_b = b.results.size() - result.common;
    const std::string counts =
        std::to_string(result.common) + " results in both, " + std::to_string(result.changed) +
        " changed beyond their spread (1.5 times the interquartile range beyond the quartiles); " +
        std::to_string(only_a) + " only in A, " + std::to_string(only_b) + " only in B";
    std::ostringstream out;
    out << "A: " << name_a << "\nB: " << name_b << "\n\n";
    if (!table.empty()) table.print(out);
    Rows summary = {{"device and algorithm", ">results", ">geometric mean of B / A"}};
    lab::Table geometric(summary.front());
    for (const auto& [name, mean] : means) {
        summary.push_back({name, std::to_string(mean.second),
                           rounded(std::exp(mean.first / static_cast<double>(mean.second)))});
        geometric.add({summary.back().begin(), summary.back().end()});
    }
    if (!geometric.empty()) {
        out << '\n';
        geometric.print(out);
    }
    out << '\n' << counts << '\n';
    result.text = out.str();
    const std::string header = "<p class=\"soft\">A: " + escaped(name_a) + ". " +
                               escaped(machine_words(a.run)) + "</p><p class=\"soft\">B: " + escaped(name_b) +
                               ". " + escaped(machine_words(b.run)) + "</p><p>" + escaped(counts) +
                               ". Ratios are of times: above 1, B is slower.</p>";
    result.html =
        html_page("Concord: two runs", header, "",
                  html_table(summary, "Geometric means of the ratios of times, per device and algorithm") +
                      html_table(rows, "All results in both runs, with the largest changes first"));
    return result;
}

}  // namespace concord::study
