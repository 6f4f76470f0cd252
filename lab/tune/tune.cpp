#include <concord/lab/internal/tune.hpp>

#include <concord/lab/internal/status_line.hpp>

#include <concord/algorithm.hpp>
#include <concord/lab/harness.hpp>
#include <concord/lab/paired_timing.hpp>
#include <concord/lab/rotation.hpp>
#include <concord/lab/table.hpp>
#include <concord/log.hpp>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>

namespace concord::lab {
namespace {

using Clock = std::chrono::steady_clock;
using Rows = std::vector<TuningRow>;

std::vector<u64> default_sizes(const Device& device, bool quick) {
    std::vector<u64> powers;
    if (device.traits().many_items)
        powers = quick ? std::vector<u64>{20, 24} : std::vector<u64>{14, 18, 22, 26};
    else
        powers = quick ? std::vector<u64>{16, 20} : std::vector<u64>{12, 16, 20, 22};
    for (u64& power : powers)
        power = u64{1} << power;
    return powers;
}

u32 class_of(u64 n) {
    return TuningPoint{Type::u8, n, 0}.size_class();
}

// The size classes that a measured size represents: half-way to its neighbours, and as far on a side without a
// neighbour. `is` is the size after the workload has rounded it, for example to a square.
std::pair<u32, u32> reach_of(u64 n, u64 is, const std::vector<u64>& sizes) {
    const u32 at = class_of(n);
    std::optional<u32> below, above;
    for (const u64 other : sizes) {
        const u32 c = class_of(other);
        if (c < at && (!below || c > *below)) below = c;
        if (c > at && (!above || c < *above)) above = c;
    }
    const u32 down = below   ? (at - *below - 1) / 2
                     : above ? (*above - at) / 2
                             : 0,
              up = above   ? (*above - at) / 2
                   : below ? (at - *below) / 2
                           : 0;
    const u32 here = class_of(is);
    return {here - std::min(here, down), std::min(63U, here + up)};
}

// Runnable threads per thread of the device. 0 if the device does not use the machine's threads, or the load is
// unknown.
double load_of(const Device& device) {
    double load = 0;
    if (device.traits().many_items || getloadavg(&load, 1) != 1) return 0;
    return load / device.traits().units;
}

class Tuner {
  public:
    Tuner(const TuneOptions& options, TuneReport& report)
        : options_(options), report_(report), harness_(options.device), stream_(harness_.stream()) {
        check_runs(harness_.device(), "tune");
        sizes_ = options.sizes.empty() ? default_sizes(harness_.device(), options.quick) : options.sizes;
        std::sort(sizes_.begin(), sizes_.end());
        sizes_.erase(std::unique(sizes_.begin(), sizes_.end()), sizes_.end());
        effort_ = options.quick
                      ? PairedEffort{.most_ms = 60, .most_rounds = 25, .least_gain = options.least_gain}
                      : PairedEffort{.most_ms = 250, .most_rounds = 61, .least_gain = options.least_gain};
        limit_ms_ = options.quick ? 60 : 400;
        budget_s_ = options.budget_s > 0 ? options.budget_s : options.quick ? 180 : 3600;
    }
    ~Tuner() {
        try {
            set_tuning(harness_.device(), nullptr);
        } catch (const std::exception&) {  // logging may fail for the same reason
        }
    }
    Tuner(const Tuner&) = delete;
    Tuner& operator=(const Tuner&) = delete;

    void run() {
        report_.table = TuningTable::of(harness_.device());
        std::string source;
        const auto before = find_tuning_table(harness_.device(), &source);
        const std::vector<Task> tasks = tasks_to_do();
        for (const Task& task : tasks) {
            // Each remaining task gets an equal share of the remaining time.
            const double left = budget_s_ - seconds();
            const double share = left / static_cast<double>(&tasks.back() - &task + 1);
            point_ends_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                             std::chrono::duration<double>(3 * std::max(0.0, share)));
            tune_task(task, static_cast<u64>(&task - tasks.data()), tasks.size(), left);
            if (report_.failed) break;
        }
        progress_.clear();
        finish(before);
        report_.seconds = seconds();
    }

  private:
    struct Task {
        const Suite& suite;
        const Workload& workload;
        Type type;
        u64 n;
    };
    // Loaded work and the state of its calls.
    struct Bench {
        const Suite& suite;
        const Work& work;
        Rotation rotation;
        TuningPoint point;
        std::string algorithm;  // its name in rows
        std::pair<u32, u32> reach;
    };
    // Table rows, and the variant that `auto` chooses with them.
    struct Candidate {
        Rows rows;
        const Variant* variant = nullptr;
        std::shared_ptr<const Tuning> tuning = {};  // of the rows, created at the first use
    };

