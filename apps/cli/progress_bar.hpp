#pragma once
// A progress bar.

#include <concord/types.hpp>

#include <chrono>
#include <string>

namespace concord::app {

// Shows progress, rate and remaining time in one line on stderr, if stderr is a terminal and the work takes more than
// 0.3 s. The destructor erases the line.
class ProgressBar {
  public:
    ProgressBar(std::string what, u64 bytes);
    ~ProgressBar();
    ProgressBar(const ProgressBar&) = delete;
    ProgressBar& operator=(const ProgressBar&) = delete;

    // Sets the number of bytes that are done.
    void at(u64 done);

  private:
    using Clock = std::chrono::steady_clock;
    std::string what_;
    u64 bytes_;
    bool on_;
    bool shown_ = false;
    Clock::time_point start_ = Clock::now(), drawn_ = start_;
};

}  // namespace concord::app
