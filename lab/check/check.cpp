#include <concord/lab/check.hpp>

#include <concord/lab/internal/status_line.hpp>

#include <concord/lab/harness.hpp>

#include <concord/lab/table.hpp>

#include <algorithm>

namespace concord::lab {
namespace {

// The first variant that exists in the device's dialect. Variants are in order of preference.
const Variant* preferred_of(const Suite& suite, const Device& device) {
    for (const Variant* variant : suite.variants) {
        if (detail::supports_dialect(device, *variant)) return variant;
    }
    return nullptr;
}

// REASON in "reduce: variant 'shuffle' on opencl:0: REASON; available: fixed, ...".
std::string reason_of(const Error& error) {
    std::string text = error.what();
    if (const std::size_t end = text.find("; available: "); end != std::string::npos) text.resize(end);
    const std::string call = error.call() + ": ";
    if (text.rfind(call, 0) == 0) text.erase(0, call.size());
    if (text.rfind("variant ", 0) == 0) {
        if (const std::size_t colon = text.find(": "); colon != std::string::npos) text.erase(0, colon + 2);
    }
    return text;
}

// Largest size of the slow variants on devices that emulate barriers.
constexpr u64 slow_most = u64{1} << 22;

class Runner {
  public:
    Runner(const std::vector<Suite>& suites, const CheckOptions& options, CheckReport& report)
        : suites_(suites), options_(options), report_(report) {}

    void run(const std::vector<Harness*>& harnesses, Plan::Extent extent) {
        harnesses_.clear();
        for (Harness* harness : harnesses)
            harnesses_.push_back({harness});
        Plan plan(extent, options_.seed, options_.sizes);
        plan.restrict_to(options_.patterns);
        const std::vector<Type> all(all_types.begin(), all_types.end());
        for (const Suite& suite : suites_) {
            if (!asked_for(options_.algorithms, suite.name)) continue;
            if (!suite.cases) {
                report_.no_cases(suite.name);
                continue;
            }
            suite_ = &suite;
            for (const Type type : options_.types.empty() ? all : options_.types)
                suite.cases(plan, type,
                            [&](const Work& work, const auto& placements) { emit(work, placements); });
        }
    }

  private:
    struct Station {
        Harness* harness;
        u64 failures_in_a_row = 0;  // device failures, not wrong results
        bool hopeless() const { return failures_in_a_row >= 3; }
    };
    // Output of a variant with a variant-specific order on the first device that ran it.
    struct First {
        u64 fingerprint;
        std::string device;
    };

    void emit(const Work& work, const std::vector<Placement>& placements) {
        std::map<std::string_view, First> firsts;
        for (std::size_t i = 0; i < placements.size(); ++i) {
            Placement placement = placements[i];
            placement.in_place = placement.in_place && work.in_place;
            const auto& only = options_.placements;
            if (!only.empty() && std::find(only.begin(), only.end(), placement) == only.end()) continue;
            for (Station& station : harnesses_)
                run_on(station, work, placement, i == 0, firsts);
        }
    }

