#include <concord/lab/check.hpp>

#include <concord/lab/internal/status_line.hpp>

#include <concord/lab/harness.hpp>

#include <concord/lab/table.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

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

// Thrown when the check is to stop.
struct Stopped {};

// Devices that run the same cases.
struct Group {
    std::vector<Harness*> harnesses;
    Plan::Extent extent = Plan::Extent::normal;
};

// Cases done, their total and the time left, on a terminal.
class Progress {
  public:
    bool visible() const { return line_.visible(); }
    // Adds a case to the total. `weight`: its share of the time.
    void plan(double weight) {
        ++planned_;
        weight_ += weight;
    }
    // Starts the clock. Call it after the last plan().
    void start() { start_ = Clock::now(); }
    // Begins a case, and ends the one before.
    void begin(double weight) {
        done_weight_ += std::exchange(current_weight_, weight);
        ++begun_;
    }
    // Shows a line, but not more than ten a second. `what`: the case that has begun.
    void show(const std::string& what) {
        constexpr auto step = std::chrono::milliseconds(100);
        const auto now = Clock::now();
        if (now - drawn_ < step) return;
        drawn_ = now;
        const double seconds = std::chrono::duration<double>(now - start_).count();
        std::string text = std::to_string(done()) + " of " + std::to_string(planned_) + " cases";
        // An estimate from less is far off, because the first cases compile the kernels.
        constexpr double least_seconds = 1, least_share = 0.002;
        if (seconds >= least_seconds && done_weight_ > least_share * weight_)
            text += ", " + duration_name(seconds * std::max(0.0, weight_ - done_weight_) / done_weight_) +
                    " left";
        line_.show(text + ": " + what);
    }
    // Erases the line.
    void clear() {
        line_.clear();
        drawn_ = {};
    }
    // Cases that have ended, and all.
    u64 done() const { return begun_ - (begun_ > 0 ? 1 : 0); }
    u64 planned() const { return planned_; }

  private:
    using Clock = std::chrono::steady_clock;
    StatusLine line_;
    u64 begun_ = 0, planned_ = 0;
    double weight_ = 0, done_weight_ = 0, current_weight_ = 0;
    Clock::time_point start_ = Clock::now(), drawn_ = {};
};

class Runner {
  public:
    Runner(const std::vector<Suite>& suites, const CheckOptions& options, CheckReport& report)
        : suites_(suites), options_(options), report_(report) {}

    void run(const std::vector<Group>& groups) {
        for (const Suite& suite : suites_) {
            if (asked_for(options_.algorithms, suite.name) && !suite.cases) report_.no_cases(suite.name);
        }
        try {
            if (progress_.visible() || options_.stop) {
                for (const Group& group : groups)
                    each_work(group,
                              [&](const Work& work, const auto& placements) { plan(work, placements); });
            }
            progress_.start();
            for (const Group& group : groups)
                each_work(group, [&](const Work& work, const auto& placements) { emit(work, placements); });
        } catch (const Stopped&) {
            progress_.clear();
            report_.note_interrupted(progress_.done(), progress_.planned());
        }
    }

  private:
    struct Station {
        Harness* harness;
        u64 failures_in_a_row = 0;  // device failures, not wrong results
        bool hopeless() const { return failures_in_a_row >= 3; }
    };

    void each_work(const Group& group, const CaseSink& sink) {
        stations_.clear();
        for (Harness* harness : group.harnesses)
            stations_.push_back({harness});
        Plan plan(group.extent, options_.seed, options_.sizes);
        plan.restrict_to(options_.patterns);
        const std::vector<Type> all(all_types.begin(), all_types.end());
        for (const Suite& suite : suites_) {
            if (!asked_for(options_.algorithms, suite.name) || !suite.cases) continue;
            suite_ = &suite;
            for (const Type type : options_.types.empty() ? all : options_.types)
                if (!is_storage(type) || suite.supports_storage) suite.cases(plan, type, sink);
        }
    }

    void throw_if_stopped() const {
        if (options_.stop && options_.stop()) throw Stopped{};
    }

    static Placement placed(const Work& work, Placement placement) {
        placement.in_place = placement.in_place && work.in_place;
        return placement;
    }
    bool is_asked_for(const Placement& placement) const {
        const auto& only = options_.placements;
        return only.empty() || std::find(only.begin(), only.end(), placement) != only.end();
    }

    // What to do with a case on a device that emulates barriers, where all variants except the preferred one are slow.
    enum class Fate { run, skip, leave_out };
    Fate fate_of(const Harness& harness, const Variant* variant, const Variant* preferred, const Work& work,
                 bool first_placement) const {
        if (!harness.emulates_barriers() || !suite_->skips_slow_variants || variant == preferred ||
            !options_.sizes.empty())
            return Fate::run;
        if (work.minor && !options_.full) return Fate::leave_out;
        if (work.n > slow_most) return options_.full ? Fate::skip : Fate::leave_out;
        // Textbook kernels run a few large sizes only.
        const Pattern pattern = work.pattern();
        const bool plain = pattern == Pattern::random || pattern == Pattern::near_one;
        return work.n > 65537 && !(plain && first_placement) ? Fate::leave_out : Fate::run;
    }

