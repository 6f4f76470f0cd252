#pragma once
// What a benchmark measures on a device: works, rows, and the rate that bounds each row.

#include "bench_printer.hpp"

#include <concord/lab/baseline.hpp>
#include <concord/lab/harness.hpp>

namespace concord::lab {

class BenchPlan {
  public:
    // All must outlive the plan.
    BenchPlan(const std::vector<Suite>& suites, const BenchOptions& options, const Harness& harness)
        : suites_(suites), options_(options), harness_(harness) {}

    // The suites that the options name.
    std::vector<const Suite*> suites() const;
    // Calls `visit` with each piece of work of a suite, until it returns false.
    void for_each_work(const Suite& suite, const std::function<bool(const Work&)>& visit) const;
    // Whether to measure what `auto` chooses. "all" includes it.
    bool wants_auto() const;
    std::vector<const Baseline*> baselines_of(const Work& work) const;
    // The device's baselines of this algorithm that do not support the work, with the reason: "cub: supports ...".
    std::vector<std::string> missing_baselines_of(const Work& work) const;
    // A row without results.
    BenchRow row_of(const Suite& suite, const Work& work, std::string variant) const;
    BenchRow row_of(const Suite& suite, const Work& work, const Baseline& baseline) const;
    // The columns for all rows that the run may print.
    BenchLayout layout() const;

  private:
    const std::vector<Suite>& suites_;
    const BenchOptions& options_;
    const Harness& harness_;
};

// Sets the row's ceiling: the rate that needs the longest time for the work. If a rate cannot be measured, the row has
// none.
void set_bottleneck(BenchRow& row, const Work& work, Ceilings& ceilings);

}  // namespace concord::lab
