#include <concord/lab/internal/statistics.hpp>

#include <concord/lab/measure.hpp>

#include <concord/device.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

namespace concord::lab {
namespace {

constexpr double warm_ms = 10;                              // warm-up, until clock rates and pools are stable
constexpr u64 max_warm_ups = 100, max_repetitions = 20000;  // limits for a clock with a coarse resolution

// Whether the confidence interval of the median is narrow enough.
bool is_known(std::vector<double> times, double precision) {
    std::sort(times.begin(), times.end());
    const Interval known = interval_of_median(times);
    return (known.high - known.low) / 2 <= precision * quantile(times, 0.5);
}

// batch_of(calls): milliseconds of this number of calls.
template <class BatchOf>
Timing measure_batches(const Effort& effort, BatchOf batch_of) {
    Timing timing;
    timing.batch = 1;
    double took = batch_of(1), warmed = took;
    for (u64 i = 0; i < max_warm_ups; ++i) {
        const bool short_batch = took < batch_ms && timing.batch < max_calls;
        if (!short_batch && warmed >= warm_ms) break;
        if (short_batch) {
            const double wanted = took > 0 ? static_cast<double>(timing.batch) * batch_ms / took * 1.1 : 1e9;
            timing.batch = std::clamp(static_cast<u64>(std::min(wanted, 1e9)), timing.batch + 1, max_calls);
        }
        took = batch_of(timing.batch);
        warmed += took;
    }
    std::vector<double> times;
    double total = 0;
    for (std::size_t look = 5; times.size() < max_repetitions;) {
        took = batch_of(timing.batch);
        total += took;
        times.push_back(took / static_cast<double>(timing.batch));
        if (total >= effort.max_ms && times.size() >= 3) break;
        if (total < effort.min_ms || times.size() < look) continue;
        if (is_known(times, effort.precision)) break;
        look = times.size() + times.size() / 4 + 1;
    }
    return timing_of(std::move(times), timing.batch);
}

}  // namespace

Timing measure(Stream& stream, const std::function<void()>& f, const Effort& effort) {
    const auto begin = stream.device().create_event(), end = stream.device().create_event();
    return measure_batches(effort, [&](u64 calls) {
        stream.record(*begin);
        for (u64 i = 0; i < calls; ++i)
            f();
        stream.record(*end);
        stream.synchronize();
        return end->milliseconds_since(*begin);
    });
}

Timing measure_calls(Stream& stream, const std::function<void()>& f, u64 calls) {
    constexpr u64 rounds = 3, max_warm_up_calls = 1000;
    auto milliseconds_of = [&](u64 count) {
        const auto start = std::chrono::steady_clock::now();
        for (u64 i = 0; i < count; ++i)
            f();
        stream.synchronize();
        return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    };
    milliseconds_of(std::min(calls, max_warm_up_calls));
    std::vector<double> times;
    while (times.size() < rounds)
        times.push_back(milliseconds_of(calls) / static_cast<double>(calls));
    return timing_of(std::move(times), calls);
}

Timing measure_blocking(const std::function<void()>& f, const Effort& effort) {
    return measure_batches(effort, [&](u64 calls) {
        const auto start = std::chrono::steady_clock::now();
        for (u64 i = 0; i < calls; ++i)
            f();
        return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    });
}

}  // namespace concord::lab
