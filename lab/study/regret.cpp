// The study `regret`: the time of `auto` divided by that of the fastest variant with its fastest launch parameters.

#include "figures.hpp"
#include "pairs.hpp"

#include <concord/lab/internal/search.hpp>
#include <concord/lab/table.hpp>
#include <concord/tuning.hpp>

#include <algorithm>
#include <map>

namespace concord::study {
namespace {

using namespace lab;

// "auto" would be a measurement of other studies.
constexpr PairNames regret_names = {"chosen", "fastest"};
// A call that takes longer is left out, because the search calls it hundreds of times.
constexpr double quick_case_ms = 30, full_case_ms = 500;

}  // namespace

void run_regret(const std::string& selector, const Case& what, const StudyOptions& options,
                const PairSinks& sinks) {
    using Clock = SearchState::Clock;
    Harness harness(selector);
    SearchState state;
    state.min_gain = 1.02;
    state.descend_within = 1.25;
    state.max_turns = options.quick ? 1 : 2;
    state.effort = {.max_ms = options.quick ? 20.0 : 80.0,
                    .max_rounds = options.quick ? 15U : 31U,
                    .min_gain = state.min_gain};
    const PairedEffort last{
        .max_ms = options.quick ? 60.0 : 300.0, .max_rounds = options.quick ? 31U : 101U, .min_gain = 1};
    const std::chrono::seconds max_time(options.quick ? 3 : 20);
    // The table of the device or its calibration, which stays valid until the process ends.
    const std::shared_ptr<const Tuning> in_use(std::shared_ptr<void>(), &tuning_of(harness.device()));
    run_pairs(harness, what, options, regret_names, sinks,
              [&](const Suite& suite, const Work& work, std::array<BenchRow, 2>& rows) {
                  state.ends = Clock::now() + max_time;
                  Search search(harness, suite, work, state, in_use);
                  Candidate& chosen = search.start();
                  const double once =
                      std::min(search.milliseconds(chosen, 1), search.milliseconds(chosen, 1));
                  if (once > (options.quick ? quick_case_ms : full_case_ms)) {
                      for (BenchRow& row : rows)
                          row.problem = std::string(left_out) + "a call takes " + rounded(once) + " ms";
                      return;
                  }
                  Candidate best = search.fastest();
                  PairedTiming times = search.compare(chosen, best, last);
                  // The search takes the best of many measurements. If this one does not confirm the gain, `auto` is
                  // the fastest that is known.
                  const bool confirmed = best.tuning != chosen.tuning && times.ratio > 1;
                  rows[0].variant += ": " + std::string(chosen.variant->name);
                  rows[1].variant += ": " + std::string((confirmed ? best : chosen).variant->name);
                  if (const std::string changes = search.words_of(best, Search::Rows::parameters);
                      confirmed && !changes.empty())
                      rows[1].variant += " (" + changes + ")";
                  rows[0].timing = times.holder;
                  rows[1].timing = times.holder;
                  if (confirmed) {
                      rows[1].timing = times.challenger;
                      rows[1].timing->median = times.holder.median / times.ratio;
                  }
              });
    if (!state.wrong.empty())
        throw Error(ErrorCode::device_failed, "study", "regret: " + state.wrong.front());
}

std::vector<Chart> regrets(const Figure& figure, const Data& data) {
    constexpr std::size_t max_bars = 10;
    return charts_of(figure, data, {By::device}, [&](Chart& chart, const Group& panel) {
        chart.bars = true;
        chart.notes = "choice of auto, and the fastest";
        chart.text = figure.caption;
        chart.y = {.name = "regret", .unit = Scale::Unit::factor};
        std::vector<Pair> pairs = pairs_of(panel.second, regret_names, chart.missing);
        std::stable_sort(pairs.begin(), pairs.end(),
                         [](const Pair& a, const Pair& b) { return a.ratio > b.ratio; });
        if (!pairs.empty()) {
            const double middle = (pairs[(pairs.size() - 1) / 2].ratio + pairs[pairs.size() / 2].ratio) / 2;
            chart.text = "Median " + rounded(middle) + ", worst " + rounded(pairs.front().ratio) + ", " +
                         std::to_string(pairs.size()) + " measurements. The worst " +
                         std::to_string(std::min(max_bars, pairs.size())) + ":";
        }
        Series bars;
        for (const Pair& pair : pairs) {
            if (bars.marks.size() == max_bars) break;
            bars.marks.push_back({.y = pair.ratio,
                                  .label = work_of(*pair.first),
                                  .note = pair.first->variant + "; " + pair.second->variant,
                                  .of = pair.first});
        }
        chart.series.push_back(std::move(bars));
    });
}

std::vector<Chart> regret_over_sizes(const Figure& figure, const Data& data) {
    std::vector<Chart> charts;
    for (const auto& [device, results] : groups(figure, data.results, {By::device})) {
        std::vector<const Result*> missing;  // named by the other figure
        std::map<std::string, std::map<std::string, Series>> by_type;
        for (const Pair& pair : pairs_of(results, regret_names, missing)) {
            Series& series = by_type[pair.first->type][pair.first->workload];
            series.name = pair.first->workload;
            series.marks.push_back(
                {.x = static_cast<double>(pair.first->n), .y = pair.ratio, .of = pair.first});
        }
        for (auto& [type, all] : by_type) {
            Chart chart;
            chart.title = panel_title(device, data) + ", " + type;
            chart.x = {.name = "number of elements", .unit = Scale::Unit::power_of_two, .log = true};
            chart.y = {.name = "regret", .unit = Scale::Unit::factor};
            for (auto& [workload, series] : all)
                chart.series.push_back(std::move(series));
            add_chart(charts, std::move(chart));
        }
    }
    return charts;
}

}  // namespace concord::study
