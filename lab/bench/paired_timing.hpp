#pragma once
/// Which of two ways to do the same work is faster, on a machine that has other work too.

#include <concord/lab/measure.hpp>

namespace concord::lab {

/// How long to go on.
struct PairedEffort {
    double most_ms = 400;  ///< of what is timed, about; five rounds are made all the same
    u64 most_rounds = 61;
    double least_gain = 1.03;  ///< the question: whether the challenger is that many times as fast
};

/// What came out. A ratio is the holder's time over the challenger's, above 1 the challenger is faster.
struct PairedTiming {
    Timing holder, challenger;  ///< of a call
    double ratio = 0;           ///< the median of the rounds'
    double low = 0, high = 0;   ///< the median's 95 % confidence interval
    u64 rounds = 0;

    /// Whether the challenger is faster by what was asked, beyond noise.
    bool is_won(double least_gain) const { return ratio >= least_gain && low > 1 + (least_gain - 1) / 2; }
};

/// Milliseconds of so many calls, one after another.
using BatchTime = std::function<double(u64 calls)>;

/// The two take turns, holder first in one round and challenger first in the next, so that what slows the machine down for a
/// while slows both; each round gives a ratio. Ends as soon as the answer is beyond doubt. A challenger that takes more than
/// three times as long is not measured further.
PairedTiming measure_paired(const BatchTime& holder, const BatchTime& challenger, const PairedEffort& effort);

}  // namespace concord::lab
