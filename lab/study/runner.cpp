// Runs the measurements that the results file lacks.

#include <concord/device.hpp>
#include <concord/lab/baseline.hpp>
#include <concord/lab/bench.hpp>
#include <concord/lab/harness.hpp>
#include <concord/lab/machine.hpp>
#include <concord/lab/table.hpp>
#include <concord/log.hpp>
#include <concord/study/internal/rank_studies.hpp>
#include <concord/study/internal/study.hpp>

#include <algorithm>
#include <chrono>
#include <map>
#include <ostream>
#include <set>

namespace concord::study {
namespace {

using lab::asked_for;
using lab::BenchOptions;
using lab::BenchRow;
using lab::Ceilings;
using lab::Effort;
using lab::rounded;

constexpr Effort quick_effort{.min_ms = 2, .max_ms = 25, .precision = 0.05};
constexpr Effort full_effort{.min_ms = 20, .max_ms = 200, .precision = 0.01};
constexpr Effort compared_effort{.min_ms = 20, .max_ms = 300, .precision = 0.005};
constexpr Effort quick_ceilings{.min_ms = 15, .max_ms = 150, .precision = 0.02};
// Calls that are expected to take longer are skipped, because each is repeated at least five times.
constexpr double quick_limit_ms = 60, full_limit_ms = 1000;

// 1, 2, 4, ... and all threads.
std::vector<u32> thread_counts() {
    const u32 all = lab::this_machine().cores;
    std::vector<u32> counts;
    for (u32 t = 1; t < all; t *= 2)
        counts.push_back(t);
    counts.push_back(all);
    return counts;
}

std::vector<std::shared_ptr<Device>> open_devices(std::vector<std::string> selectors) {
    if (selectors.empty() || selectors == std::vector<std::string>{"all"}) selectors = device_selectors();
    std::vector<std::shared_ptr<Device>> devices;
    for (const std::string& selector : selectors) {
        const auto device = open_device(selector);
        lab::check_runs(*device, "study");
        if (std::find(devices.begin(), devices.end(), device) == devices.end()) devices.push_back(device);
    }
    if (devices.empty()) throw Error(ErrorCode::unavailable, "study", "no device is available");
    return devices;
}

// The part of a report on several devices that belongs to one of them.
ordered_json part_of(ordered_json report, const std::string& device) {
    for (const char* list : {"matrix", "failures"})
        std::erase_if(report[list].get_ref<ordered_json::array_t&>(),
                      [&](const ordered_json& entry) { return entry["device"] != device; });
    report["devices"] = {device};
    for (const char* count : {"passed", "compiled", "failed", "skipped", "not_applicable"}) {
        u64 sum = 0;
        for (const ordered_json& cell : report["matrix"])
            sum += cell[count].get<u64>();
        report[count] = sum;
    }
    return report;
}

class Runner {
  public:
    Runner(const StudyOptions& options, std::ostream& live)
        : options_(options),
          live_(live),
          devices_(open_devices(options.devices)),
          store_(options.out, run_line(options.quick),
                 options.with_threads ? Store::LockedBy::store : Store::LockedBy::parent) {
        for (const auto& device : devices_)
            store_.add_device(device_line(*device, {}));
        if (!store_.set_aside().empty()) live_ << store_.set_aside() << '\n';
        const Records known = read_records(options.out);
        // Failed measurements are repeated, and those that lacked memory. Rows that were measured together are repeated
        // together.
        const auto is_known = [](const Result& r) {
            return r.ms || (r.left_out() && r.problem.rfind("no room", 0) != 0);
        };
        std::set<std::string> repeated;
        for (const Result& r : known.results) {
            if (r.compared && !is_known(r)) repeated.insert(r.place());
        }
        for (const Result& r : known.results) {
            if (is_known(r) && !(r.compared && repeated.count(r.place()) != 0)) known_[r.key()] = r;
        }
        for (const ordered_json& check : known.checks) {
            if (check["report"].value("failed", 1) == 0) known_checks_.insert(check.value("key", ""));
        }
        for (const ordered_json& line : known.devices)
            ceilings_[line["selector"]] = line["ceilings"];
    }