    double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
    bool is_late() const { return Clock::now() > point_ends_ || seconds() > budget_s_; }

    std::vector<Task> tasks_to_do() const {
        std::vector<Task> tasks;
        for (const Suite& suite : suites_) {
            if (!asked_for(options_.algorithms, suite.name)) continue;
            const TuningSubject& subject = suite.tuning;
            std::vector<const Workload*> workloads = workloads_of(suite);
            std::vector<Type> types = options_.types.empty() ? subject.types : options_.types;
            if (options_.quick) workloads.resize(std::min(workloads.size(), subject.quick_workloads));
            if (options_.quick && options_.types.empty()) types.resize(subject.quick_types);
            for (const Workload* workload : workloads) {
                for (const Type type : types) {
                    for (const u64 n : sizes_)
                        tasks.push_back({suite, *workload, type, n});
                }
            }
        }
        return tasks;
    }

    static std::vector<const Workload*> workloads_of(const Suite& suite) {
        if (suite.tuning.workloads.empty()) return {&suite.workloads.front()};
        std::vector<const Workload*> list;
        for (const std::string& name : suite.tuning.workloads) {
            const auto workload = std::find_if(suite.workloads.begin(), suite.workloads.end(),
                                               [&](const Workload& w) { return w.name == name; });
            if (workload == suite.workloads.end())
                throw Error(ErrorCode::invalid_argument, "tune",
                            "unknown workload in the suite of " + suite.name + ", got '" + name + "'");
            list.push_back(&*workload);
        }
        return list;
    }

    void tune_task(const Task& task, u64 index, u64 count, double left) {
        const std::optional<Work> work = task.workload.make(task.type, task.n, options_.seed);
        if (!work || work->type() != task.type) return;  // the workload does not support the type
        progress_.show(harness_.selector() + ": " + task.suite.name + " " + task.workload.name + " of " +
                       size_name(task.n) + " " + std::string(name_of(task.type)) + ", " +
                       std::to_string(index + 1) + " of " + std::to_string(count) + ", " + rounded(left, 3) +
                       " s left");
        TunePoint point;
        point.algorithm = task.suite.name;
        point.workload = task.workload.name;
        point.type = task.type;
        point.n = task.n;
        try {
            if (left <= 0) throw Error(ErrorCode::unsupported, "tune", "the time budget is used up");
            if (const std::string no_room = harness_.no_room_for(*work); !no_room.empty())
                throw Error(ErrorCode::out_of_memory, "tune", "no room: " + no_room);
            tune_work(task, *work, point);
        } catch (const Error& error) {
            point.problem = error.what();
            report_.failed = report_.failed || error.code() == ErrorCode::device_failed;
        }
        report_.points.push_back(std::move(point));
    }

    void tune_work(const Task& task, const Work& work, TunePoint& point) {
        const Suite& suite = task.suite;
        // If other processes use the threads, they slow down calls with many groups more than calls with one group.
        const double load = load_of(harness_.device());
        report_.load = std::max(report_.load, load);
        is_busy_ = load > TuneReport::busy;
        harness_.load(work, {});
        std::vector<Tuning::Asked> asked;
        use({}, &asked);
        const Enqueued run = harness_.call("auto");
        stream_.synchronize();
        const Variant* const by_default = variant_named(suite, run.variant);
        const auto choice = std::find_if(asked.begin(), asked.end(),
                                         [](const Tuning::Asked& a) { return a.table != nullptr; });
        if (by_default == nullptr || choice == asked.end())
            throw Error(ErrorCode::unsupported, "tune", "`auto` does not read a table for this call");
        Bench bench{suite,
                    work,
                    Rotation(stream_, harness_.operands(), cold_bytes(harness_.device())),
                    choice->point,
                    algorithm_of(choice->table),
                    reach_of(task.n, choice->point.size, sizes_)};
        point.default_variant = point.variant = by_default->name;
        Candidate defaults{{}, by_default};
        if (!is_right(bench, defaults, "the defaults"))
            throw Error(ErrorCode::device_failed, "tune", "the defaults give a wrong result");
        if (const double once = time_of(bench, 1); once > limit_ms_) {
            if (const double again = time_of(bench, 1); again > limit_ms_) {
                point.default_ms = point.tuned_ms = again;
                throw Error(ErrorCode::unsupported, "tune", "a call takes " + rounded(again) + " ms");
            }
        }
        if (!tuned_.insert(key_of(bench)).second)
            throw Error(ErrorCode::unsupported, "tune", "the same rows were tuned before");

        Candidate best = best_variant(bench, defaults, point);
        descend(bench, best, point);
        const PairedTiming last =
            measure_paired(times_with(bench, defaults), times_with(bench, best), effort_);
        point.default_ms = last.holder.median;
        point.tuned_ms = last.challenger.median;
        if (best.rows.empty()) {
            point.tuned_ms = point.default_ms;
            return;
        }
        // A second, longer measurement confirms the result.
        PairedEffort more = effort_;
        more.most_ms *= 2;
        more.most_rounds *= 2;
        more.least_gain = options_.least_gain;
        const PairedTiming again = measure_paired(times_with(bench, defaults), times_with(bench, best), more);
        if (!last.is_won(options_.least_gain) || !again.is_won(options_.least_gain)) {
            point.tuned_ms = point.default_ms;
            return;
        }
        if (const std::string slower = slower_on(task, bench, defaults, best); !slower.empty()) {
            point.tuned_ms = point.default_ms;
            point.note = words_of(best) + " is " + rounded(std::min(last.ratio, again.ratio)) +
                         "x faster, but slower on " + slower;
            return;
        }
        point.gain = std::min(last.ratio, again.ratio);
        point.variant = best.variant->name;
        point.rows = best.rows;
        if (point.rows.size() == 1) point.rows.front().gain = point.gain;
    }