    // A case's share of the time: its bytes, and those that take as long as launch and comparison of a small case.
    static double weight_of(const Harness& harness, const Variant& variant, const Work& work) {
        constexpr double small = 1 << 16;
        return detail::supports_dialect(harness.device(), variant) ? small + static_cast<double>(work.bytes())
                                                                   : 0;
    }

    void plan(const Work& work, const std::vector<Placement>& placements) {
        throw_if_stopped();
        for (std::size_t i = 0; i < placements.size(); ++i) {
            if (!is_asked_for(placed(work, placements[i]))) continue;
            for (const Station& station : stations_) {
                const Harness& harness = *station.harness;
                const Variant* preferred = preferred_of(*suite_, harness.device());
                for (const Variant* variant : suite_->variants) {
                    if (!asked_for(options_.variants, variant->name)) continue;
                    const Fate fate = fate_of(harness, variant, preferred, work, i == 0);
                    if (fate != Fate::leave_out)
                        progress_.plan(fate == Fate::run ? weight_of(harness, *variant, work) : 0);
                }
            }
        }
    }

    // Output of a variant with a variant-specific order on the first device that ran it.
    struct First {
        u64 fingerprint;
        std::string device;
        Placement placement;
    };

    void emit(const Work& work, const std::vector<Placement>& placements) {
        std::map<std::string_view, First> firsts;
        for (std::size_t i = 0; i < placements.size(); ++i) {
            const Placement placement = placed(work, placements[i]);
            if (!is_asked_for(placement)) continue;
            for (Station& station : stations_)
                run_on(station, work, placement, i == 0, firsts);
        }
    }

    void run_on(Station& station, const Work& work, const Placement& placement, bool first_placement,
                std::map<std::string_view, First>& firsts) {
        Harness& harness = *station.harness;
        CheckCase at{work.algorithm, nullptr, harness.selector(), &work, placement};
        bool loaded = false;
        const Variant* unwatched = nullptr;  // the last variant that ran since the inputs were verified
        const Variant* preferred = preferred_of(*suite_, harness.device());
        for (const Variant* variant : suite_->variants) {
            if (!asked_for(options_.variants, variant->name)) continue;
            at.variant = variant;
            const Fate fate = fate_of(harness, variant, preferred, work, first_placement);
            if (fate == Fate::leave_out) continue;
            throw_if_stopped();
            progress_.begin(fate == Fate::run ? weight_of(harness, *variant, work) : 0);
            if (progress_.visible())
                progress_.show(work.algorithm + "/" + std::string(variant->name) + " " + work.title + " " +
                               std::string(name_of(work.type())) + " on " + harness.selector());
            if (fate == Fate::skip) {
                report_.skip(at, "more than 2^22 elements are too slow on a device that emulates barriers");
                continue;
            }
            if (station.hopeless()) {
                report_.skip(at, "the device failed three times in a row");
                continue;
            }
            try {
                if (!loaded) {
                    if (const std::string why = harness.no_room_for(work); !why.empty()) {
                        report_.skip(at, "not enough memory", why);
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
                firsts.try_emplace(at.variant->name, First{harness.fingerprint(), at.device, at.placement});
            if (!is_first && it->second.fingerprint != harness.fingerprint()) {
                progress_.clear();
                return report_.disagree(at, it->second.device, difference(harness, at, it->second));
            }
        }
        if (verdict.no_bound)
            return report_.skip(at, "no error bound available (overflow, underflow or a long chain)");
        if (!harness.runs()) return report_.compile(at);
        report_.pass(at, verdict);
    }

    // The first element that differs from the result of the first device, which runs the work again. Empty if that
    // result does not repeat.
    static std::optional<Difference> difference(Harness& harness, const CheckCase& at, const First& first) {
        try {
            Harness again(first.device);
            again.load(*at.work, first.placement);
            static_cast<void>(again.run(*at.variant));
            return again.fingerprint() == first.fingerprint ? harness.difference_from(again) : std::nullopt;
        } catch (const Error&) {
            return std::nullopt;  // not enough memory for both, for example
        }
    }

    const std::vector<Suite>& suites_;
    const CheckOptions& options_;
    CheckReport& report_;
    Progress progress_;
    std::vector<Station> stations_;
    const Suite* suite_ = nullptr;
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
    std::vector<Group> groups;
    if (!running.empty())
        groups.push_back({running, options.full ? Plan::Extent::full : Plan::Extent::normal});
    if (!compiling.empty()) groups.push_back({compiling, Plan::Extent::compile});
    runner.run(groups);
    if (report.interrupted()) return report;
    for (const Suite& suite : suites) {
        for (const Harness& harness : harnesses)
            report.require_cases(suite, harness.device());
    }
    return report;
}

}  // namespace concord::lab
