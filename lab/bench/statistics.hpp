#pragma once
// Statistics of measurements.

#include <concord/lab/measure.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace concord::lab {

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

}  // namespace concord::lab
