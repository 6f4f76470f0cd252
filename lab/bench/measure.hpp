#pragma once
/// Times of what was verified before.

#include <concord/stream.hpp>

#include <functional>

namespace concord::lab {

/// Times of one call, over many repetitions.
struct Timing {
    double median = 0, first_quartile = 0, third_quartile = 0;  ///< milliseconds
    u64 repetitions = 0;  ///< measurements; each is the mean of `batch` calls
    u64 batch = 0;
};

/// How long to go on measuring.
struct Effort {
    double least_ms = 50,
           most_ms = 1500;  ///< of what is timed; a long call is timed three times all the same
    double precision =
        0.005;  ///< it ends once the median is known to this part of itself, with 95 % confidence
};

/// Device time of one call of f, which enqueues on the stream, between two events; after a warm-up.
Timing measure(Stream& stream, const std::function<void()>& f, const Effort& effort = {});

/// Host time of one call of f, which returns when its work is done; after a warm-up.
Timing measure_blocking(const std::function<void()>& f, const Effort& effort = {});

/// Host time of one of `calls` calls of f, which enqueues on the stream: they follow one another without waiting, and the last
/// one is waited for. Three times, after a warm-up.
Timing measure_calls(Stream& stream, const std::function<void()>& f, u64 calls);

}  // namespace concord::lab
