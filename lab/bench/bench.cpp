#include <concord/lab/bench.hpp>

#include <concord/recording.hpp>

#include <concord/lab/internal/status_line.hpp>
#include "bench_plan.hpp"
#include "observed.hpp"
#include "round_trip.hpp"

#include <concord/lab/compare.hpp>
#include <concord/lab/table.hpp>

#include <algorithm>
#include <chrono>
#include <thread>

namespace concord::lab {
namespace {

using Clock = std::chrono::steady_clock;

// Waits until idle thread pools have stopped spinning, which would slow the next measurement down.
void let_threads_sleep() {
    std::this_thread::sleep_for(std::chrono::milliseconds(80));
}

// Disables the device's kernel caches during its lifetime.
class Afresh {
  public:
    explicit Afresh(Device& device) : device_(device) { device.bypass_kernel_cache(true); }
    ~Afresh() { device_.bypass_kernel_cache(false); }
    Afresh(const Afresh&) = delete;
    Afresh& operator=(const Afresh&) = delete;

  private:
    Device& device_;
};

// Error::call() of the error for insufficient memory.
constexpr const char* no_room = "no room";

std::string words_for(const Difference& difference) {
    return "WRONG: element " + std::to_string(difference.index) + ": expected " + difference.expected +
           ", got " + difference.got;
}

// Thrown by timed calls when the run is to stop.
struct Stopped {};

class Runner {
  public:
    // `printer`: may be null.
    Runner(const std::vector<Suite>& suites, const BenchOptions& options, BenchReport& report,
           Harness& harness, BenchPrinter* printer)
        : plan_(suites, options, harness),
          options_(options),
          report_(report),
          harness_(harness),
          printer_(printer),
          stream_(harness.stream()),
          ceilings_(harness.stream(), options.hot, rates_of(harness.selector()), options.ceilings_effort) {}

    BenchDevice run() {
        std::optional<Afresh> afresh;
        if (options_.afresh) afresh.emplace(harness_.device());
        if (options_.ceilings && !stopped()) {
            progress_.show(harness_.selector() + ": ceilings");
            ceilings_.measure_all();
            progress_.clear();
        }
        if (printer_ != nullptr) printer_->begin_device(harness_.device().info(), plan_.layout());
        for (const Suite* suite : plan_.suites()) {
            plan_.for_each_work(*suite, [&](const Work& work) {
                if (!dead_ && !stopped()) measure_work(*suite, work);
                return !dead_ && !stopped();
            });
            harness_.device().trim();  // the next algorithm's operands have other sizes
        }
        progress_.clear();
        BenchDevice device{harness_.device().info(), backend_libraries(harness_.device().info().backend),
                           ceilings_.known(), std::move(missing_baselines_)};
        if (printer_ != nullptr) printer_->end_device(device);
        return device;
    }

  private:
    // State that all calls of one piece of work share.
    struct Place {
        const Work& work;
        std::optional<Rotation> rotation;
        std::optional<double> upload_ms, download_ms;
        std::unique_ptr<RoundTrip> trip;
        const BenchRow* first = nullptr;  // the first row that has a time
    };

    bool stopped() const { return options_.stop && options_.stop(); }
    void throw_if_stopped() const {
        if (stopped()) throw Stopped{};
    }

    std::shared_ptr<Ceilings::Rates> rates_of(const std::string& selector) const {
        if (!options_.rates) return nullptr;
        std::shared_ptr<Ceilings::Rates>& rates = (*options_.rates)[selector];
        if (!rates) rates = std::make_shared<Ceilings::Rates>();
        return rates;
    }