    // The workload with other data for the same rows that the candidate slows down. Empty: none.
    std::string slower_on(const Task& task, const Bench& bench, Candidate& defaults, Candidate& best) {
        constexpr double tolerated = 0.95;
        for (const std::string& guard : task.suite.tuning.guards) {
            std::string name = guard.front() == '_' ? task.workload.name + guard : guard;
            for (const Workload& workload : task.suite.workloads) {
                if (workload.name != name) continue;
                const std::optional<Work> work = workload.make(task.type, task.n, options_.seed);
                if (!work || work->type() != task.type) continue;
                harness_.load(*work, {});
                Bench same{task.suite,
                           *work,
                           Rotation(stream_, harness_.operands(), cold_bytes(harness_.device())),
                           bench.point,
                           bench.algorithm,
                           bench.reach};
                if (!is_right(same, best, words_of(best))) return name;
                const PairedTiming result =
                    measure_paired(times_with(same, defaults), times_with(same, best), effort_);
                if (result.ratio < tolerated && result.low < tolerated) return name;
            }
        }
        return {};
    }

    // --- Candidates -------------------------------------------------------------------------------------------------

    Candidate best_variant(Bench& bench, Candidate& defaults, TunePoint& point) {
        Candidate best = defaults;
        for (const Variant* variant : bench.suite.variants) {
            if (variant == defaults.variant || is_late()) continue;
            // A table must not weaken the ordering guarantee.
            if (is_float(bench.work.type()) && variant->order > defaults.variant->order) continue;
            const std::string name = bench.suite.name + "|" + bench.work.title + "|" +
                                     std::string(name_of(bench.work.type())) + "|" +
                                     std::string(variant->name);
            if (hopeless_.count(name) != 0) continue;
            Candidate other{{row_for(bench, bench.algorithm, std::string(variant->name))}, variant};
            const auto result = challenge(bench, best, other, point);
            if (!result) continue;
            if (result->ratio < 1.0 / 3) hopeless_.insert(name);  // skipped at larger sizes
            if (!result->is_won(options_.least_gain)) continue;
            other.rows.front().gain = result->ratio;
            best = std::move(other);
        }
        return best;
    }

    // Coordinate descent: increases each tunable while that helps, otherwise decreases it. Repeats while a value
    // changes.
    void descend(Bench& bench, Candidate& best, TunePoint& point) {
        const int most_turns = options_.quick ? 1 : 2;
        for (int turn = 0; turn < most_turns; ++turn) {
            bool changed = false;
            for (const Tuning::Asked& asked : questions(bench, best))
                changed = climb(bench, best, asked, point) || changed;
            if (!changed) return;
        }
    }

