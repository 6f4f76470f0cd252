#pragma once
// Statistics of measurements.

#include <concord/lab/measure.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace concord::lab {

inline constexpr double batch_ms = 1;  // minimum time of a batch of calls ...
inline constexpr u64 max_calls = 200;  // ... unless it has this many calls

// Interpolates between the two nearest values.
inline double quantile(const std::vector<double>& sorted, double q) {
    const double at = q * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(at);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (sorted[above] - sorted[below]) * (at - static_cast<double>(below));
}

struct Interval {
    double low, high;
};

// The median's 95 % confidence interval for any distribution: the order statistics at n/2 -+ 0.98 sqrt(n).
inline Interval interval_of_median(const std::vector<double>& sorted) {
    const double n = static_cast<double>(sorted.size()), reach = 0.98 * std::sqrt(n);
    return {sorted[static_cast<std::size_t>(std::max(0.0, n / 2 - reach))],
            sorted[std::min(sorted.size() - 1, static_cast<std::size_t>(n / 2 + reach))]};
}

inline Timing timing_of(std::vector<double> times, u64 batch) {
    std::sort(times.begin(), times.end());
    return {quantile(times, 0.5), quantile(times, 0.25), quantile(times, 0.75), times.size(), batch};
}

inline double per_second(u64 amount, const Timing& t) {
    return static_cast<double>(amount) / (t.median * 1e-3);
}

}  // namespace concord::lab
