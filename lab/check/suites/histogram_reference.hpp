#pragma once
// Reference of histogram in plain loops, and inputs with samples on the edges of bins.

#include <concord/lab/compare.hpp>
#include <concord/lab/suite.hpp>

#include <concord/detail/float_environment.hpp>
#include <concord/histogram.hpp>
#include <concord/internal/host_threads.hpp>
#include <concord/internal/once.hpp>

#include <algorithm>
#include <mutex>

namespace concord::lab {

__extension__ using i128 = __int128;

// Number of samples in each bin, as u64.
struct Reference {
    Input input;
    u64 bins = 0;
    // Counts n samples into `counts`.
    std::function<void(std::span<const std::byte> samples, u64 n, std::vector<u64>& counts)> add;

    const std::vector<u64>& counts() {
        once_.call([&] { count(); });
        return counts_;
    }

  private:
    // Each thread counts a piece into its own table.
    void count() {
        counts_.assign(bins, 0);
        constexpr u64 step = u64{1} << 18;
        const u64 threads = detail::host_threads();
        std::mutex mutex;
        parallel_pieces(input.count, std::max(step, input.count / threads + 1), [&](u64 first, u64 n) {
            std::vector<u64> mine(bins, 0);
            std::vector<std::byte> scratch;
            for (u64 at = 0; at < n; at += step) {
                const u64 some = std::min(step, n - at);
                add(input.piece(first + at, some, scratch), some, mine);
            }
            const std::lock_guard lock(mutex);
            for (u64 b = 0; b < bins; ++b)
                counts_[b] += mine[b];
        });
    }

