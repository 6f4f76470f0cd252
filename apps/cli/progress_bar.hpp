#pragma once
/// A progress bar.

#include <concord/types.hpp>

#include <chrono>
#include <string>

namespace concord::app {

/// One line on stderr with how much is done, the rate and the time left, if stderr is a terminal and the work takes longer
/// than a moment. It is gone when this is.
class ProgressBar {
  public:
    ProgressBar(std::string what, u64 bytes);
    ~ProgressBar();
    ProgressBar(const ProgressBar&) = delete;
    ProgressBar& operator=(const ProgressBar&) = delete;

    /// So many of the bytes are done.
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
