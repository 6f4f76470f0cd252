#include <concord/lab/internal/search.hpp>

#include <concord/algorithm.hpp>
#include <concord/lab/table.hpp>
#include <concord/log.hpp>
#include <concord/trace.hpp>

#include <algorithm>

namespace concord::lab {
namespace {

const Variant* variant_named(const Suite& suite, std::string_view name) {
    for (const Variant* variant : suite.variants) {
        if (variant->name == name) return variant;
    }
    return nullptr;
}

// The first algorithm with that table of variants.
std::string algorithm_of(const Variant* table) {
    for (const Algorithm* algorithm : algorithms()) {
        if (algorithm->variants.front() == table) return std::string(algorithm->name);
    }
    return {};
}

}  // namespace

TableOfDevice::~TableOfDevice() {
    try {
        set_tuning(device_, nullptr);
    } catch (const std::exception&) {  // logging may fail for the same reason
    }
}

Search::Search(Harness& harness, const Suite& suite, const Work& work, SearchState& state,
               const std::shared_ptr<const Tuning>& in_use)
    : harness_(harness),
      suite_(suite),
      work_(work),
      state_(state),
      stream_(harness.stream()),
      restored_(harness.device()) {
    harness_.load(work, {});
    std::vector<Tuning::Asked> asked;
    use({}, &asked);
    Enqueued run = harness_.call("auto");
    stream_.synchronize();
    const auto choice =
        std::find_if(asked.begin(), asked.end(), [](const Tuning::Asked& a) { return a.table != nullptr; });
    if (choice == asked.end())
        throw Error(ErrorCode::unsupported, "tune", "`auto` does not read a table for this call");
    point_ = choice->point;
    algorithm_ = algorithm_of(choice->table);
    start_.tuning = in_use;
    use(start_);
    if (in_use) {
        run = harness_.call("auto");
        stream_.synchronize();
        start_.rows = {row_for(algorithm_, std::string(run.variant))};
    }
    start_.variant = variant_named(suite, run.variant);
    if (start_.variant == nullptr)
        throw Error(ErrorCode::unsupported, "tune", "unknown variant '" + std::string(run.variant) + "'");
    rotation_.emplace(stream_, harness_.operands(), cold_bytes(harness_.device()));
    begin_ = harness_.device().create_event();
    end_ = harness_.device().create_event();
    if (!is_right(start_))
        throw Error(ErrorCode::device_failed, "tune", "the first choice of `auto` gives a wrong result");
}

// --- Candidates -----------------------------------------------------------------------------------------------------

Candidate Search::fastest() {
    Candidate best = start_;
    if (!start_.rows.empty()) {  // the same variant without the table's launch parameters
        Candidate other{start_.rows, start_.variant};
        const auto result = challenge(best, other, Verified::after);
        if (result && result->is_won(state_.min_gain)) best = std::move(other);
    }
    std::vector<Candidate> near;
    for (const Variant* variant : suite_.variants) {
        if (variant == start_.variant || is_late()) continue;
        // A table must not weaken the ordering guarantee.
        if (is_float(work_.type()) && variant->order > start_.variant->order) continue;
        const std::string name = suite_.name + "|" + work_.title + "|" + std::string(name_of(work_.type())) +
                                 "|" + std::string(variant->name);
        if (state_.hopeless.count(name) != 0) continue;
        Candidate other = with_row(start_, row_for(algorithm_, std::string(variant->name)));
        other.variant = variant;
        const auto result = challenge(best, other, Verified::before);
        if (!result) continue;
        if (result->ratio < 1.0 / 3) state_.hopeless.insert(name);
        const bool is_near = std::max(result->ratio, 1 / result->ratio) < state_.descend_within;
        if (result->is_won(state_.min_gain)) {
            other.rows.back().gain = result->ratio;
            std::swap(best, other);
        }
        if (is_near) near.push_back(std::move(other));
    }
    best = descended(std::move(best));
    for (Candidate& from : near) {
        const std::vector<TuningRow> before = from.rows;
        Candidate other = descended(std::move(from));
        if (other.rows == before) continue;
        const auto result = challenge(best, other, Verified::already);
        if (result && result->is_won(state_.min_gain)) best = std::move(other);
    }
    return best;
}

// Coordinate descent: increases each tunable while that helps, otherwise decreases it. Repeats while a value changes.
Candidate Search::descended(Candidate from) {
    for (int turn = 0; turn < state_.max_turns; ++turn) {
        bool changed = false;
        for (const Tuning::Asked& asked : questions(from))
            changed = climb(from, asked) || changed;
        if (!changed) break;
    }
    return from;
}

bool Search::climb(Candidate& best, const Tuning::Asked& asked) {
    std::vector<u64> values;
    for (const u64 value : asked.tunable->values) {
        if (value != 0) values.push_back(value);
    }
    use(best);
    const u64 now = best.tuning->value(*asked.tunable, asked.point, asked.otherwise);
    const auto above = std::upper_bound(values.begin(), values.end(), now),
               below = std::lower_bound(values.begin(), values.end(), now);
    const std::vector<u64> up(above, values.end()), down(std::make_reverse_iterator(below), values.rend());
    return walk(best, asked, up) || walk(best, asked, down);
}

// Tries the values in order. Skips over one that is not faster, because some values have no effect. Returns whether
// one was faster.
bool Search::walk(Candidate& best, const Tuning::Asked& asked, const std::vector<u64>& values) {
    constexpr int max_misses = 2;
    bool better = false;
    int misses = 0;
    for (const u64 value : values) {
        const bool won = step(best, asked, value);
        better = better || won;
        misses = won ? 0 : misses + 1;
        if (misses == max_misses) break;
    }
    return better;
}

// Takes the value if it is faster.
bool Search::step(Candidate& best, const Tuning::Asked& asked, u64 value) {
    if (is_late()) return false;
    TuningRow row = row_for(std::string(asked.tunable->name), std::to_string(value));
    Candidate other = with_row(best, row);
    if (value == asked.otherwise) other.rows.pop_back();
    const auto result = challenge(best, other, Verified::after);
    if (!result || !result->is_won(state_.min_gain)) return false;
    if (value != asked.otherwise) other.rows.back().gain = result->ratio;
    best = std::move(other);
    return true;
}

// Times both, alternating. Returns nothing if the challenger does not run or is wrong. With Verified::after the result
// is verified only if the challenger wins.
std::optional<PairedTiming> Search::challenge(Candidate& best, Candidate& other, Verified verified) {
    try {
        if (verified == Verified::before && !is_right(other)) return std::nullopt;
        if (state_.is_busy && groups_of(other) == 1 && groups_of(best) > 1) return std::nullopt;
        ++tried_;
        const PairedTiming result = compare(best, other, state_.effort);
        if (verified == Verified::after && result.is_won(state_.min_gain) && !is_right(other))
            return std::nullopt;
        return result;
    } catch (const Error& error) {
        if (error.code() == ErrorCode::device_failed) throw;
        detail::log_info("tune: " + words_of(other) + ": " + error.what());
        return std::nullopt;
    }
}

// The tunables of the algorithm that the candidate's launch reads for this work.
std::vector<Tuning::Asked> Search::questions(Candidate& candidate) {
    std::vector<Tuning::Asked> asked, mine;
    use(candidate.rows, &asked);
    work_.call(stream_, harness_.operands().in, harness_.operands().out,
               Options{.variant = std::string(candidate.variant->name)});
    stream_.synchronize();
    use(candidate);
    for (const Tuning::Asked& a : asked) {
        if (a.tunable == nullptr || a.tunable->algorithm() != algorithm_ || !(a.point == point_)) continue;
        const bool known = std::any_of(mine.begin(), mine.end(),
                                       [&](const Tuning::Asked& m) { return m.tunable == a.tunable; });
        if (!known) mine.push_back(a);
    }
    return mine;
}

TuningRow Search::row_for(std::string what, std::string value) const {
    TuningRow row;
    row.what = std::move(what);
    row.value = std::move(value);
    row.type = point_.type;
    if (!find_algorithm(algorithm_)->tuning_label.empty()) row.label_first = row.label_last = point_.label;
    row.class_first = row.class_last = point_.size_class();
    return row;
}

// The row replaces others of the same name and comes last.
Candidate Search::with_row(const Candidate& from, const TuningRow& row) {
    Candidate other{from.rows, from.variant};
    std::erase_if(other.rows, [&](const TuningRow& r) { return r.what == row.what; });
    other.rows.push_back(row);
    return other;
}

std::string Search::words_of(const Candidate& candidate, Rows rows) const {
    std::string words;
    for (const TuningRow& row : candidate.rows) {
        if (rows == Rows::parameters && row.what == algorithm_) continue;
        if (std::find(start_.rows.begin(), start_.rows.end(), row) == start_.rows.end())
            words += (words.empty() ? "" : ", ") + row.what + " = " + row.value;
    }
    return words;
}

// --- Calls ----------------------------------------------------------------------------------------------------------

void Search::use(const std::vector<TuningRow>& rows, std::vector<Tuning::Asked>* asked) {
    set_tuning(harness_.device(), std::make_shared<const Tuning>(rows, "concord tune", asked));
}

void Search::use(Candidate& candidate) {
    if (!candidate.tuning) candidate.tuning = std::make_shared<const Tuning>(candidate.rows, "concord tune");
    set_tuning(harness_.device(), candidate.tuning);
}

bool Search::is_right(Candidate& candidate) {
    use(candidate);
    Enqueued run;
    Verdict verdict = harness_.run(*candidate.variant, [&] { run = harness_.call("auto"); });
    verdict.merge(harness_.verify_inputs());
    if (run.variant != candidate.variant->name) return false;  // the variant does not support the work
    if (verdict.difference) {
        const Difference& d = *verdict.difference;
        state_.wrong.push_back(
            suite_.name + " " + work_.title + " of " + size_name(work_.n) + " " +
            std::string(name_of(work_.type())) + ", " +
            (candidate.tuning == start_.tuning ? "the first choice" : words_of(candidate)) + ": element " +
            std::to_string(d.index) + ": expected " + d.expected + ", got " + d.got);
        return false;
    }
    return !verdict.no_bound;
}

// The largest number of groups of a launch.
u64 Search::groups_of(Candidate& candidate) {
    u64 most = 0;
    use(candidate);
    observe_launches(stream_, [&most](const Kernel&, const LaunchShape& shape) {
        most = std::max(most, shape.groups_x * shape.groups_y * shape.groups_z);
    });
    const Operands& at = rotation_->next();
    work_.call(stream_, at.in, at.out, Options{});
    observe_launches(stream_, {});
    stream_.synchronize();
    return most;
}

double Search::milliseconds(Candidate& candidate, u64 calls) {
    use(candidate);
    stream_.record(*begin_);
    for (u64 i = 0; i < calls; ++i) {
        const Operands& at = rotation_->next();
        work_.call(stream_, at.in, at.out, Options{});
    }
    stream_.record(*end_);
    stream_.synchronize();
    return end_->milliseconds_since(*begin_);
}

PairedTiming Search::compare(Candidate& holder, Candidate& challenger, const PairedEffort& effort) {
    return measure_paired([&](u64 calls) { return milliseconds(holder, calls); },
                          [&](u64 calls) { return milliseconds(challenger, calls); }, effort);
}

}  // namespace concord::lab
