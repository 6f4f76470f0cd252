#pragma once
/// @file
/// Compares the times of two implementations of the same work on a machine that may have other load.

#include <concord/lab/measure.hpp>

namespace concord::lab {

/// How long to measure.
struct PairedEffort {
    double max_ms = 400;  ///< approximate maximum total of the measured times; at least five rounds are made
    u64 max_rounds = 61;  ///< maximum number of rounds
    double min_gain = 1.03;  ///< speed-up of the challenger to decide on
};

/// Result of a comparison. A ratio is time of the holder / time of the challenger; above 1 the challenger is faster.
struct PairedTiming {
    Timing holder;      ///< time of a call of the holder
    Timing challenger;  ///< time of a call of the challenger
    double ratio = 0;   ///< median of the rounds' ratios
    double low = 0;     ///< lower end of the median's 95 % confidence interval
    double high = 0;    ///< upper end of the median's 95 % confidence interval
    u64 rounds = 0;     ///< number of rounds

    /// Whether the challenger is faster by at least this factor, beyond noise.
    bool is_won(double min_gain) const { return ratio >= min_gain && low > 1 + (min_gain - 1) / 2; }
};

/// Runs this number of calls one after another and returns their total time in milliseconds.
using BatchTime = std::function<double(u64 calls)>;

/// Measures both in alternating order, so that other load slows both down. Each round gives a ratio. Ends as soon as
/// the decision is statistically clear. A challenger that is more than three times slower is not measured further.
/// Blocks.
PairedTiming measure_paired(const BatchTime& holder, const BatchTime& challenger, const PairedEffort& effort);

}  // namespace concord::lab