    int run() {
        for (const Study& study : studies()) {
            if (is_named(study, options_.names)) run_study(study);
        }
        for (const auto& device : devices_)
            note_ceilings(*device);
        return status_;
    }

  private:
    using Clock = std::chrono::steady_clock;

    void restrict_sizes(Sizes& sizes) const {
        if (options_.sizes.empty()) return;
        for (std::vector<u64>* list : {&sizes.quick, &sizes.full})
            std::erase_if(*list, [&](u64 n) {
                return std::find(options_.sizes.begin(), options_.sizes.end(), n) == options_.sizes.end();
            });
    }

    static ordered_json device_line(const Device& device, ordered_json ceilings) {
        const DeviceTraits& t = device.traits();
        if (!ceilings.is_object()) ceilings = ordered_json::object();
        ordered_json libraries = ordered_json::object();
        for (const DeviceProperty& library : backend_libraries(device.info().backend))
            libraries[library.name] = library.value;
        return {{"kind", "device"},
                {"selector", device.info().selector},
                {"threads", threads_of(device)},
                {"name", device.info().name},
                {"driver", device.info().driver},
                {"hardware", device.info().hardware},
                {"libraries", std::move(libraries)},
                {"many_items", t.launch == LaunchModel::groups},
                {"units", t.units},
                {"sub_group_width", t.sub_group_width},
                {"ceilings", std::move(ceilings)}};
    }

    void run_study(const Study& study) {
        const ordered_json ended = {{"kind", "study"}, {"key", study.name}, {"types", type_names()}};
        ordered_json begun = ended;
        begun["unfinished"] = true;
        if (options_.with_threads) store_.add(begun);
        const auto start = Clock::now();
        measured_ = taken_ = failed_ = left_ = 0;
        asked_.clear();
        if (options_.with_threads && lab::baselines().empty() &&
            std::any_of(study.cases.begin(), study.cases.end(),
                        [](const Case& what) { return what.compared; }))
            live_ << study.name
                  << ": no peer library is available, so only Concord is measured; build them with "
                  << "`./setup baselines`\n"
                  << std::flush;
        if (study.kind == Study::Kind::check) {
            if (options_.with_threads) run_checks(study);
        } else {
            for (Case what : study.cases) {
                if (!study.is_pairs() && !asked_for(options_.algorithms, what.suite)) continue;
                restrict_sizes(what.sizes);
                if (what.cpu_sizes) restrict_sizes(*what.cpu_sizes);
                for (const auto& device : devices_) {
                    run_case(study, what, *device);
                    // An interrupted run has them, too.
                    const std::string& selector = device->info().selector;
                    if (rates_->contains(selector) && rated_.insert(selector).second) note_ceilings(*device);
                }
            }
            if (options_.with_threads && std::any_of(study.cases.begin(), study.cases.end(),
                                                     [](const Case& what) { return what.each_thread_count; }))
                run_other_threads();
        }
        if (!options_.with_threads) return;  // the parent process reports
        store_.add(ended);
        live_ << study.name << ": " << measured_ << " measured, " << taken_ << " known before, " << failed_
              << " failed, " << left_ << " left out, "
              << rounded(std::chrono::duration<double>(Clock::now() - start).count()) << " s\n"
              << std::flush;
    }

    ordered_json type_names() const {
        ordered_json names = ordered_json::array();
        for (const Type type : options_.types)
            names.push_back(name_of(type));
        return names;
    }