    bool climb(Bench& bench, Candidate& best, const Tuning::Asked& asked, TunePoint& point) {
        const Tunable& tunable = *asked.tunable;
        std::vector<u64> values;
        for (const u64 value : tunable.values) {
            if (value != 0) values.push_back(value);
        }
        const auto row = std::find_if(best.rows.begin(), best.rows.end(),
                                      [&](const TuningRow& r) { return r.what == tunable.name; });
        const u64 now = row == best.rows.end() ? asked.otherwise : std::stoull(row->value);
        const auto above = std::upper_bound(values.begin(), values.end(), now),
                   below = std::lower_bound(values.begin(), values.end(), now);
        const std::vector<u64> up(above, values.end()),
            down(std::make_reverse_iterator(below), values.rend());
        return walk(bench, best, asked, up, point) || walk(bench, best, asked, down, point);
    }

    // Tries the values in order. Skips over one that is not faster, because some values have no effect. Returns
    // whether one was faster.
    bool walk(Bench& bench, Candidate& best, const Tuning::Asked& asked, const std::vector<u64>& values,
              TunePoint& point) {
        constexpr int most_misses = 2;
        bool better = false;
        int misses = 0;
        for (const u64 value : values) {
            const bool won = step(bench, best, *asked.tunable, value, asked.otherwise, point);
            better = better || won;
            misses = won ? 0 : misses + 1;
            if (misses == most_misses) break;
        }
        return better;
    }

    // Adopts the value if it is faster.
    bool step(Bench& bench, Candidate& best, const Tunable& tunable, u64 value, u64 otherwise,
              TunePoint& point) {
        if (is_late()) return false;
        Candidate other{best.rows, best.variant};
        std::erase_if(other.rows, [&](const TuningRow& r) { return r.what == tunable.name; });
        if (value != otherwise)
            other.rows.push_back(row_for(bench, std::string(tunable.name), std::to_string(value)));
        const auto result = challenge(bench, best, other, point);
        if (!result || !result->is_won(options_.least_gain)) return false;
        if (value != otherwise) other.rows.back().gain = result->ratio;
        best = std::move(other);
        return true;
    }

    // Verifies the challenger and times both, alternating. Returns nothing if the challenger does not run or is wrong.
    std::optional<PairedTiming> challenge(Bench& bench, Candidate& best, Candidate& other, TunePoint& point) {
        try {
            if (!is_right(bench, other, words_of(other))) return std::nullopt;
            if (is_busy_ && groups_of(bench, other) == 1 && groups_of(bench, best) > 1) return std::nullopt;
            ++point.tried;
            return measure_paired(times_with(bench, best), times_with(bench, other), effort_);
        } catch (const Error& error) {
            if (error.code() == ErrorCode::device_failed) throw;
            detail::log_info("tune: " + words_of(other) + ": " + error.what());
            return std::nullopt;
        }
    }

    // The tunables of the algorithm that the candidate's launch reads for this work.
    std::vector<Tuning::Asked> questions(Bench& bench, Candidate& candidate) {
        std::vector<Tuning::Asked> asked, mine;
        use(candidate.rows, &asked);
        bench.work.call(stream_, harness_.operands().in, harness_.operands().out,
                        Options{.variant = std::string(candidate.variant->name)});
        stream_.synchronize();
        use(candidate);
        for (const Tuning::Asked& a : asked) {
            if (a.tunable == nullptr || a.tunable->algorithm() != bench.algorithm ||
                !(a.point == bench.point))
                continue;
            const bool known = std::any_of(mine.begin(), mine.end(),
                                           [&](const Tuning::Asked& m) { return m.tunable == a.tunable; });
            if (!known) mine.push_back(a);
        }
        return mine;
    }

    // --- Calls ------------------------------------------------------------------------------------------------------

    void use(const Rows& rows, std::vector<Tuning::Asked>* asked) {
        set_tuning(harness_.device(), std::make_shared<const Tuning>(rows, "concord tune", asked));
    }
    void use(Candidate& candidate) {
        if (!candidate.tuning)
            candidate.tuning = std::make_shared<const Tuning>(candidate.rows, "concord tune");
        set_tuning(harness_.device(), candidate.tuning);
    }

    // Whether `auto` chooses the candidate's variant with its rows, and the result is correct. Records wrong results.
    bool is_right(Bench& bench, Candidate& candidate, const std::string& words) {
        use(candidate);
        Enqueued run;
        Verdict verdict = harness_.run(*candidate.variant, [&] { run = harness_.call("auto"); });
        verdict.merge(harness_.verify_inputs());
        if (run.variant != candidate.variant->name) return false;  // the variant does not support the work
        if (verdict.difference) {
            const Difference& d = *verdict.difference;
            report_.wrong.push_back(bench.suite.name + " " + bench.work.title + " of " +
                                    size_name(bench.work.n) + " " + std::string(name_of(bench.work.type())) +
                                    ", " + words + ": element " + std::to_string(d.index) + ": expected " +
                                    d.expected + ", got " + d.got);
            return false;
        }
        return !verdict.no_bound;
    }

