#include "check.hpp"
#include "program.hpp"
#include "table.hpp"
#include "work_rig.hpp"

#include <unistd.h>

#include <cstdio>

namespace concord::app {
namespace {

// A line on a terminal's stderr that says what is going on.
class Progress {
  public:
    ~Progress() { clear(); }
    void show(const Work& work, u64 cases) {
        if (!terminal_ || ++calls_ % 16 != 0) return;
        std::fprintf(stderr, "\r\033[K%llu cases, %s %s %s", static_cast<unsigned long long>(cases),
                     work.algorithm.c_str(), work.title.c_str(),
                     std::string(name_of(work.inputs[0].type)).c_str());
        std::fflush(stderr);
    }
    void clear() {
        if (terminal_) std::fputs("\r\033[K", stderr);
    }

  private:
    bool terminal_ = isatty(STDERR_FILENO) != 0;
    u64 calls_ = 0;
};

// The middle of "reduce: variant shuffle on opencl:0: THE REASON; these would do: fixed, ...".
std::string reason_of(const Error& error) {
    std::string text = error.what();
    if (const std::size_t end = text.find("; these would do:"); end != std::string::npos) text.resize(end);
    const std::string call = error.call() + ": ";
    if (text.rfind(call, 0) == 0) text.erase(0, call.size());
    if (text.rfind("variant ", 0) == 0) {
        if (const std::size_t colon = text.find(": "); colon != std::string::npos) text.erase(0, colon + 2);
    }
    return text;
}

constexpr u64 crawling_most = u64{1} << 22;

class Runner {
  public:
    Runner(const CheckOptions& options, CheckReport& report) : options_(options), report_(report) {}

    void run(const std::vector<Rig*>& rigs, Plan::Extent extent) {
        rigs_.clear();
        for (Rig* rig : rigs)
            rigs_.push_back({rig});
        const Plan plan(extent, options_.seed, options_.sizes);
        for (const Algorithm& algorithm : algorithms()) {
            if (!asked_for(options_.algorithms, algorithm.name)) continue;
            const Suite* suite = suite_of(algorithm.name);
            if (suite == nullptr) {
                report_.no_cases(std::string(algorithm.name));
                continue;
            }
            variants_ = &algorithm.variants;
            for (const Type type : options_.types)
                suite->cases(plan, type,
                             [&](const Work& work, const auto& placements) { take(work, placements); });
        }
    }

  private:
    struct Station {
        Rig* rig;
        u64 failures_in_a_row = 0;  // of the device, not of results
    };
    // The output of a variant whose order is its own, on the first device that ran it.
    struct First {
        u64 fingerprint;
        std::string device;
    };

    void take(const Work& work, const std::vector<Placement>& placements) {
        std::map<std::string_view, First> firsts;
        for (std::size_t i = 0; i < placements.size(); ++i) {
            Placement placement = placements[i];
            placement.in_place = placement.in_place && work.in_place;
            for (Station& station : rigs_) {
                constexpr u64 hopeless = 3;
                if (station.failures_in_a_row < hopeless) run_on(station, work, placement, i == 0, firsts);
            }
        }
    }

    void run_on(Station& station, const Work& work, const Placement& placement, bool first_placement,
                std::map<std::string_view, First>& firsts) {
        Rig& rig = *station.rig;
        progress_.show(work, ++shown_);
        CheckCase at{work.algorithm, nullptr, rig.selector(), &work, placement};
        bool loaded = false;
        const Variant* unwatched = nullptr;  // ran, and the inputs were not looked at since
        for (const Variant* variant : *variants_) {
            if (!asked_for(options_.variants, variant->name)) continue;
            at.variant = variant;
            if (rig.crawls() && variant != variants_->front() && options_.sizes.empty()) {
                // The textbook's kernels get a taste of the large sizes here.
                const Pattern pattern = work.inputs.front().pattern;
                const bool plain = pattern == Pattern::random || pattern == Pattern::near_one;
                if (work.size() > crawling_most) {
                    if (options_.full)
                        report_.skip(at, "larger than 2^22: such kernels crawl on this device");
                    continue;
                }
                if (work.size() > 65537 && !(plain && first_placement)) continue;
            }
            try {
                if (!loaded) {
                    if (const std::string why = rig.no_room_for(work); !why.empty()) {
                        report_.skip(at, "no room: " + why);
                        continue;
                    }
                    rig.load(work, placement);
                    loaded = true;
                }
                Verdict verdict = rig.run(*variant);
                if (large(work)) {
                    unwatched = variant;
                } else {
                    verdict.merge(rig.judge_inputs());
                }
                judge(rig, at, verdict, firsts);
                station.failures_in_a_row = 0;
            } catch (const Error& error) {
                if (error.code() == ErrorCode::unsupported) {
                    report_.unsupported(at, reason_of(error));
                    continue;
                }
                progress_.clear();
                const bool device = error.code() == ErrorCode::device_failed;
                report_.fail(at, error.what(), device || error.code() == ErrorCode::out_of_memory);
                station.failures_in_a_row += device;
            }
        }
        if (unwatched != nullptr) look_at_inputs(rig, at, *unwatched);
    }

    // Large inputs are looked at once, after the last variant: one of those that ran would be to blame.
    static bool large(const Work& work) { return work.inputs.front().bytes() > u64{1} << 28; }
    void look_at_inputs(Rig& rig, CheckCase& at, const Variant& last) {
        at.variant = &last;
        try {
            if (const Verdict verdict = rig.judge_inputs(); verdict.difference) {
                progress_.clear();
                report_.fail(at, *verdict.difference);
            }
        } catch (const Error& error) {
            progress_.clear();
            report_.fail(at, error.what(), true);
        }
    }

    void judge(Rig& rig, const CheckCase& at, const Verdict& verdict,
               std::map<std::string_view, First>& firsts) {
        if (verdict.difference) {
            progress_.clear();
            return report_.fail(at, *verdict.difference);
        }
        if (rig.runs() && at.variant->order == Order::own) {
            const auto [it, is_first] =
                firsts.try_emplace(at.variant->name, First{rig.fingerprint(), at.device});
            if (!is_first && it->second.fingerprint != rig.fingerprint()) {
                progress_.clear();
                return report_.disagree(at, it->second.device);
            }
        }
        report_.pass(at, verdict, rig.runs());
    }

    const CheckOptions& options_;
    CheckReport& report_;
    Progress progress_;
    std::vector<Station> rigs_;
    const std::vector<const Variant*>* variants_ = nullptr;
    u64 shown_ = 0;
};

}  // namespace

void run_checks(const CheckOptions& options, std::vector<Rig>& rigs, CheckReport& report) {
    Runner runner(options, report);
    std::vector<Rig*> running, compiling;
    for (Rig& rig : rigs)
        (rig.runs() ? running : compiling).push_back(&rig);
    if (!running.empty()) runner.run(running, options.full ? Plan::Extent::full : Plan::Extent::normal);
    if (!compiling.empty()) runner.run(compiling, Plan::Extent::compile);
}

}  // namespace concord::app
