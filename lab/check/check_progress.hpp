#pragma once
// Cases done, their total and the time left, on a terminal.

#include <concord/lab/internal/status_line.hpp>

#include <concord/types.hpp>

#include <algorithm>
#include <chrono>

namespace concord::lab {

class CheckProgress {
  public:
    bool visible() const { return line_.visible(); }
    // Sets the number of cases and their weight, and starts the clock.
    void start(u64 cases, double weight) {
        planned_ = cases;
        weight_ = weight;
        start_ = Clock::now();
    }
    // Counts a case that has ended. `weight`: its share of the time.
    void end(double weight) {
        ++done_;
        done_weight_ += weight;
    }
    // Shows a line, but not more than ten a second. `what`: the case that has begun.
    void show(const std::string& what) {
        constexpr auto step = std::chrono::milliseconds(100);
        const auto now = Clock::now();
        if (now - drawn_ < step) return;
        drawn_ = now;
        const double seconds = std::chrono::duration<double>(now - start_).count();
        std::string text = std::to_string(done_) + " of " + std::to_string(planned_) + " cases";
        // An estimate from less is far off, because the first cases compile the kernels.
        constexpr double min_seconds = 1, min_share = 0.002;
        if (seconds >= min_seconds && done_weight_ > min_share * weight_)
            text += ", " + duration_name(seconds * std::max(0.0, weight_ - done_weight_) / done_weight_) +
                    " left";
        line_.show(text + ": " + what);
    }
    // Erases the line.
    void clear() {
        line_.clear();
        drawn_ = {};
    }
    u64 done() const { return done_; }
    u64 planned() const { return planned_; }

  private:
    using Clock = std::chrono::steady_clock;
    StatusLine line_;
    u64 planned_ = 0, done_ = 0;
    double weight_ = 0, done_weight_ = 0;
    Clock::time_point start_ = Clock::now(), drawn_ = {};
};

}  // namespace concord::lab
