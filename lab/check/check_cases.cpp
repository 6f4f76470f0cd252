#include "check_cases.hpp"

#include <algorithm>

namespace concord::lab {
namespace {

// Largest size of the slow variants on devices that emulate barriers.
constexpr u64 max_slow_elements = u64{1} << 22;

// The first variant that exists in the device's dialect. Variants are in order of preference.
const Variant* preferred_of(const Suite& suite, const Device& device) {
    for (const Variant* variant : suite.variants) {
        if (detail::supports_dialect(device, *variant)) return variant;
    }
    return nullptr;
}

}  // namespace

CheckCases::CheckCases(const std::vector<Suite>& suites, const CheckOptions& options,
                       std::vector<Harness>& harnesses)
    : options_(options) {
    DeviceGroup running{{}, options.full ? Plan::Extent::full : Plan::Extent::normal},
        compiling{{}, Plan::Extent::compile};
    for (Harness& harness : harnesses)
        (harness.runs() ? running : compiling).devices.push_back({&harness});
    for (DeviceGroup* group : {&running, &compiling})
        if (!group->devices.empty()) groups_.push_back(std::move(*group));
    const std::vector<Type> all(all_types.begin(), all_types.end());
    for (DeviceGroup& group : groups_) {
        for (const Suite& suite : suites) {
            if (!asked_for(options.algorithms, suite.name) || !suite.cases) continue;
            for (const Type type : options.types.empty() ? all : options.types)
                if (!is_storage(type) || suite.supports_storage) units_.push_back({&group, &suite, type});
        }
    }
}

void CheckCases::each_work(const CaseUnit& unit, const CaseSink& emit) const {
    Plan plan(unit.group->extent, options_.seed, options_.sizes);
    plan.restrict_to(options_.patterns);
    unit.suite->cases(plan, unit.type, emit);
}

bool CheckCases::is_asked_for(const Placement& placement) const {
    const auto& only = options_.placements;
    return only.empty() || std::find(only.begin(), only.end(), placement) != only.end();
}

// On a device that emulates barriers, all variants except the preferred one are slow.
CaseAction CheckCases::action_of(const Suite& suite, const Harness& harness, const Variant* variant,
                                 const Variant* preferred, const Work& work, bool first_placement) const {
    if (!harness.emulates_barriers() || !suite.skips_slow_variants || variant == preferred ||
        !options_.sizes.empty())
        return CaseAction::run;
    if (work.minor && !options_.full) return CaseAction::leave_out;
    if (work.n > max_slow_elements) return options_.full ? CaseAction::skip : CaseAction::leave_out;
    // Textbook kernels run a few large sizes only.
    const Pattern pattern = work.pattern();
    const bool plain = pattern == Pattern::random || pattern == Pattern::near_one;
    return work.n > 65537 && !(plain && first_placement) ? CaseAction::leave_out : CaseAction::run;
}

void CheckCases::visit(const CaseUnit& unit, const Work& work, std::span<const Placement> placements,
                       CaseVisitor& visitor) const {
    visitor.begin(work);
    for (std::size_t i = 0; i < placements.size(); ++i) {
        Placement placement = placements[i];
        placement.in_place = placement.in_place && work.in_place;
        if (!is_asked_for(placement)) continue;
        for (DeviceRun& device : unit.group->devices) {
            const Harness& harness = *device.harness;
            CheckCase at{work.algorithm, nullptr, harness.selector(), &work, placement};
            const Variant* const preferred =
                work.variant != nullptr ? work.variant : preferred_of(*unit.suite, harness.device());
            const std::span<const Variant* const> variants =
                work.variant != nullptr ? std::span(&work.variant, 1) : std::span(unit.suite->variants);
            for (const Variant* variant : variants) {
                if (!asked_for(options_.variants, variant->name)) continue;
                const CaseAction action = action_of(*unit.suite, harness, variant, preferred, work, i == 0);
                if (action == CaseAction::leave_out) continue;
                at.variant = variant;
                visitor.visit(device, at, action);
            }
            if (at.variant != nullptr) visitor.end(device, at);
        }
    }
}

double weight_of(const Harness& harness, const CheckCase& at, CaseAction action) {
    constexpr double small = 1 << 16;
    return action == CaseAction::run && detail::supports_dialect(harness.device(), *at.variant)
               ? small + static_cast<double>(at.work->bytes())
               : 0;
}

std::string title_of(const CheckCase& at) {
    return at.algorithm + "/" + std::string(at.variant->name) + " " + at.work->title + " " +
           std::string(name_of(at.work->type())) + " on " + at.device;
}

}  // namespace concord::lab
