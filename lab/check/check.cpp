#include <concord/lab/check.hpp>

#include "check_reporter.hpp"

namespace concord::lab {

void CheckReporter::visit(DeviceRun& device, const CheckCase& at, CaseAction action) {
    if (run_.options.stop && run_.options.stop()) throw CheckStopped{};
    if (run_.progress.visible()) run_.progress.show(title_of(at));
    CaseRunner::visit(device, at, action);
    run_.progress.end(weight_of(*device.harness, at, action));
}

void CheckReporter::finish(const CheckCase& at, const Outcome& outcome) {
    if (outcome.is_failure()) run_.progress.clear();
    record(run_.report, at, outcome);
}

void run_here(const CheckRun& run) {
    CheckReporter reporter(run);
    for (const CaseUnit& unit : run.cases.units())
        run.cases.each_work(unit, [&](const Work& work, const std::vector<Placement>& placements) {
            run.cases.visit(unit, work, placements, reporter);
        });
}

CheckReport check_with(const std::vector<Suite>& suites, const CheckOptions& options, std::ostream* live,
                       const std::function<void(const CheckRun&)>& run) {
    check_sizes("check", options.sizes, options.size_names);
    std::vector<Harness> harnesses = open_harnesses(options.devices);
    std::vector<std::string> devices;
    devices.reserve(harnesses.size());
    for (const Harness& harness : harnesses)
        devices.push_back(harness.selector());
    CheckReport report(options, suites, devices, live);
    for (const Suite& suite : suites) {
        if (asked_for(options.algorithms, suite.name) && !suite.cases) report.no_cases(suite.name);
    }
    const CheckCases cases(suites, options, harnesses);
    CheckProgress progress;
    try {
        run({options, cases, harnesses, report, progress});
    } catch (const CheckStopped&) {
        progress.clear();
        report.note_interrupted(progress.done(), progress.planned());
        return report;
    }
    for (const Suite& suite : suites) {
        for (const Harness& harness : harnesses)
            report.require_cases(suite, harness.device());
    }
    return report;
}

CheckReport check(const std::vector<Suite>& suites, const CheckOptions& options, std::ostream* live) {
    return check_with(suites, options, live, [](const CheckRun& run) {
        if (run.progress.visible() || run.options.stop) {
            const CheckPlan plan = plan_of(run.cases, run.options.stop);
            run.progress.start(plan.cases, plan.weight);
        }
        run_here(run);
    });
}

}  // namespace concord::lab
