#include <concord/lab/internal/tune.hpp>

#include <concord/lab/internal/search.hpp>
#include <concord/lab/internal/status_line.hpp>

#include <concord/lab/table.hpp>

#include <algorithm>
#include <cstdlib>

namespace concord::lab {
namespace {

using Clock = SearchState::Clock;
using Rows = std::vector<TuningRow>;

std::vector<u64> default_sizes(const Device& device, bool quick) {
    std::vector<u64> powers;
    if (device.traits().launch == LaunchModel::groups)
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
    if (device.traits().launch == LaunchModel::groups || getloadavg(&load, 1) != 1) return 0;
    return load / device.traits().units;
}

class Tuner {
  public:
    Tuner(const TuneOptions& options, TuneReport& report)
        : options_(options), report_(report), harness_(options.device) {
        check_runs(harness_.device(), "tune");
        sizes_ = options.sizes.empty() ? default_sizes(harness_.device(), options.quick) : options.sizes;
        std::sort(sizes_.begin(), sizes_.end());
        sizes_.erase(std::unique(sizes_.begin(), sizes_.end()), sizes_.end());
        state_.effort = options.quick
                            ? PairedEffort{.max_ms = 60, .max_rounds = 25, .min_gain = options.min_gain}
                            : PairedEffort{.max_ms = 250, .max_rounds = 61, .min_gain = options.min_gain};
        state_.min_gain = options.min_gain;
        state_.max_turns = options.quick ? 1 : 2;
        limit_ms_ = options.quick ? 60 : 400;
        budget_s_ = options.budget_s > 0 ? options.budget_s : options.quick ? 180 : 3600;
    }
    void run() {
        report_.table = TuningTable::of(harness_.device());
        std::string source;
        const auto before = find_tuning_table(harness_.device(), &source);
        const std::vector<Task> tasks = tasks_to_do();
        for (const Task& task : tasks) {
            // Each remaining task gets an equal share of the remaining time.
            const double left = budget_s_ - seconds();
            const double share = left / static_cast<double>(&tasks.back() - &task + 1);
            state_.ends =
                Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                   std::chrono::duration<double>(std::min(left, 3 * std::max(0.0, share))));
            tune_task(task, static_cast<u64>(&task - tasks.data()), tasks.size(), left);
            if (report_.failed) break;
        }
        progress_.clear();
        finish(before);
        report_.wrong = std::move(state_.wrong);
        report_.seconds = seconds();
    }

  private:
    struct Task {
        const Suite& suite;
        const Workload& workload;
        Type type;
        u64 n;
    };
    double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

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
        // If other processes use the threads, they slow down calls with many groups more than calls with one group.
        const double load = load_of(harness_.device());
        report_.load = std::max(report_.load, load);
        state_.is_busy = load > TuneReport::busy;
        Search search(harness_, task.suite, work, state_);
        Candidate& defaults = search.start();
        point.default_variant = point.variant = defaults.variant->name;
        if (const double once = search.milliseconds(defaults, 1); once > limit_ms_) {
            if (const double again = search.milliseconds(defaults, 1); again > limit_ms_) {
                point.default_ms = point.tuned_ms = again;
                throw Error(ErrorCode::unsupported, "tune", "a call takes " + rounded(again) + " ms");
            }
        }
        if (!tuned_.insert(key_of(search)).second)
            throw Error(ErrorCode::unsupported, "tune", "the same rows were tuned before");

        Candidate best = search.fastest();
        point.tried = search.tried();
        const PairedTiming last = search.compare(defaults, best, state_.effort);
        point.default_ms = point.tuned_ms = last.holder.median;
        if (best.rows.empty()) return;
        // A second, longer measurement confirms the result.
        PairedEffort more = state_.effort;
        more.max_ms *= 2;
        more.max_rounds *= 2;
        const PairedTiming again = search.compare(defaults, best, more);
        if (!last.is_won(options_.min_gain) || !again.is_won(options_.min_gain)) return;
        const auto [first, end] = reach_of(task.n, search.point().size, sizes_);
        for (TuningRow& row : best.rows) {
            row.class_first = first;
            row.class_last = end;
        }
        best.tuning.reset();
        if (const std::string slower = slower_on(task, best); !slower.empty()) {
            point.note = search.words_of(best) + " is " + rounded(std::min(last.ratio, again.ratio)) +
                         "x faster, but slower on " + slower;
            return;
        }
        point.tuned_ms = last.challenger.median;
        point.gain = std::min(last.ratio, again.ratio);
        point.variant = best.variant->name;
        point.rows = best.rows;
        if (point.rows.size() == 1) point.rows.front().gain = point.gain;
    }

    // The workload with other data for the same rows that the candidate slows down. Empty: none.
    std::string slower_on(const Task& task, Candidate& best) {
        constexpr double tolerated = 0.95;
        for (const std::string& guard : task.suite.tuning.guards) {
            std::string name = guard.front() == '_' ? task.workload.name + guard : guard;
            for (const Workload& workload : task.suite.workloads) {
                if (workload.name != name) continue;
                const std::optional<Work> work = workload.make(task.type, task.n, options_.seed);
                if (!work || work->type() != task.type) continue;
                Search same(harness_, task.suite, *work, state_);
                if (!same.is_right(best)) return name;
                const PairedTiming result = same.compare(same.start(), best, state_.effort);
                if (result.ratio < tolerated && result.low < tolerated) return name;
            }
        }
        return {};
    }

    static std::string key_of(const Search& search) {
        const TuningPoint& point = search.point();
        return search.algorithm() + "|" + std::string(name_of(point.type)) + "|" +
               std::to_string(point.label) + "|" + std::to_string(point.size_class());
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
    SearchState state_;
    StatusLine progress_;
    std::vector<u64> sizes_;
    double limit_ms_ = 0, budget_s_ = 0;
    const Clock::time_point start_ = Clock::now();
    std::set<std::string> tuned_;
};

}  // namespace

TuneReport tune(const TuneOptions& options) {
    TuneReport report;
    Tuner(options, report).run();
    return report;
}

}  // namespace concord::lab
