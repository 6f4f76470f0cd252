#pragma once
// Runs the cases of a check in this process.

#include "check_cases.hpp"
#include "check_outcome.hpp"

#include <map>

namespace concord::lab {

// Runs the cases that it visits. What becomes of the outcomes is up to the derived class.
class CaseRunner : public CaseVisitor {
  public:
    void begin(const Work& work) override;
    void visit(DeviceRun& device, const CheckCase& at, CaseAction action) override;
    void end(DeviceRun& device, const CheckCase& at) override;

  protected:
    // The outcome of a case.
    virtual void finish(const CheckCase& at, const Outcome& outcome) = 0;
    // The outcome of verifying the inputs after the last variant, which counts as `at`.
    virtual void finish_inputs(const CheckCase& at, const Outcome& outcome) = 0;
    // Called before the work takes memory.
    virtual void load(const Work&) {}

    // What later cases need of an outcome, from this process or another one.
    void note(DeviceRun& device, const CheckCase& at, const Outcome& outcome);
    static Outcome skipped_on_disabled_device();
    // Ends the device's cases with this placement. Returns the last case if its inputs must be verified.
    std::optional<CheckCase> end_placement(const DeviceRun& device, const CheckCase& at);

  private:
    // Output of a variant with a variant-specific order on the first device that ran it.
    struct First {
        u64 fingerprint;
        std::string device;
        Placement placement;
    };
    Outcome run(Harness& harness, const CheckCase& at);
    Outcome verified(Harness& harness, const CheckCase& at, Verdict verdict);
    static std::optional<Difference> difference(Harness& harness, const CheckCase& at, const First& first);

    std::map<std::string_view, First> firsts_;  // of this work, by variant
    bool is_loaded_ = false;                    // the work, on the device, with the placement
    const Variant* unwatched_ = nullptr;  // the last variant that ran, if the inputs are not verified yet
};

}  // namespace concord::lab
