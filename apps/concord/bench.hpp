#pragma once
/// `concord bench`: verified, then timed.

#include "work_rig.hpp"

#include <map>
#include <string>

namespace concord::app {

/// Times of one call, over many repetitions.
struct Timing {
    double median = 0, first_quartile = 0, third_quartile = 0;  ///< milliseconds
    u64 repetitions = 0;  ///< measurements; each is the mean of `batch` calls
    u64 batch = 0;
};

/// Device time of one call of f, which enqueues on the stream.
Timing measure(Stream& stream, const std::function<void()>& f);

/// The rate of a device's own copies, as bytes read plus bytes written, for the ceiling of work that moves
/// `traffic` bytes. Measured once for each size.
class CopyRate {
  public:
    explicit CopyRate(Rig& rig) : rig_(rig) {}
    /// Bytes a second.
    double of(u64 traffic);

  private:
    Rig& rig_;
    std::map<u64, double> known_;
};

}  // namespace concord::app
