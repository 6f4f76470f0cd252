// Calls of histogram.
#include "../api.hpp"

#include <algorithm>

namespace concord::fuzz {

template <class T>
static std::optional<u64> bin_of(T x, u64 kind, u64 n, int lo, int hi) {
    if constexpr (std::is_floating_point_v<T>) {
        const T low = static_cast<T>(lo), scale = static_cast<T>(n) / static_cast<T>(hi - lo);
        if (!(x >= low && x < static_cast<T>(hi))) return std::nullopt;
        return std::min(n - 1, static_cast<u64>((x - low) * scale));
    } else {
        const __int128 value = x;
        if (kind == 0) return static_cast<u64>(value % n);
        if (kind == 1) return value >= 0 && value < n ? std::optional(static_cast<u64>(value)) : std::nullopt;
        if (value < lo || value >= hi) return std::nullopt;
        return static_cast<u64>((value - lo) * n / (hi - lo));
    }
}

// The bin between edges, to which samples are converted.
template <class T, class F>
static std::optional<u64> bin_between(T x, const std::vector<F>& edges) {
    const F at = static_cast<F>(x);
    for (u64 b = 0; b + 1 < edges.size(); ++b) {
        const bool is_last = b + 2 == edges.size();
        if (at >= edges[b] && (at < edges[b + 1] || (is_last && at == edges[b + 1]))) return b;
    }
    return std::nullopt;
}

FUZZ_CALLS(histogram) {
    static constexpr Type counter_types[] = {Type::u16, Type::u32, Type::u64};
    const Type type = any_type();
    fill(type);
    const View in = range(type, elements(type, 4800)),
               counters = range(choices_.any(counter_types), choices_.below(70));
    const u64 n = counters.count;
    if (n == 0) outcome_ = Outcome::refused;
    no_overlap(in, counters);
    const bool is_unsigned = concord::is_unsigned(type);
    u64 kind = choices_.below(3);
    if (!choices_.one_in(16)) kind = std::max<u64>(kind, is_float(type) ? 2 : is_unsigned ? 0 : 1);
    if (kind == 0 && !is_unsigned) outcome_ = Outcome::refused;
    if (kind == 1 && is_float(type)) outcome_ = Outcome::refused;
    const int lo = -static_cast<int>(choices_.below(20)), hi = lo + static_cast<int>(choices_.below(200));
    if (kind == 2 && lo >= hi) outcome_ = Outcome::refused;
    HistogramBins bins = kind == 0   ? HistogramBins::modulo()
                         : kind == 1 ? HistogramBins::identity()
                                     : HistogramBins::even(lo, hi);
    std::vector<f64> edges;         // of exact bins, or given ones
    constexpr u64 max_bins = 4096;  // the counters of a call to refuse may be any number
    if (kind == 2 && lo < hi && n > 0 && n <= max_bins && choices_.one_in(2)) {
        const bool given = choices_.one_in(2);
        for (u64 i = 0; i <= n; ++i) {
            const f64 at = static_cast<f64>(i);
            edges.push_back(given    ? lo + at * at / 8
                            : i == n ? hi
                                     : at * (static_cast<f64>(hi - lo) / static_cast<f64>(n)) + lo);
        }
        bins = given ? HistogramBins::edges(edges) : HistogramBins::exact(lo, hi);
        // Exact edges have the type of float samples.
        if (!given && type == Type::f32)
            std::transform(edges.begin(), edges.end(), edges.begin(),
                           [](f64 e) { return static_cast<f32>(e); });
    }
    const Options asked = options(histogram_algorithm);
    machine_.run(
        outcome_, [&] { concord::histogram(stream(), in, counters, bins, asked); },
        [&](Bytes& to) {
            std::vector<u64> counts(n);
            with_type(type, [&](auto zero) {
                using T = decltype(zero);
                for (u64 i = 0; i < in.count; ++i) {
                    const T x = load<T>(before(), in, i);
                    const auto bin = edges.empty() ? bin_of(x, kind, n, lo, hi) : bin_between(x, edges);
                    if (bin) ++counts[*bin];
                }
            });
            with_type(counters.type, [&](auto zero) {
                using T = decltype(zero);
                for (u64 b = 0; b < n; ++b)
                    store(to, counters, b, static_cast<T>(counts[b]));
            });
        });
}

}  // namespace concord::fuzz
