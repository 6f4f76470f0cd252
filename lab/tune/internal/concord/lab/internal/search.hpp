#pragma once
// Searches for the fastest variant and launch parameters of one piece of work on one device.
//
// Every variant that `auto` may choose is verified and timed against the best so far. Coordinate descent then changes
// the tunables that its launch reads. Calls of the best and of a candidate alternate (paired_timing.hpp), and a
// candidate wins only if it is faster beyond the noise. A candidate with a wrong result never wins: a variant is
// verified before it is timed, a tunable's value when it is faster.

#include <concord/lab/harness.hpp>
#include <concord/lab/paired_timing.hpp>
#include <concord/lab/rotation.hpp>
#include <concord/tuning.hpp>

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace concord::lab {

// Rows of a tuning table, and the variant that `auto` chooses with them.
struct Candidate {
    std::vector<TuningRow> rows = {};
    const Variant* variant = nullptr;
    std::shared_ptr<const Tuning> tuning = {};  // of the rows, created at the first use
};

// How long and how widely to search. Searches for several pieces of work on one device share it.
struct SearchState {
    using Clock = std::chrono::steady_clock;

    PairedEffort effort = {};
    double min_gain = 1.03;  // smallest speed-up of a candidate that wins
    int max_turns = 2;       // of the coordinate descent
    // Coordinate descent also begins from variants that take at most this factor of the fastest variant's time.
    double descend_within = 1;
    // Candidates with a single group are skipped, because they look faster than they are if other processes use the
    // threads.
    bool is_busy = false;
    Clock::time_point ends = Clock::time_point::max();  // no further candidates after that time

    std::set<std::string> hopeless =
        {};  // workload, type and variant: more than three times slower, skipped since
    std::vector<std::string> wrong = {};  // candidates with wrong results, in words
};

// At the end the device uses its own table again.
class TableOfDevice {
  public:
    explicit TableOfDevice(Device& device) : device_(device) {}
    ~TableOfDevice();
    TableOfDevice(const TableOfDevice&) = delete;
    TableOfDevice& operator=(const TableOfDevice&) = delete;

  private:
    Device& device_;
};

// The search for one piece of work.
class Search {
  public:
    // Loads the work. All arguments must outlive the search, which no other work may disturb. Throws unsupported if
    // `auto` reads no table for the call, device_failed if its result is wrong. Blocks.
    // in_use: the table that `auto` uses at the beginning; null for none. Candidates change Concord's defaults, not it.
    Search(Harness& harness, const Suite& suite, const Work& work, SearchState& state,
           const std::shared_ptr<const Tuning>& in_use = nullptr);

    // What `auto` chooses at the beginning.
    Candidate& start() { return start_; }
    // The key of the call's look-ups, and the algorithm in rows.
    const TuningPoint& point() const { return point_; }
    const std::string& algorithm() const { return algorithm_; }
    // The number of measured candidates.
    u64 tried() const { return tried_; }

    // Searches. Rows that it adds apply to the size class of this work. Blocks.
    Candidate fastest();
    // Whether `auto` chooses the candidate's variant with its rows, and the result is correct. Notes wrong results.
    bool is_right(Candidate& candidate);
    // Device time of this number of calls.
    double milliseconds(Candidate& candidate, u64 calls);
    PairedTiming compare(Candidate& holder, Candidate& challenger, const PairedEffort& effort);
    // The rows that the candidate adds: "sort = radix8, sort.chunks = 4".
    enum class Rows { all, parameters };  // parameters: without the choice of the variant
    std::string words_of(const Candidate& candidate, Rows rows = Rows::all) const;

  private:
    enum class Verified : u8 { before, after, already };

    bool is_late() const { return SearchState::Clock::now() > state_.ends; }
    Candidate descended(Candidate from);
    bool climb(Candidate& best, const Tuning::Asked& asked);
    bool walk(Candidate& best, const Tuning::Asked& asked, const std::vector<u64>& values);
    bool step(Candidate& best, const Tuning::Asked& asked, u64 value);
    std::optional<PairedTiming> challenge(Candidate& best, Candidate& other, Verified verified);
    std::vector<Tuning::Asked> questions(Candidate& candidate);
    TuningRow row_for(std::string what, std::string value) const;
    static Candidate with_row(const Candidate& from, const TuningRow& row);
    void use(Candidate& candidate);
    void use(const std::vector<TuningRow>& rows, std::vector<Tuning::Asked>* asked);
    u64 groups_of(Candidate& candidate);

    Harness& harness_;
    const Suite& suite_;
    const Work& work_;
    SearchState& state_;
    Stream& stream_;
    TableOfDevice restored_;
    std::optional<Rotation> rotation_;
    TuningPoint point_;
    std::string algorithm_;
    Candidate start_;
    u64 tried_ = 0;
    std::shared_ptr<Event> begin_, end_;
};

}  // namespace concord::lab