    void run_case(const Study& study, const Case& what, Device& device) {
        const u32 threads = threads_of(device);
        if (what.each_thread_count ? threads == 0 : !options_.with_threads) return;
        if (study.kind == Study::Kind::transfers) {
            run_transfers(
                device.info().selector, what, options_.quick,
                [&](const Result& asked) { return wanted(asked, {}); },
                [&](const Result& asked, const ordered_json& row) { take(asked, row); });
            return;
        }
        if (study.kind == Study::Kind::ranks) {
            // All devices of a backend form one group of ranks. The case runs for the first of them.
            std::vector<std::shared_ptr<Device>> kind;
            for (const auto& one : devices_) {
                if (one->info().backend == device.info().backend) kind.push_back(one);
            }
            if (kind.front().get() != &device) return;
            run_ranks(
                kind, what, options_.quick, options_.processes,
                [&](const Result& asked) { return wanted(asked, {}); },
                [&](const Result& asked, const ordered_json& row) { take(asked, row); });
            return;
        }
        if (study.is_pairs()) {
            (study.kind == Study::Kind::tuning ? run_tuning : run_regret)(
                device.info().selector, what, options_,
                {.wanted = [&](const Result& asked, const BenchRow& row) { return wanted(asked, row); },
                 .done = [&](const Result& asked, const ordered_json& row) { take(asked, row); }});
            return;
        }
        const auto suite = std::find_if(study_suites().begin(), study_suites().end(),
                                        [&](const Suite& s) { return s.name == what.suite; });
        if (suite == study_suites().end())
            throw Error(ErrorCode::invalid_argument, "study",
                        study.name + " names an unknown suite, got '" + what.suite + "'");
        const std::vector<u64> sizes = sizes_on(device, what, options_.quick);
        if (sizes.empty()) return;
        std::vector<std::string> workloads = what.workloads;
        if (workloads.empty()) workloads = {suite->workloads.front().name};
        const bool is_auto = what.variants == std::vector<std::string>{"auto"};
        BenchOptions bench;
        bench.algorithms = {what.suite};
        bench.devices = {device.info().selector};
        // bench.wanted picks the variants that the case names. With "all", a variant that the device does not support
        // is not a failure.
        bench.variants = {is_auto ? "auto" : "all"};
        bench.types = options_.types.empty() ? what.types : options_.types;
        bench.sizes = sizes;
        bench.round_trips = bench.afresh = false;
        bench.rates = what.hot ? nullptr : rates_;
        bench.hot = what.hot;
        bench.baselines = what.compared;
        bench.effort = options_.quick ? quick_effort : what.compared ? compared_effort : full_effort;
        if (options_.quick) bench.ceilings_effort = quick_ceilings;
        for (const std::string& workload : workloads) {
            bench.workloads = {workload};
            auto asked_of = [&](const BenchRow& row) {
                Result asked;
                asked.algorithm = what.suite;
                asked.workload = workload;
                asked.variant = row.variant;
                asked.asked = is_auto && !row.baseline ? "auto" : row.variant;
                asked.compared = what.compared;
                asked.baseline = row.baseline;
                asked.device = row.device;
                asked.threads = threads;
                asked.type = name_of(row.type);
                asked.n = row.n;
                return asked;
            };
            bench.wanted = [&](const BenchRow& row) {
                if (row.baseline) return wanted(asked_of(row), row);
                add_together();
                return (is_auto || asked_for(what.variants, row.variant)) && wanted(asked_of(row), row);
            };
            bench.done = [&](const BenchRow& row) { take(asked_of(row), ordered_json::parse(json_of(row))); };
            lab::bench({*suite}, bench);
            add_together();
        }
    }

    // Extrapolates the time from the next smaller size, by the number of operations or else of elements.
    double expected_ms(const Result& asked, double operations) const {
        double ms = 0;
        u64 n = 0;
        for (const auto& [key, r] : known_) {
            if (r.n >= asked.n || r.n <= n || r.asked != asked.asked || r.compared != asked.compared ||
                r.algorithm != asked.algorithm || r.workload != asked.workload || r.device != asked.device ||
                r.threads != asked.threads || r.type != asked.type || (!r.ms && !r.left_out()))
                continue;
            n = r.n;
            const double more = operations > 0 && r.operations > 0
                                    ? operations / r.operations
                                    : static_cast<double>(asked.n) / static_cast<double>(r.n);
            ms = r.ms ? *r.ms * more : 1e30;
        }
        return ms;
    }