    void measure_work(const Suite& suite, const Work& work) {
        status_ = harness_.selector() + ": " + suite.name + " " + work.title + " of " +
                  size_name(work.n, options_.size_names) + " " + std::string(name_of(work.type()));
        progress_.show(status_);
        const std::string lack = harness_.no_room_for(work);
        Place place{work, {}, {}, {}, nullptr, nullptr};
        std::vector<BenchRow> rows;
        rows.reserve(suite.variants.size() + plan_.baselines_of(work).size());
        bool loaded = false, attempted = false;
        const std::string_view chosen =
            plan_.wants_auto() && lack.empty() ? chosen_by_auto(work, loaded) : "";
        for (const Variant* variant : suite.variants) {
            const bool by_name = asked_for(options_.variants, variant->name);
            const bool is_chosen =
                chosen.empty() ? static_cast<bool>(detail::supports_dialect(harness_.device(), *variant))
                               : variant->name == chosen;
            const bool by_auto = plan_.wants_auto() && rows.empty() && is_chosen;
            if (!by_name && !by_auto) continue;
            BenchRow row = plan_.row_of(suite, work, std::string(variant->name));
            if (options_.wanted && !options_.wanted(row)) continue;
            attempted = true;
            const bool may_lack = !by_name || asked_for(options_.variants, "all");
            const bool kept = attempt(row, may_lack, [&] {
                if (!lack.empty()) throw Error(ErrorCode::out_of_memory, no_room, lack);
                if (!loaded) harness_.load(work, {});
                loaded = true;
                measure_variant(row, *variant, place);
            });
            if (kept) take(rows, std::move(row));
            if (place.first == nullptr && kept && rows.back().timing) place.first = &rows.back();
            if (dead_ || stopped()) break;
        }
        if (loaded && attempted && !dead_) {
            for (const std::string& baseline : plan_.missing_baselines_of(work)) {
                const std::string line = work.algorithm + " " + work.title + " " +
                                         std::string(name_of(work.type())) + ", " + baseline;
                if (std::find(missing_baselines_.begin(), missing_baselines_.end(), line) ==
                    missing_baselines_.end())
                    missing_baselines_.push_back(line);
            }
            for (const Baseline* baseline : plan_.baselines_of(work)) {
                if (dead_ || stopped()) break;
                BenchRow row = plan_.row_of(suite, work, *baseline);
                if (options_.wanted && !options_.wanted(row)) continue;
                if (attempt(row, false, [&] { measure_baseline(row, *baseline, place); }))
                    take(rows, std::move(row));
            }
        }
        for (BenchRow& row : rows)
            report_.add(std::move(row));
    }

    void take(std::vector<BenchRow>& rows, BenchRow row) {
        rows.push_back(std::move(row));
        if (printer_ != nullptr) {
            progress_.clear();
            printer_->print_row(rows.back());
            progress_.show(status_);
        }
        if (options_.done) options_.done(rows.back());
    }

    // The variant that `auto` chooses for this work. Empty if the call fails or if the suite does not support `auto`.
    // Then the first variant that runs is measured. If the work lacks memory, the row names the first variant that is
    // implemented for the device. `loaded`: whether the harness holds the work.
    std::string_view chosen_by_auto(const Work& work, bool& loaded) {
        try {
            harness_.load(work, {});
            loaded = true;
            const Enqueued run = harness_.call("auto", options_.order);
            stream_.synchronize();
            return run.variant;
        } catch (const Error&) {
            return {};
        }
    }

    // Runs f and stores the message of an exception in the row. False: the row is left out.
    template <class F>
    bool attempt(BenchRow& row, bool may_lack, F f) {
        try {
            f();
        } catch (const Stopped&) {
            // What is enqueued still uses the caller's data.
            try {
                stream_.synchronize();
            } catch (const Error&) {
            }
            return false;
        } catch (const Error& error) {
            row.timing.reset();
            row.problem = error.what();
            if (error.code() == ErrorCode::unsupported) return !may_lack;
            if (error.call() == no_room) return true;
            report_.note_failure(row.device + ": " + row.problem);
            dead_ = error.code() == ErrorCode::device_failed;
        } catch (const std::exception& error) {  // thrown by a baseline, for example
            row.timing.reset();
            row.problem = detail::words_of(error);
            report_.note_failure(row.device + ": " + row.problem);
        }
        return true;
    }

