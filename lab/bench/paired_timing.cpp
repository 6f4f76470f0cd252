#include <concord/lab/internal/statistics.hpp>

#include <concord/lab/paired_timing.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace concord::lab {
namespace {

constexpr u64 min_rounds = 5, first_look = 7;
constexpr double hopeless = 3;

void bound(PairedTiming& result, std::vector<double> ratios) {
    std::sort(ratios.begin(), ratios.end());
    const Interval known = interval_of_median(ratios);
    result.ratio = quantile(ratios, 0.5);
    result.low = known.low;
    result.high = known.high;
}

}  // namespace

PairedTiming measure_paired(const BatchTime& holder, const BatchTime& challenger,
                            const PairedEffort& effort) {
    // Warm-up: the first calls find empty pools and sleeping threads.
    holder(1);
    challenger(1);
    double of_holder = holder(1), of_challenger = challenger(1);
    u64 calls = 1;
    while (of_holder < batch_ms && calls < max_calls) {
        const double wanted = of_holder > 0 ? static_cast<double>(calls) * batch_ms / of_holder * 1.2 : 1e9;
        calls = std::clamp(static_cast<u64>(std::min(wanted, 1e9)), calls + 1, max_calls);
        of_holder = holder(calls);
        of_challenger = challenger(std::max<u64>(1, calls / 8)) * static_cast<double>(calls) /
                        static_cast<double>(std::max<u64>(1, calls / 8));
    }
    PairedTiming result;
    if (of_challenger > hopeless * of_holder &&
        challenger(calls) > hopeless * std::max(of_holder, holder(calls))) {
        result.holder = timing_of({of_holder / static_cast<double>(calls)}, calls);
        result.challenger = timing_of({of_challenger / static_cast<double>(calls)}, calls);
        result.ratio = result.low = result.high = of_holder / of_challenger;
        return result;
    }
    std::vector<double> holders, challengers, ratios;
    double total = 0;
    while (ratios.size() < effort.max_rounds) {
        const bool holder_first = ratios.size() % 2 == 0;
        double times[2];
        for (const bool first : {true, false}) {
            const bool is_holder = first == holder_first;
            times[is_holder ? 0 : 1] = (is_holder ? holder : challenger)(calls);
        }
        total += times[0] + times[1];
        holders.push_back(times[0] / static_cast<double>(calls));
        challengers.push_back(times[1] / static_cast<double>(calls));
        ratios.push_back(times[1] > 0 ? times[0] / times[1] : 1);
        if (ratios.size() < min_rounds) continue;
        bound(result, ratios);
        if (total >= effort.max_ms) break;
        if (ratios.size() < first_look) continue;
        // Decided: the challenger is faster, or cannot become so.
        if (result.low >= effort.min_gain || result.high < 1 + (effort.min_gain - 1) / 2) break;
    }
    result.holder = timing_of(std::move(holders), calls);
    result.challenger = timing_of(std::move(challengers), calls);
    result.rounds = ratios.size();
    return result;
}

}  // namespace concord::lab
