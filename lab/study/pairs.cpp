#include "pairs.hpp"

#include <concord/lab/table.hpp>

#include <algorithm>

namespace concord::study {

using lab::BenchRow;
using lab::Work;
using lab::Workload;

void run_pairs(lab::Harness& harness, const Case& what, const StudyOptions& options, const PairNames& names,
               const PairSinks& sinks, const MeasurePair& measure) {
    const std::vector<Type>& types = options.types.empty() ? what.types : options.types;
    const std::vector<u64> sizes = sizes_on(harness.device(), what, options.quick);
    const std::vector<Suite> suites = lab::suites();
    for (const Suite& suite : suites) {
        if (!lab::asked_for(options.algorithms, suite.name)) continue;
        const Workload& workload = suite.workloads.front();
        for (const Type type : types)
            for (const u64 n : sizes) {
                const std::optional<Work> work = workload.make(type, n, 1);
                if (!work || work->type() != type) continue;
                std::array<BenchRow, 2> rows;
                std::array<Result, 2> asked;
                std::array<bool, 2> wanted{};
                for (const std::size_t k : {0, 1}) {
                    Result& result = asked[k];
                    result.algorithm = what.suite;
                    result.workload = std::string(suite.name).append(" ").append(workload.name);
                    result.variant = result.asked = names[k];
                    result.device = harness.selector();
                    result.threads = threads_of(harness.device());
                    result.type = name_of(type);
                    result.n = n;
                    BenchRow& row = rows[k];
                    row.algorithm = result.algorithm;
                    row.function = result.workload;
                    row.variant = result.variant;
                    row.device = result.device;
                    row.type = type;
                    row.n = work->n;
                    row.bytes = work->traffic;
                    row.operations = work->operations;
                    wanted[k] = sinks.wanted(result, row);
                }
                if (!wanted[0] && !wanted[1]) continue;  // otherwise both, because only their ratio counts
                std::string problem = harness.no_room_for(*work);
                if (!problem.empty()) problem.insert(0, "no room: ");
                try {
                    if (problem.empty()) measure(suite, *work, rows);
                } catch (const Error& error) {
                    problem = error.what();
                }
                for (const std::size_t k : {0, 1}) {
                    if (rows[k].problem.empty() && !rows[k].timing)
                        rows[k].problem = problem.empty() ? "the other call gives a wrong result" : problem;
                    sinks.done(asked[k], ordered_json::parse(json_of(rows[k])));
                }
            }
    }
}

std::vector<Pair> pairs_of(const std::vector<const Result*>& results, const PairNames& names,
                           std::vector<const Result*>& missing) {
    std::vector<Pair> pairs;
    for (const Result* second : results) {
        if (second->asked != names[1]) continue;
        Result same = *second;
        same.asked = names[0];
        const auto first = std::ranges::find(results, same.key(), &Result::key);
        if (first != results.end() && (*first)->ms && second->ms && *second->ms > 0)
            pairs.push_back({*first, second, *(*first)->ms / *second->ms});
        else
            missing.push_back(second);
    }
    return pairs;
}

std::string work_of(const Result& result) {
    return result.workload + " " + result.type + " " + lab::size_name(result.n);
}

}  // namespace concord::study