    bool wanted(const Result& asked, const BenchRow& row) {
        const bool is_new = asked_.try_emplace(asked.key(), asked).second;
        // The row of a baseline is measured whenever the variant's row is.
        if (const auto it = known_.find(asked.key()); it != known_.end() && !asked.baseline) {
            if (!is_new) return false;
            for (const auto& [key, r] : known_) {
                if (key == asked.key() || (asked.compared && r.compared && r.place() == asked.place()))
                    count(r, taken_);
            }
            return false;
        }
        const double limit = options_.quick ? quick_limit_ms : full_limit_ms;
        const double expected = expected_ms(asked, static_cast<double>(row.operations));
        if (expected <= limit) return true;
        BenchRow none = row;
        none.problem =
            std::string(left_out) + (expected < 1e29 ? "a call would take " + rounded(expected) + " ms"
                                                     : "the next smaller size is left out, too");
        if (none.algorithm.empty()) {  // not a row of the benchmark
            none.algorithm = asked.algorithm;
            none.variant = asked.variant;
            none.device = asked.device;
            none.n = asked.n;
        }
        ordered_json line = ordered_json::parse(json_of(none));
        line["type"] = asked.type;
        take(asked, line);
        return false;
    }

    void take(const Result& asked, const ordered_json& row) {
        const ordered_json line = line_of(asked, row);
        if (asked.compared)
            together_.push_back(line);
        else
            store_.add(line);
        const Result result = result_of(line);
        known_[asked.key()] = result;
        count(result, measured_);
    }

    // Adds the rows of one piece of work, Concord's last: where it is in the file, the baselines' rows are, too.
    void add_together() {
        if (together_.empty()) return;
        std::stable_partition(together_.begin(), together_.end(),
                              [](const ordered_json& line) { return line["row"]["kind"] == "baseline"; });
        store_.add_all(together_);
        together_.clear();
    }

    void count(const Result& result, u64& as) {
        if (result.ms) {
            ++as;
        } else if (result.left_out()) {
            ++left_;
        } else {
            ++failed_;
            if (&as == &measured_ && options_.with_threads)
                live_ << "FAILED " << result.title() << ": " << result.problem << '\n';
            status_ = result.problem.rfind("WRONG", 0) == 0 ? 1 : status_ == 0 ? 4 : status_;
        }
    }

    // Repeats the requested measurements with fewer threads, in child processes.
    void run_other_threads() {
        const auto host =
            std::find_if(devices_.begin(), devices_.end(), [](const auto& d) { return threads_of(*d) > 0; });
        if (host == devices_.end()) return;
        std::vector<std::string> missing;
        for (const u32 threads : thread_counts()) {
            if (threads == threads_of(**host)) continue;
            const std::size_t before = missing.size();
            for (auto [key, asked] : asked_) {
                if (asked.device != (*host)->info().selector) continue;
                asked.threads = threads;
                if (const auto it = known_.find(asked.key()); it != known_.end())
                    count(it->second, taken_);
                else
                    missing.push_back(asked.key());
            }
            if (missing.size() == before) continue;
            const int status = options_.with_threads(threads);
            if (status != 0 && status_ == 0) status_ = status;
        }
        if (missing.empty()) return;
        store_.reload();
        std::map<std::string, Result> now;
        for (const Result& r : read_records(options_.out).results)
            now[r.key()] = r;
        for (const std::string& key : missing) {
            const auto it = now.find(key);
            if (it == now.end()) continue;
            known_[key] = it->second;
            count(it->second, measured_);
        }
    }