    detail::Once once_;
    std::vector<u64> counts_;
};

// `bin` returns the bin of a sample as i128. Samples outside [0, bins) are not counted.
template <class T, class Bin>
std::shared_ptr<Reference> reference_of(const Input& input, u64 bins, Bin bin) {
    auto reference = std::make_shared<Reference>();
    reference->input = input;
    reference->bins = bins;
    reference->add = [bins, bin](std::span<const std::byte> samples, u64 n, std::vector<u64>& counts) {
        for (u64 i = 0; i < n; ++i) {
            const i128 b = bin(element<T>(samples, i));
            if (b >= 0 && b < static_cast<i128>(bins)) ++counts[static_cast<u64>(b)];
        }
    };
    return reference;
}

template <class C>
void verify(Reference& reference, u64 first, std::span<const std::byte> got, Verdict& verdict) {
    const std::vector<u64>& counts = reference.counts();
    for (u64 i = 0; i * sizeof(C) < got.size(); ++i) {
        const u64 count = counts[first + i];
        // u16 counters saturate, u32 counters wrap.
        const C expected = sizeof(C) == 2 && count > 65535 ? static_cast<C>(65535) : static_cast<C>(count);
        if (element<C>(got, i) != expected)
            return verdict.differ(difference_of(first + i, expected, element<C>(got, i)));
    }
}

inline Work work_of(std::string title, Type counter, const std::shared_ptr<Reference>& reference) {
    Work work;
    work.algorithm = "histogram";
    work.title = std::move(title);
    work.inputs = {reference->input};
    work.n = reference->input.count;
    work.outputs = {{counter, reference->bins}};
    work.traffic = work.bytes();
    work.in_place = false;
    work.verify = [reference, counter](const Variant&, std::size_t, u64 first, std::span<const std::byte> got,
                                       Verdict& verdict) {
        if (counter == Type::u16) return verify<u16>(*reference, first, got, verdict);
        if (counter == Type::u32) return verify<u32>(*reference, first, got, verdict);
        verify<u64>(*reference, first, got, verdict);
    };
    return work;
}

inline Work binned_work(std::string title, Type counter, const std::shared_ptr<Reference>& reference,
                        const HistogramBins& bins) {
    Work work = work_of(std::move(title), counter, reference);
    work.call = [bins](Stream& stream, std::span<const View> in, std::span<const View> out,
                       const Options& options) { return histogram(stream, in[0], out[0], bins, options); };
    return work;
}

// Even bins of floats, each operation rounded to T: "bin = min(N - 1, trunc((x - LO) * s)), s = N / (HI - LO)".
template <class T>
i128 even_bin(T x, T lo, T hi, u64 bins) {
    if (!(x >= lo) || !(x < hi)) return -1;
    const T scale = static_cast<T>(bins) / (hi - lo);
    const T from = x - lo;
    const T place = std::trunc(from * scale);
    return place >= static_cast<T>(bins)
               ? static_cast<i128>(bins) - 1
               : std::min<i128>(static_cast<i128>(bins) - 1, static_cast<i128>(place));
}

template <class T>
Work even_float(std::string title, Type counter, const Input& input, u64 bins, T lo, T hi) {
    return binned_work(std::move(title), counter,
                       reference_of<T>(input, bins, [=](T x) { return even_bin(x, lo, hi, bins); }),
                       HistogramBins::even(lo, hi));
}

// Even bins of integers: "bin = floor((x - LO) * N / (HI - LO)) without rounding error".
template <class T, class B>
Work even_integer(std::string title, Type counter, const Input& input, u64 bins, B lo, B hi) {
    __extension__ using u128 = unsigned __int128;
    const i128 low = lo, high = hi;
    const u64 range = static_cast<u64>(high - low);
    return binned_work(std::move(title), counter,
                       reference_of<T>(input, bins,
                                       [=](T x) -> i128 {
                                           const i128 sample = x;
                                           if (sample < low || sample >= high) return -1;
                                           const u64 from = static_cast<u64>(sample - low);
                                           return static_cast<i128>(u128{from} * bins / range);
                                       }),
                       HistogramBins::even(lo, hi));
}

// The bin between edges: "bin i counts e_i <= x < e_(i+1), the last one also x = eN". F: type of the edges.
template <class F>
i128 bin_between(const std::vector<F>& edges, F x) {
    if (!(x >= edges.front()) || !(x <= edges.back())) return -1;
    const auto bins = static_cast<i128>(edges.size()) - 1;
    return std::min<i128>(bins - 1, std::upper_bound(edges.begin(), edges.end(), x) - edges.begin() - 1);
}

// Edges of exact bins: "s = (HI - LO) / N, e_i = i * s + LO, e_N = HI, each operation in E, then rounded to F".
template <class F, class E>
std::vector<F> exact_edges(u64 bins, E lo, E hi) {
    return detail::in_default_float_environment([&] {
        std::vector<F> edges(bins + 1);
        const E step = (hi - lo) / static_cast<E>(bins);
        for (u64 i = 0; i < bins; ++i) {
            const E distance = static_cast<E>(i) * step;
            edges[i] = static_cast<F>(distance + lo);
        }
        edges[bins] = static_cast<F>(hi);
        return edges;
    });
}

// Samples of T between edges of F.
template <class T, class F>
Work between_work(std::string title, Type counter, const Input& input, const std::vector<F>& edges,
                  const HistogramBins& bins) {
    return binned_work(
        std::move(title), counter,
        reference_of<T>(input, edges.size() - 1, [=](T x) { return bin_between(edges, static_cast<F>(x)); }),
        bins);
}

// Samples: the first half well inside of bins, the others on edges and next to them; and some that are not counted.
// The last quarter has runs of one value: a block that is computed again for one sample hides faults of the others.
template <class T, class F>
Input around(u64 n, u64 seed, const std::vector<F>& edges) {
    Input input{type_of<T>(), n, Pattern::random, seed};
    input.custom = [=](u64 i, u64 bits) {
        using L = std::numeric_limits<T>;
        if (i >= n - n / 4) bits = (i / 512 + 1) * 0x9e3779b97f4a7c15;
        const u64 k = (bits >> 8) % (edges.size() - 1);
        const bool inside = i < n / 2, outside = bits >> 58 == 63;
        const f64 width = static_cast<f64>(edges[k + 1]) - static_cast<f64>(edges[k]),
                  part = inside ? 0.25 + 0.5 * static_cast<f64>(bits >> 40 & 255) / 255 : 0;
        T x{};
        if constexpr (std::is_floating_point_v<T>) {
            x = static_cast<T>(static_cast<f64>(edges[bits >> 57 == 0 ? edges.size() - 1 : k]) +
                               part * width);
            if (!inside && bits >> 62 == 1) x = std::nextafter(x, -L::infinity());
            if (!inside && bits >> 62 == 2) x = std::nextafter(x, L::infinity());
            if (outside) x = L::quiet_NaN();
        } else {
            const f64 most = static_cast<f64>(L::max() / 2), least = static_cast<f64>(L::min() / 2);
            x = static_cast<T>(std::clamp(static_cast<f64>(edges[k]) + part * width, least, most));
            if (!inside) x = static_cast<T>(x + static_cast<T>(bits >> 62) - 1);
            if (outside) x = L::max();
        }
        u64 result = 0;
        std::memcpy(&result, &x, sizeof x);
        return result;
    };
    return input;
}

template <class T>
Work modulo_work(Type counter, const Input& input, u64 bins) {
    return binned_work("modulo" + std::to_string(bins), counter,
                       reference_of<T>(input, bins, [=](T x) { return static_cast<i128>(u64{x} % bins); }),
                       HistogramBins::modulo());
}

template <class T>
Work identity_work(Type counter, const Input& input, u64 bins) {
    return binned_work("identity" + std::to_string(bins), counter,
                       reference_of<T>(input, bins, [](T x) { return static_cast<i128>(x); }),
                       HistogramBins::identity());
}

// A user's function. The host compiler's version of it is the reference.
template <class T, class C, class F>
Work user_work(const char* title, const Input& input, u64 bins, const F& f) {
    Work work = work_of(title, type_of<C>(),
                        reference_of<T>(input, bins, [f](T x) { return static_cast<i128>(f(x)); }));
    work.call = [f](Stream& stream, std::span<const View> in, std::span<const View> out,
                    const Options& options) {
        return histogram(stream, Span<T>(in[0]), Span<C>(out[0]), f, options);
    };
    return work;
}

// Samples on the edges of even bins, one unit in the last place next to them, and outside the range.
template <class T>
Input edges(u64 n, u64 seed, u64 bins, T lo, T hi) {
    Input input{type_of<T>(), n, Pattern::random, seed};
    input.custom = [=](u64, u64 bits) {
        const u64 edge = bits % (bins + 1);
        T x{};
        if constexpr (std::is_floating_point_v<T>) {
            x = lo + static_cast<T>(edge) * ((hi - lo) / static_cast<T>(bins));
            constexpr T infinity = std::numeric_limits<T>::infinity();
            switch (bits >> 60) {
                case 0:
                case 1:
                    x = std::nextafter(x, -infinity);
                    break;
                case 2:
                case 3:
                    x = std::nextafter(x, infinity);
                    break;
                case 4:
                    x = std::nextafter(hi, (bits >> 59 & 1) != 0 ? infinity : -infinity);
                    break;
                case 5:
                    x = std::nextafter(lo, (bits >> 59 & 1) != 0 ? infinity : -infinity);
                    break;
                case 6:
                    x = (bits >> 59 & 1) != 0 ? lo : hi;
                    break;
                default:
                    break;
            }
        } else {
            // The first sample of the bin, the last sample of the bin before, and their neighbours.
            const i128 range = static_cast<i128>(hi) - static_cast<i128>(lo);
            x = static_cast<T>(static_cast<i128>(lo) +
                               (range * static_cast<i128>(edge) + static_cast<i128>(bins) - 1) /
                                   static_cast<i128>(bins) +
                               static_cast<i128>(bits >> 62) - 2);
        }
        u64 result = 0;
        std::memcpy(&result, &x, sizeof x);
        return result;
    };
    return input;
}

// Integers in [lo, lo + range).
template <class T>
Input within(Input input, T lo, u64 range) {
    const Pattern pattern = input.pattern;
    const u64 count = input.count;
    input.custom = [=](u64 i, u64 bits) {
        __extension__ using u128 = unsigned __int128;
        u64 x = static_cast<u64>(u128{bits} * range >> 64);
        if (pattern == Pattern::constant) x = range / 3;
        if (pattern == Pattern::skewed && bits % 128 != 0) x = range / 3;
        if (pattern == Pattern::sorted) x = static_cast<u64>(u128{range} * i / count);
        return static_cast<u64>(lo) + x;
    };
    return input;
}

}  // namespace concord::lab