    // `contract`: why results of a baseline may differ; empty: they may not.
    bool unusable(BenchRow& row, const Verdict& verdict, const std::string& contract = {}) {
        if (verdict.difference && !verdict.damage && !contract.empty()) {
            row.note = std::to_string(verdict.differences) +
                       (verdict.differences == 1 ? " result differs: " : " results differ: ") + row.library +
                       " " + contract;
            return false;
        }
        if (!verdict.difference && verdict.no_bound)
            row.problem = "not verified: no error bound available for this size";
        else if (!verdict.difference && verdict.statistical)
            row.note = "verified by a statistical bound, which rejects a correct result with probability " +
                       rounded(statistical_failure);
        if (!verdict.difference) return verdict.no_bound;
        row.problem = words_for(*verdict.difference);
        report_.note_wrong();
        return true;
    }

    void measure_variant(BenchRow& row, const Variant& variant, Place& place) {
        throw_if_stopped();
        const Options options{.variant = std::string(variant.name)};
        Verdict verdict;
        {
            const Observed observed(stream_, row.kernels);
            verdict = harness_.run(variant);
        }
        verdict.merge(harness_.verify_inputs());
        if (unusable(row, verdict)) return;
        row.compile_ms = 0;
        for (const KernelUse& use : row.kernels)
            row.compile_ms = use.compile_ms < 0 || !row.compile_ms
                                 ? std::nullopt
                                 : std::optional(*row.compile_ms + use.compile_ms);
        if (options_.calls > 0) {
            const Operands own = harness_.operands();
            const auto call = [&] { place.work.call(stream_, own.in, own.out, options); };
            if (options_.recorded) {
                const auto recording = recorded(call);
                measure_calls_of(row, place.work, variant, [&] { recording->replay(stream_); });
            } else {
                measure_calls_of(row, place.work, variant, call);
            }
            return;
        }
        prepare(place);
        if (options_.baselines && harness_.device().traits().launch != LaunchModel::groups)
            let_threads_sleep();
        auto call = [&](const Operands& at) { place.work.call(stream_, at.in, at.out, options); };
        row.copies = place.rotation->copies();
        row.timing = measure(
            stream_,
            [&] {
                throw_if_stopped();
                call(place.rotation->next());
            },
            options_.effort);
        set_bottleneck(row, place.work, ceilings_);
        if (place.trip) {
            row.upload_ms = place.upload_ms;
            row.download_ms = place.download_ms;
            const Operands at = harness_.operands();
            row.end_to_end_ms = place.trip->end_to_end_ms([&] { call(at); });
        }
    }

    std::shared_ptr<Recording> recorded(const std::function<void()>& call) {
        stream_.begin_recording();
        try {
            call();
        } catch (...) {
            (void)stream_.end_recording();
            throw;
        }
        return stream_.end_recording();
    }

    // Times many calls in a row by the host's clock, then verifies the outputs and the inputs.
    void measure_calls_of(BenchRow& row, const Work& work, const Variant& verified_as,
                          const std::function<void()>& call) {
        if (options_.baselines && harness_.device().traits().launch != LaunchModel::groups)
            let_threads_sleep();
        row.host_clock = true;
        row.copies = 1;
        // Polls rarely, because polling counts as time of a call.
        u64 count = 0;
        const auto stoppable = [&] {
            if (++count % 256 == 0) throw_if_stopped();
            call();
        };
        Verdict verdict = harness_.run(
            verified_as, [&] { row.timing = measure_calls(stream_, stoppable, options_.calls); });
        // Many calls on an operand that is read and written have another result than one.
        if (std::any_of(work.outputs.begin(), work.outputs.end(),
                        [](const Output& output) { return output.initial.has_value(); }))
            verdict = harness_.run(verified_as, call);
        verdict.merge(harness_.verify_inputs());
        if (unusable(row, verdict)) row.timing.reset();
    }

