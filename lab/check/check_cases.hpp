#pragma once
// The cases of a check in their order, which every process that takes part in the check computes alike.

#include <concord/lab/check.hpp>
#include <concord/lab/harness.hpp>

#include <span>

namespace concord::lab {

// A device during a check.
struct DeviceRun {
    Harness* harness = nullptr;
    u64 failures_in_a_row = 0;  // failures of the device, not wrong results
    // Whether its remaining cases are skipped.
    bool disabled() const { return failures_in_a_row >= 3; }
};

// Devices that run the same cases.
struct DeviceGroup {
    std::vector<DeviceRun> devices;
    Plan::Extent extent = Plan::Extent::normal;
};

// The works of a suite for one group of devices and one type of the first input.
struct CaseUnit {
    DeviceGroup* group = nullptr;
    const Suite* suite = nullptr;
    Type type = Type::u8;
};

// What to do with a case. `leave_out`: it is not part of the check.
enum class CaseAction { run, skip, leave_out };

// Receives cases in their order.
class CaseVisitor {
  public:
    CaseVisitor() = default;
    virtual ~CaseVisitor() = default;
    CaseVisitor(const CaseVisitor&) = delete;
    CaseVisitor& operator=(const CaseVisitor&) = delete;

    // The next cases belong to this work.
    virtual void begin(const Work& work) = 0;
    // A case that is not left out.
    virtual void visit(DeviceRun& device, const CheckCase& at, CaseAction action) = 0;
    // `at` was the last variant on this device with this placement.
    virtual void end(DeviceRun& device, const CheckCase& at) = 0;
};

// Enumerates the cases that the options ask for.
class CheckCases {
  public:
    CheckCases(const std::vector<Suite>& suites, const CheckOptions& options,
               std::vector<Harness>& harnesses);
    CheckCases(const CheckCases&) = delete;
    CheckCases& operator=(const CheckCases&) = delete;

    std::span<const CaseUnit> units() const { return units_; }
    // Emits the works of a unit.
    void each_work(const CaseUnit& unit, const CaseSink& emit) const;
    // Visits the cases of a work that each_work() has emitted.
    void visit(const CaseUnit& unit, const Work& work, std::span<const Placement> placements,
               CaseVisitor& visitor) const;

  private:
    CaseAction action_of(const Suite& suite, const Harness& harness, const Variant* variant,
                         const Variant* preferred, const Work& work, bool first_placement) const;
    bool is_asked_for(const Placement& placement) const;

    const CheckOptions& options_;
    std::vector<DeviceGroup> groups_;
    std::vector<CaseUnit> units_;
};

// A case's share of the time: its bytes, and those that take as long as launch and comparison of a small case.
double weight_of(const Harness& harness, const CheckCase& at, CaseAction action);

// "reduce/fixed sum f32 on opencl:0", for the progress line.
std::string title_of(const CheckCase& at);

}  // namespace concord::lab
