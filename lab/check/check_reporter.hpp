#pragma once
// A check in the process that reports.

#include "check_plan.hpp"
#include "check_progress.hpp"
#include "check_run.hpp"

namespace concord::lab {

// What a check works with.
struct CheckRun {
    const CheckOptions& options;
    const CheckCases& cases;
    std::span<const Harness> harnesses;
    CheckReport& report;
    CheckProgress& progress;
};

// Runs the cases and records their outcomes in the report.
class CheckReporter : public CaseRunner {
  public:
    explicit CheckReporter(const CheckRun& run) : run_(run) {}

    // Throws CheckStopped.
    void visit(DeviceRun& device, const CheckCase& at, CaseAction action) override;

  protected:
    void finish(const CheckCase& at, const Outcome& outcome) override;
    void finish_inputs(const CheckCase& at, const Outcome& outcome) override { finish(at, outcome); }

  private:
    const CheckRun& run_;
};

// Opens the devices, lets `run` record the outcomes of all cases, and completes the report. `run` may throw
// CheckStopped. Throws like check().
CheckReport check_with(const std::vector<Suite>& suites, const CheckOptions& options, std::ostream* live,
                       const std::function<void(const CheckRun&)>& run);

// Runs all cases in this process.
void run_here(const CheckRun& run);

}  // namespace concord::lab