    // The largest number of groups of a launch.
    u64 groups_of(Bench& bench, Candidate& candidate) {
        u64 most = 0;
        use(candidate);
        stream_.observe([&most](const Kernel&, const LaunchShape& shape) {
            most = std::max(most, shape.groups_x * shape.groups_y * shape.groups_z);
        });
        const Operands& at = bench.rotation.next();
        bench.work.call(stream_, at.in, at.out, Options{});
        stream_.observe({});
        stream_.synchronize();
        return most;
    }

    double time_of(Bench& bench, u64 calls) {
        if (!begin_) begin_ = harness_.device().create_event();
        if (!end_) end_ = harness_.device().create_event();
        stream_.record(*begin_);
        for (u64 i = 0; i < calls; ++i) {
            const Operands& at = bench.rotation.next();
            bench.work.call(stream_, at.in, at.out, Options{});
        }
        stream_.record(*end_);
        stream_.synchronize();
        return end_->milliseconds_since(*begin_);
    }
    BatchTime times_with(Bench& bench, Candidate& candidate) {
        return [&bench, &candidate, this](u64 calls) {
            use(candidate);
            return time_of(bench, calls);
        };
    }

    // --- Names ------------------------------------------------------------------------------------------------------

    static const Variant* variant_named(const Suite& suite, std::string_view name) {
        for (const Variant* variant : suite.variants) {
            if (variant->name == name) return variant;
        }
        return nullptr;
    }
    // The first algorithm with that table of variants.
    static std::string algorithm_of(const Variant* table) {
        for (const Algorithm* algorithm : algorithms()) {
            if (algorithm->variants.front() == table) return std::string(algorithm->name);
        }
        return {};
    }
    static std::string words_of(const Candidate& candidate) {
        std::string words;
        for (const TuningRow& row : candidate.rows)
            words += (words.empty() ? "" : ", ") + row.what + " = " + row.value;
        return words;
    }
    static TuningRow row_for(const Bench& bench, std::string what, std::string value) {
        TuningRow row;
        row.what = std::move(what);
        row.value = std::move(value);
        row.type = bench.point.type;
        if (!find_algorithm(bench.algorithm)->tuning_label.empty())
            row.label_first = row.label_last = bench.point.label;
        std::tie(row.class_first, row.class_last) = bench.reach;
        return row;
    }
    static std::string key_of(const Bench& bench) {
        return bench.algorithm + "|" + std::string(name_of(bench.point.type)) + "|" +
               std::to_string(bench.point.label) + "|" + std::to_string(bench.point.size_class());
    }

    // --- The table --------------------------------------------------------------------------------------------------

    void finish(const std::optional<TuningTable>& before) {
        Rows found;
        std::set<std::pair<std::string, Type>> now;  // tuned algorithms (names in rows) and types
        for (const TunePoint& point : report_.points) {
            found.insert(found.end(), point.rows.begin(), point.rows.end());
        }
        for (const std::string& key : tuned_) {
            const std::size_t bar = key.find('|');
            now.insert(
                {key.substr(0, bar), *type_named(key.substr(bar + 1, key.find('|', bar + 1) - bar - 1))});
        }
        report_.table.add(std::move(found));
        report_.rows_found = report_.table.rows.size();
        if (!before) return;
        Rows others;
        for (const TuningRow& row : before->rows) {
            const std::string algorithm = row.what.substr(0, row.what.find('.'));
            const bool tuned_now = std::any_of(now.begin(), now.end(), [&](const auto& pair) {
                return pair.first == algorithm && (!row.type || *row.type == pair.second);
            });
            if (!tuned_now) others.push_back(row);
        }
        report_.table.add(std::move(others));
    }

    const TuneOptions& options_;
    TuneReport& report_;
    const std::vector<Suite> suites_ = suites();
    Harness harness_;
    Stream& stream_;
    StatusLine progress_;
    std::vector<u64> sizes_;
    PairedEffort effort_;
    double limit_ms_ = 0, budget_s_ = 0;
    bool is_busy_ = false;
    const Clock::time_point start_ = Clock::now();
    Clock::time_point point_ends_;
    std::shared_ptr<Event> begin_, end_;
    std::set<std::string> hopeless_, tuned_;
};

}  // namespace

TuneReport tune(const TuneOptions& options) {
    TuneReport report;
    Tuner(options, report).run();
    return report;
}

}  // namespace concord::lab
