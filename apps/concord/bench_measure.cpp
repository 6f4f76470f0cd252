#include "bench.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace concord::app {
namespace {

constexpr double batch_ms = 1;        // calls are timed in batches at least that long ...
constexpr u64 most_calls = 200;       // ... or of that many
constexpr double enough_ms = 200;     // measuring goes on that long
constexpr double too_long_ms = 5000;  // and ends here even with too few repetitions
constexpr u64 few_repetitions = 10, many_repetitions = 50;

double quantile(const std::vector<double>& sorted, double q) {
    const double at = q * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(at);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (sorted[above] - sorted[below]) * (at - static_cast<double>(below));
}

}  // namespace

Timing measure(Stream& stream, const std::function<void()>& f) {
    const auto begin = stream.device().create_event(), end = stream.device().create_event();
    auto batch_of = [&](u64 calls) {
        stream.record(*begin);
        for (u64 i = 0; i < calls; ++i)
            f();
        stream.record(*end);
        stream.synchronize();
        return end->milliseconds_since(*begin);
    };
    // Warm up until the length of a batch is known.
    Timing timing;
    timing.batch = 1;
    for (double took = batch_of(1);
         (took = batch_of(timing.batch)) < batch_ms && timing.batch < most_calls;) {
        const double wanted =
            took > 0 ? std::ceil(static_cast<double>(timing.batch) * batch_ms / took * 1.1) : 200.0;
        timing.batch =
            std::min(most_calls, std::max(timing.batch + 1, static_cast<u64>(std::min(wanted, 200.0))));
    }
    std::vector<double> times;
    double total = 0;
    u64 wanted = many_repetitions;
    while (times.size() < wanted || total < enough_ms) {
        const double took = batch_of(timing.batch);
        total += took;
        times.push_back(took / static_cast<double>(timing.batch));
        if (took > 4 * batch_ms) wanted = few_repetitions;
        if (total > too_long_ms && times.size() >= 3) break;
        if (times.size() >= 100000) break;  // a clock that stands still
    }
    std::sort(times.begin(), times.end());
    timing.median = quantile(times, 0.5);
    timing.first_quartile = quantile(times, 0.25);
    timing.third_quartile = quantile(times, 0.75);
    timing.repetitions = times.size();
    return timing;
}

double CopyRate::of(u64 traffic) {
    const u64 bytes = std::max<u64>(64, traffic / 2 / 64 * 64);
    const auto [it, is_new] = known_.try_emplace(bytes, 0.0);
    if (!is_new) return it->second;
    Stream& stream = rig_.stream();
    const auto from = rig_.device().allocate(bytes, &stream), to = rig_.device().allocate(bytes, &stream);
    const u64 pattern = 0x0123456789abcdef;
    for (const auto& buffer : {from, to})
        stream.fill(*buffer, 0, bytes, &pattern, sizeof pattern);
    const Timing timing = measure(stream, [&] { stream.copy(*to, 0, *from, 0, bytes); });
    it->second = 2 * static_cast<double>(bytes) / (timing.median * 1e-3);
    return it->second;
}

}  // namespace concord::app