    void run_checks(const Study& study) {
        const ordered_json types = type_names();
        for (const Case& what : study.cases) {
            if (!asked_for(options_.algorithms, what.suite)) continue;
            auto key_of = [&](const std::string& selector) {
                return "check|" + what.suite + "|" + selector + (types.empty() ? "" : "|" + types.dump());
            };
            std::vector<std::string> selectors;  // checked together, which compares results across devices
            for (const auto& device : devices_) {
                if (known_checks_.count(key_of(device->info().selector)) != 0)
                    ++taken_;
                else
                    selectors.push_back(device->info().selector);
            }
            if (selectors.empty()) continue;
            const ordered_json all =
                run_check(what.suite, selectors, options_.types, options_.quick, status_);
            for (const std::string& selector : selectors) {
                ordered_json report = part_of(all, selector);
                ++(report["failed"] != 0                              ? failed_
                   : report["passed"] != 0 || report["compiled"] != 0 ? measured_
                                                                      : left_);
                store_.add({{"kind", "check"},
                            {"key", key_of(selector)},
                            {"device", selector},
                            {"types", types},
                            {"report", std::move(report)}});
            }
        }
    }

    // Merges the ceilings that this run measured with those in the results file: the highest rates and the shortest
    // latency.
    void note_ceilings(Device& device) {
        const auto it = rates_->find(device.info().selector);
        if (it == rates_->end()) return;
        const auto stream = device.create_stream();
        ordered_json& known = ceilings_[device.info().selector];
        if (!known.is_object()) known = ordered_json::object();
        constexpr bool hot = false;
        Ceilings ceilings(*stream, hot, it->second,
                          options_.quick ? quick_ceilings : BenchOptions{}.ceilings_effort);
        if (!known.contains("launch_ms") && options_.with_threads) {
            try {
                ceilings.measure_all();
            } catch (const Error& error) {
                detail::log_warn(std::string("study: cannot measure the ceilings: ") + error.what());
            }
        }
        for (const auto& [name, value] : lab::fields_of(ceilings.known())) {
            const double before = known.value(name, value);
            known[name] =
                name == std::string_view("launch_ms") ? std::min(before, value) : std::max(before, value);
        }
        store_.add(device_line(device, known));
    }

    const StudyOptions& options_;
    std::ostream& live_;
    std::vector<std::shared_ptr<Device>> devices_;
    Store store_;
    std::shared_ptr<std::map<std::string, std::shared_ptr<Ceilings::Rates>>> rates_ =
        std::make_shared<std::map<std::string, std::shared_ptr<Ceilings::Rates>>>();
    std::map<std::string, Result> known_;  // by key
    std::vector<ordered_json> together_;   // rows that are measured together and not yet in the file
    std::set<std::string> known_checks_;
    std::map<std::string, ordered_json> ceilings_;  // by selector
    std::set<std::string> rated_;                   // selectors of devices whose ceilings are in the file
    std::map<std::string, Result> asked_;           // by key: requested by the current study
    u64 measured_ = 0, taken_ = 0, failed_ = 0, left_ = 0;
    int status_ = 0;
};

}  // namespace

std::vector<u64> sizes_on(const Device& device, const Case& what, bool quick) {
    const bool on_cpu = device.traits().launch != LaunchModel::groups && what.cpu_sizes;
    std::vector<u64> sizes = (on_cpu ? *what.cpu_sizes : what.sizes).of(quick);
    if (!what.quarters_of_units) return sizes;
    for (u64& n : sizes)
        n = (n * device.traits().units + 3) / 4 * 256;
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    return sizes;
}

u32 threads_of(const Device& device) {
    return device.traits().launch == LaunchModel::host ? device.traits().units : 0;
}

const std::vector<Suite>& study_suites() {
    static const std::vector<Suite> all = [] {
        std::vector<Suite> list = lab::suites();
        for (Suite& suite : effect_suites())
            list.push_back(std::move(suite));
        return list;
    }();
    return all;
}

int run_studies(const StudyOptions& options, std::ostream& live) {
    return Runner(options, live).run();
}

}  // namespace concord::study