    void prepare(Place& place) {
        if (place.rotation) return;
        place.rotation.emplace(stream_, harness_.operands(),
                               options_.hot ? 0 : cold_bytes(harness_.device()));
        if (!options_.round_trips || place.work.bytes() > available_host_memory() / 4) return;
        try {
            place.trip = std::make_unique<RoundTrip>(stream_, harness_.operands());
            place.upload_ms = place.trip->upload_ms();
            place.download_ms = place.trip->download_ms();
        } catch (const Error& error) {
            if (error.code() != ErrorCode::out_of_memory) throw;
            place.trip.reset();
        }
    }

    void measure_baseline(BenchRow& row, const Baseline& baseline, Place& place) {
        throw_if_stopped();
        const Operands own = harness_.operands();
        const Variant verified_as{.name = baseline.name, .order = baseline.order};
        Verdict verdict = harness_.run(verified_as, baseline.prepare(stream_, place.work, own.in, own.out));
        verdict.merge(harness_.verify_inputs());
        if (unusable(row, verdict, baseline.contract)) return;
        if (options_.calls > 0) {
            measure_calls_of(row, place.work, verified_as,
                             baseline.prepare(stream_, place.work, own.in, own.out));
            compare(row, place);
            return;
        }
        prepare(place);
        // Uses fewer copies if preparing is slow or memory runs out, which favours the baseline.
        std::vector<std::function<void()>> calls;
        const auto until = Clock::now() + std::chrono::milliseconds(500);
        try {
            do {
                const Operands& at = place.rotation->at(calls.size());
                calls.push_back(baseline.prepare(stream_, place.work, at.in, at.out));
            } while (calls.size() < place.rotation->copies() && Clock::now() < until);
        } catch (const Error& error) {
            if (error.code() != ErrorCode::out_of_memory || calls.empty()) throw;
        }
        u64 next = 0;
        auto call = [&] {
            throw_if_stopped();
            calls[next++ % calls.size()]();
        };
        stream_.synchronize();
        if (harness_.device().traits().launch != LaunchModel::groups) let_threads_sleep();
        row.copies = calls.size();
        row.timing = baseline.blocking ? measure_blocking(call, options_.effort)
                                       : measure(stream_, call, options_.effort);
        stream_.synchronize();
        set_bottleneck(row, place.work, ceilings_);
        compare(row, place);
    }

    // Compares a baseline with Concord's first variant.
    static void compare(BenchRow& row, const Place& place) {
        if (place.first == nullptr || !row.timing) return;
        row.ratio = row.timing->median / place.first->timing->median;
        row.ratio_to = place.first->variant;
    }

    const BenchPlan plan_;
    const BenchOptions& options_;
    BenchReport& report_;
    Harness& harness_;
    BenchPrinter* printer_;
    Stream& stream_;
    Ceilings ceilings_;
    StatusLine progress_;
    std::string status_;
    std::vector<std::string> missing_baselines_;
    bool dead_ = false;  // the device failed
};

}  // namespace

BenchReport bench(const std::vector<Suite>& suites, const BenchOptions& options, std::ostream* live) {
    check_sizes("bench", options.sizes, options.size_names);
    std::vector<Harness> harnesses = open_harnesses(options.devices);
    for (const Harness& harness : harnesses)
        check_runs(harness.device(), "bench");
    BenchReport report(options);
    std::optional<BenchPrinter> printer;
    if (live != nullptr) printer.emplace(*live, options).print_machine(report.machine());
    auto stopped = [&] { return options.stop && options.stop(); };
    for (Harness& harness : harnesses) {
        if (stopped()) break;
        if (&harness != &harnesses.front()) let_threads_sleep();
        report.add(Runner(suites, options, report, harness, printer ? &*printer : nullptr).run());
    }
    if (stopped()) report.note_interrupted();
    if (printer && report.interrupted()) printer->print_interruption();
    return report;
}

}  // namespace concord::lab
