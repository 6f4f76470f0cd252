#include "check_plan.hpp"

#include <set>
#include <tuple>

namespace concord::lab {
namespace {

// What compiling a kernel may take, in the bytes of weight_of().
constexpr double compile_cost = 1 << 26;
// The least cost of a piece that a unit is split into.
constexpr double min_piece_cost = 1 << 28;

class Planner final : public CaseVisitor {
  public:
    explicit Planner(const std::function<bool()>& stop) : stop_(stop) {}
    CheckPlan take() { return std::move(plan_); }

    void begin_unit(std::size_t unit) {
        unit_ = unit;
        title_.clear();
        compiled_.clear();
    }
    void begin(const Work& work) override {
        if (stop_ && stop_()) throw CheckStopped{};
        plan_.works.push_back({.unit = unit_, .continues_kernels = work.title == title_});
        title_ = work.title;
    }
    void visit(DeviceRun& device, const CheckCase& at, CaseAction action) override {
        PlannedWork& work = plan_.works.back();
        const double weight = weight_of(*device.harness, at, action);
        double cost = weight;
        if (weight > 0 && device.harness->device().traits().launch != LaunchModel::host &&
            compiled_.emplace(at.variant, at.device, at.work->title).second)
            cost += compile_cost;
        ++work.cases;
        ++work.outcomes;
        work.weight += weight;
        work.cost += cost;
        ++plan_.cases;
        plan_.weight += weight;
        plan_.cost += cost;
    }
    void end(DeviceRun&, const CheckCase&) override { ++plan_.works.back().outcomes; }

  private:
    const std::function<bool()>& stop_;
    CheckPlan plan_;
    std::size_t unit_ = 0;
    std::string title_;
    std::set<std::tuple<const Variant*, std::string, std::string>> compiled_;  // in this unit
};

}  // namespace

CheckPlan plan_of(const CheckCases& cases, const std::function<bool()>& stop) {
    Planner planner(stop);
    for (std::size_t i = 0; i < cases.units().size(); ++i) {
        const CaseUnit& unit = cases.units()[i];
        planner.begin_unit(i);
        cases.each_work(unit, [&](const Work& work, const std::vector<Placement>& placements) {
            cases.visit(unit, work, placements, planner);
        });
    }
    return planner.take();
}

std::vector<CasePiece> pieces_of(const CheckPlan& plan, u32 processes) {
    // Several pieces a process, so that all end at about the same time.
    const double target = std::max(min_piece_cost, plan.cost / processes / 8);
    std::vector<CasePiece> pieces;
    double cost = 0;
    u64 in_unit = 0;  // works of the unit so far
    for (std::size_t i = 0; i < plan.works.size(); ++i) {
        const PlannedWork& work = plan.works[i];
        const bool is_other_unit = i == 0 || work.unit != plan.works[i - 1].unit;
        if (is_other_unit) in_unit = 0;
        if (is_other_unit || (cost >= target && !work.continues_kernels)) {
            pieces.push_back({.unit = work.unit, .first_work = in_unit});
            cost = 0;
        }
        CasePiece& piece = pieces.back();
        ++piece.works;
        piece.cases += work.cases;
        piece.outcomes += work.outcomes;
        piece.weight += work.weight;
        cost += work.cost;
        ++in_unit;
    }
    return pieces;
}

}  // namespace concord::lab
