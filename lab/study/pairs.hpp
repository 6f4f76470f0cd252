#pragma once
// Studies that compare two calls of `auto` on the same work. Each call gives a result of its own name.

#include <concord/study/internal/study.hpp>

#include <concord/lab/bench.hpp>
#include <concord/lab/harness.hpp>

#include <array>

namespace concord::study {

// The names of the two calls, as in Result::asked.
using PairNames = std::array<std::string_view, 2>;

// Times both calls on the work: sets Timing and, where a call has no time, the problem. `variant` holds the call's name
// and receives what it chose.
using MeasurePair =
    std::function<void(const lab::Suite&, const lab::Work&, std::array<lab::BenchRow, 2>& rows)>;

// Measures the first workload of each algorithm, for the case's types and sizes. An Error becomes the problem of both
// rows.
void run_pairs(lab::Harness& harness, const Case& what, const StudyOptions& options, const PairNames& names,
               const PairSinks& sinks, const MeasurePair& measure);

// Two results of the same work, both with a time.
struct Pair {
    const Result* first;
    const Result* second;
    double ratio;  // time of the first / time of the second
};

// The pairs among the results. Adds second results without such a pair to `missing`.
std::vector<Pair> pairs_of(const std::vector<const Result*>& results, const PairNames& names,
                           std::vector<const Result*>& missing);
// "sort keys f32 2^20".
std::string work_of(const Result& result);

}  // namespace concord::study