    void run_on(Station& station, const Work& work, const Placement& placement, bool first_placement,
                std::map<std::string_view, First>& firsts) {
        Harness& harness = *station.harness;
        if (++shown_ % 16 == 0 && progress_.visible())
            progress_.show(std::to_string(shown_) + " cases, " + work.algorithm + " " + work.title + " " +
                           std::string(name_of(work.type())));
        CheckCase at{work.algorithm, nullptr, harness.selector(), &work, placement};
        bool loaded = false;
        const Variant* unwatched = nullptr;  // the last variant that ran since the inputs were verified
        const Variant* preferred = preferred_of(*suite_, harness.device());
        for (const Variant* variant : suite_->variants) {
            if (!asked_for(options_.variants, variant->name)) continue;
            at.variant = variant;
            if (harness.emulates_barriers() && suite_->skips_slow_variants && variant != preferred &&
                options_.sizes.empty()) {
                if (work.minor && !options_.full) continue;
                // Textbook kernels run a few large sizes only.
                const Pattern pattern = work.pattern();
                const bool plain = pattern == Pattern::random || pattern == Pattern::near_one;
                if (work.n > slow_most) {
                    if (options_.full)
                        report_.skip(
                            at, "more than 2^22 elements are too slow on a device that emulates barriers");
                    continue;
                }
                if (work.n > 65537 && !(plain && first_placement)) continue;
            }
            if (station.hopeless()) {
                report_.skip(at, "the device failed three times in a row");
                continue;
            }
            try {
                if (!loaded) {
                    if (const std::string why = harness.no_room_for(work); !why.empty()) {
                        report_.skip(at, "not enough memory: " + why);
                        continue;
                    }
                    harness.load(work, placement);
                    loaded = true;
                }
                Verdict verdict = harness.run(*variant);
                if (large(work)) {
                    unwatched = variant;
                } else {
                    verdict.merge(harness.verify_inputs());
                }
                verify(harness, at, verdict, firsts);
                station.failures_in_a_row = 0;
            } catch (const Error& error) {
                if (error.code() == ErrorCode::unsupported) {
                    report_.not_applicable(at, reason_of(error));
                    continue;
                }
                progress_.clear();
                const bool device = error.code() == ErrorCode::device_failed;
                const bool is_device = device || error.code() == ErrorCode::out_of_memory;
                report_.fail(at, error.what(), is_device ? FailureCause::device : FailureCause::other);
                station.failures_in_a_row += device;
            } catch (const std::exception& error) {  // thrown by a reference, for example
                progress_.clear();
                const bool is_memory = dynamic_cast<const std::bad_alloc*>(&error) != nullptr;
                report_.fail(at, detail::words_of(error),
                             is_memory ? FailureCause::device : FailureCause::other);
            }
        }
        if (unwatched != nullptr && !station.hopeless()) verify_inputs(harness, at, *unwatched);
    }

    // Large inputs are verified once, after the last variant. A failure is reported for that variant.
    static bool large(const Work& work) { return work.bytes() > u64{1} << 28; }
    void verify_inputs(Harness& harness, CheckCase& at, const Variant& last) {
        at.variant = &last;
        try {
            if (const Verdict verdict = harness.verify_inputs(); verdict.difference) {
                progress_.clear();
                report_.fail(at, *verdict.difference);
            }
        } catch (const Error& error) {
            progress_.clear();
            report_.fail(at, error.what(), FailureCause::device);
        }
    }

    void verify(Harness& harness, const CheckCase& at, const Verdict& verdict,
                std::map<std::string_view, First>& firsts) {
        if (verdict.difference) {
            progress_.clear();
            return report_.fail(at, *verdict.difference);
        }
        if (harness.runs() && (at.variant->order == OperationOrder::variant_specific ||
                               (at.variant->order == OperationOrder::canonical && !verdict.bits))) {
            const auto [it, is_first] =
                firsts.try_emplace(at.variant->name, First{harness.fingerprint(), at.device});
            if (!is_first && it->second.fingerprint != harness.fingerprint()) {
                progress_.clear();
                return report_.disagree(at, it->second.device);
            }
        }
        if (verdict.no_bound)
            return report_.skip(at, "no error bound available (overflow, underflow or a long chain)");
        report_.pass(at, verdict, harness.runs());
    }

    const std::vector<Suite>& suites_;
    const CheckOptions& options_;
    CheckReport& report_;
    StatusLine progress_;
    std::vector<Station> harnesses_;
    const Suite* suite_ = nullptr;
    u64 shown_ = 0;
};

}  // namespace

CheckReport check(const std::vector<Suite>& suites, const CheckOptions& options, std::ostream* live) {
    check_sizes("check", options.sizes, options.size_names);
    std::vector<Harness> harnesses = open_harnesses(options.devices);
    std::vector<std::string> devices;
    devices.reserve(harnesses.size());
    for (const Harness& harness : harnesses)
        devices.push_back(harness.selector());
    CheckReport report(options, suites, devices, live);
    Runner runner(suites, options, report);
    std::vector<Harness*> running, compiling;
    for (Harness& harness : harnesses)
        (harness.runs() ? running : compiling).push_back(&harness);
    if (!running.empty()) runner.run(running, options.full ? Plan::Extent::full : Plan::Extent::normal);
    if (!compiling.empty()) runner.run(compiling, Plan::Extent::compile);
    for (const Suite& suite : suites) {
        for (const Harness& harness : harnesses)
            report.require_cases(suite, harness.device());
    }
    return report;
}

}  // namespace concord::lab
