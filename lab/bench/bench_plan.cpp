#include "bench_plan.hpp"

#include <concord/log.hpp>

#include <algorithm>

namespace concord::lab {

std::vector<const Suite*> BenchPlan::suites() const {
    std::vector<const Suite*> list;
    for (const Suite& suite : suites_) {
        if (asked_for(options_.algorithms, suite.name)) list.push_back(&suite);
    }
    return list;
}

void BenchPlan::for_each_work(const Suite& suite, const std::function<bool(const Work&)>& visit) const {
    for (const Workload& workload : suite.workloads) {
        const bool is_first = &workload == &suite.workloads.front();
        if (options_.workloads.empty() ? !is_first : !asked_for(options_.workloads, workload.name)) continue;
        for (const Type type : options_.types) {
            if (is_storage(type) && !suite.supports_storage) continue;
            for (const u64 n : options_.sizes.empty() ? suite.bench_sizes : options_.sizes) {
                const std::optional<Work> work = workload.make(type, n, options_.seed);
                // A suite with one type has only work of that type. It is measured once.
                if (!work || (work->type() != type && type != options_.types.front())) continue;
                if (!visit(*work)) return;
            }
        }
    }
}

bool BenchPlan::wants_auto() const {
    return asked_for(options_.variants, "auto") && !asked_for(options_.variants, "all");
}

std::vector<const Baseline*> BenchPlan::baselines_of(const Work& work) const {
    std::vector<const Baseline*> found;
    if (!options_.baselines) return found;
    for (const Baseline& baseline : baselines()) {
        if (baseline.algorithm == work.algorithm && baseline.supports(harness_.device(), work))
            found.push_back(&baseline);
    }
    return found;
}

std::vector<std::string> BenchPlan::missing_baselines_of(const Work& work) const {
    std::vector<std::string> missing;
    if (!options_.baselines) return missing;
    std::vector<std::string> found;
    for (const Baseline* baseline : baselines_of(work))
        found.push_back(baseline->name);
    for (const Baseline& baseline : baselines()) {
        if (baseline.algorithm != work.algorithm || baseline.backend != harness_.device().info().backend ||
            std::find(found.begin(), found.end(), baseline.name) != found.end())
            continue;
        found.push_back(baseline.name);
        missing.push_back(baseline.name + ": " + baseline.supports(harness_.device(), work).text());
    }
    return missing;
}

BenchRow BenchPlan::row_of(const Suite& suite, const Work& work, std::string variant) const {
    BenchRow row;
    row.algorithm = suite.name;
    row.function = work.title;
    row.variant = std::move(variant);
    row.device = harness_.selector();
    row.type = work.type();
    row.n = work.n;
    row.bytes = work.traffic;
    row.operations = work.operations;
    row.has_ceiling = work.has_ceiling;
    return row;
}

BenchRow BenchPlan::row_of(const Suite& suite, const Work& work, const Baseline& baseline) const {
    BenchRow row = row_of(suite, work, baseline.name);
    row.baseline = true;
    row.library = baseline.library;
    if (baseline.call) row.call = baseline.call(work);
    row.host_clock = baseline.blocking;
    return row;
}

BenchLayout BenchPlan::layout() const {
    BenchLayout layout;
    for (const Suite* suite : suites()) {
        for_each_work(*suite, [&](const Work& work) {
            auto add = [&](const auto& variant) {
                layout.add(row_of(*suite, work, variant), options_.size_names);
            };
            add("");
            for (const Variant* variant : suite->variants) {
                if (wants_auto() || asked_for(options_.variants, variant->name))
                    add(std::string(variant->name));
            }
            for (const Baseline* baseline : baselines_of(work))
                add(*baseline);
            return true;
        });
    }
    return layout;
}

namespace {

// Measures the rate that the row names once more.
void take_slowest(BenchRow& row, const Work& work, Ceilings& ceilings) {
    std::string slowest;
    double slowest_ms = 0;
    auto known = [&](const char* name) {
        return row.ceiling == name ? Ceilings::IfKnown::remeasure : Ceilings::IfKnown::use;
    };
    auto take = [&](const char* name, u64 amount, double rate) {
        const double ms = static_cast<double>(amount) / rate * 1e3;
        if (ms > slowest_ms) slowest = name, slowest_ms = ms;
    };
    u64 written = 0;
    for (const Output& output : work.outputs)
        written += output.bytes();
    if (work.traffic > 0 && work.has_ceiling) {
        if (written * 16 <= work.traffic)
            take("read", work.traffic, ceilings.read(work.traffic, known("read")));
        else
            take("copy", work.traffic, ceilings.copy(work.traffic, known("copy")));
    }
    if (work.operations > 0) {
        const char* name = "fma";
        std::optional<double> rate = ceilings.fma(work.type(), known("fma"));
        if (work.product && work.type() == Type::f64) {
            const std::optional<double> units = ceilings.mma(known("mma"));
            if (units && units > rate) name = "mma", rate = units;
        }
        if (rate) take(name, work.operations, *rate);
    }
    row.ceiling = std::move(slowest);
    row.ceiling_ms = slowest_ms;
}

}  // namespace

void set_bottleneck(BenchRow& row, const Work& work, Ceilings& ceilings) {
    try {
        take_slowest(row, work, ceilings);
        // A disturbed measurement of the rate is the likeliest reason. Measures it once more, next to the call.
        if (row.timing && row.ceiling_ms > max_of_ceiling * row.timing->median)
            take_slowest(row, work, ceilings);
    } catch (const Error& error) {
        if (error.code() == ErrorCode::device_failed) throw;
        detail::log_warn(std::string("bench: no ceiling measured: ") + error.what());
    }
}

}  // namespace concord::lab
