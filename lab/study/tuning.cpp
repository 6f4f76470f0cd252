// The study `tuning`: calls of `auto` with the device's tuning table and without, alternating.

#include "figures.hpp"
#include "pairs.hpp"

#include <concord/lab/paired_timing.hpp>
#include <concord/lab/rotation.hpp>
#include <concord/tuning.hpp>

#include <algorithm>

namespace concord::study {
namespace {

using namespace lab;

constexpr PairNames tuning_names = {"defaults", "tuned"};
// What `auto` uses: Concord's defaults, or the device's tuning table.
enum class Setting { defaults, table };

// Switches the device's tuning table on and off, and restores it at the end.
class Table {
  public:
    explicit Table(Device& device) : device_(device) {
        set_tuning(device_, nullptr);
        if (const auto table = find_tuning_table(device_, &source_)) rows_ = table->rows;
        own_ = std::make_shared<const Tuning>(rows_, source_);
        set_tuning(device_, own_);  // Concord keeps the table, so that the destructor allocates nothing
    }
    ~Table() { set_tuning(device_, own_); }
    Table(const Table&) = delete;
    Table& operator=(const Table&) = delete;

    // Whether the table sets a launch parameter of the call.
    template <class F>
    bool sets_launch_of(F call) {
        std::vector<Tuning::Asked> asked;
        set_tuning(device_, std::make_shared<const Tuning>(rows_, source_, &asked));
        call();
        set_tuning(device_, own_);
        return std::any_of(asked.begin(), asked.end(), [&](const Tuning::Asked& a) {
            return a.tunable != nullptr && own_->value(*a.tunable, a.point, a.otherwise) != a.otherwise;
        });
    }

    void use(Setting setting) { set_tuning(device_, setting == Setting::table ? own_ : none_); }

  private:
    Device& device_;
    std::vector<TuningRow> rows_;
    std::string source_ = "none";
    std::shared_ptr<const Tuning> own_, none_ = std::make_shared<const Tuning>();
};

// Loaded work and its two calls.
class Calls {
  public:
    Calls(Harness& harness, const Suite& suite, const Work& work, Table& table)
        : harness_(harness), suite_(suite), work_(work), table_(table) {
        harness_.load(work, {});
        rotation_.emplace(harness_.stream(), harness_.operands(), cold_bytes(harness_.device()));
    }

    // Why the call has no time. Empty if the result is correct.
    std::string verify(Setting setting, std::string& variant) {
        table_.use(setting);
        const Enqueued chosen = harness_.call("auto");
        harness_.stream().synchronize();
        variant = chosen.variant;
        for (const Variant* v : suite_.variants) {
            if (v->name != chosen.variant) continue;
            const Verdict verdict = harness_.run(*v, [&] { harness_.call("auto"); });
            if (!verdict.difference) return {};
            return "WRONG: element " + std::to_string(verdict.difference->index) + ": expected " +
                   verdict.difference->expected + ", got " + verdict.difference->got;
        }
        return "unknown variant '" + variant + "'";
    }

    // Times without and with the table. If the table changes nothing, both are the same measurement. Their ratio is
    // the median over the rounds, which is robust against temporary slowdowns.
    std::pair<Timing, Timing> times(bool same_variant, const PairedEffort& effort) {
        const bool differ = !same_variant || table_.sets_launch_of([&] {
            harness_.call("auto");
            harness_.stream().synchronize();
        });
        const Setting other = differ ? Setting::table : Setting::defaults;
        PairedTiming result = measure_paired([&](u64 calls) { return time(Setting::defaults, calls); },
                                             [&](u64 calls) { return time(other, calls); }, effort);
        if (!differ) return {result.holder, result.holder};
        result.challenger.median = result.holder.median / result.ratio;
        return {result.holder, result.challenger};
    }

  private:
    double time(Setting setting, u64 calls) {
        table_.use(setting);
        Stream& stream = harness_.stream();
        stream.record(*begin_);
        for (u64 i = 0; i < calls; ++i) {
            const Operands& at = rotation_->next();
            work_.call(stream, at.in, at.out, Options{});
        }
        stream.record(*end_);
        stream.synchronize();
        return end_->milliseconds_since(*begin_);
    }

    Harness& harness_;
    const Suite& suite_;
    const Work& work_;
    Table& table_;
    std::optional<Rotation> rotation_;
    const std::shared_ptr<Event> begin_ = harness_.device().create_event(),
                                 end_ = harness_.device().create_event();
};

}  // namespace

void run_tuning(const std::string& selector, const Case& what, const StudyOptions& options,
                const PairSinks& sinks) {
    Harness harness(selector);
    Table table(harness.device());
    const PairedEffort effort{
        .max_ms = options.quick ? 100.0 : 500.0, .max_rounds = options.quick ? 41U : 101U, .min_gain = 1};
    run_pairs(
        harness, what, options, tuning_names, sinks,
        [&](const Suite& suite, const Work& work, std::array<BenchRow, 2>& rows) {
            Calls calls(harness, suite, work, table);
            std::string variants[2];
            for (const std::size_t k : {0, 1}) {
                rows[k].problem = calls.verify(k == 0 ? Setting::defaults : Setting::table, variants[k]);
                rows[k].variant += ": " + variants[k];
            }
            if (rows[0].problem.empty() && rows[1].problem.empty())
                std::tie(rows[0].timing, rows[1].timing) = calls.times(variants[0] == variants[1], effort);
        });
}

std::vector<Chart> gains(const Figure& figure, const Data& data) {
    return charts_of(figure, data, {By::device}, [&](Chart& chart, const Group& panel) {
        chart.bars = true;
        chart.notes = "variant";
        chart.text = figure.caption;
        chart.y = {.name = "speed-up over the defaults", .unit = Scale::Unit::factor};
        Series bars;
        for (const Pair& pair : pairs_of(panel.second, tuning_names, chart.missing)) {
            bars.marks.push_back({.y = pair.ratio,
                                  .label = work_of(*pair.second),
                                  .note = pair.second->variant,
                                  .of = pair.second});
        }
        chart.series.push_back(std::move(bars));
    });
}

}  // namespace concord::study
