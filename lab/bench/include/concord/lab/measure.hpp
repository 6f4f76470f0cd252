#pragma once
/// @file
/// Timing of calls: warm-up, batches, medians and quartiles.

#include <concord/stream.hpp>

#include <functional>

namespace concord::lab {

/// Time of a call over many repetitions.
struct Timing {
    double median = 0;          ///< milliseconds
    double first_quartile = 0;  ///< milliseconds
    double third_quartile = 0;  ///< milliseconds
    u64 repetitions = 0;        ///< number of measurements; each is the mean of `batch` calls
    u64 batch = 0;              ///< calls per measurement
};

/// How long to measure.
struct Effort {
    double min_ms = 50;    ///< minimum total of the measured times
    double max_ms = 1500;  ///< maximum total; at least three measurements are made
    double precision =
        0.005;  ///< ends when the half-width of the median's 95 % confidence interval is below this fraction
};

/// Device time of a call of f, which enqueues on the stream. Measured between two events after a warm-up.
Timing measure(Stream& stream, const std::function<void()>& f, const Effort& effort = {});

/// Host time of a call of f, which blocks until its work is complete. Measured after a warm-up.
Timing measure_blocking(const std::function<void()>& f, const Effort& effort = {});

/// Host time per call of `calls` consecutive calls of f, which enqueues on the stream, including one synchronize() at
/// the end. Measured three times after a warm-up.
Timing measure_calls(Stream& stream, const std::function<void()>& f, u64 calls);

}  // namespace concord::lab
