#pragma once
/// @file
/// The built-in bins of histogram.

#include <concord/function.hpp>

#include <concepts>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace concord {

namespace detail {

// One end of a range as the caller gave it: a whole number of 64 bits and a sign, or a double.
struct HistogramBound {
    bool whole = true;
    bool negative = false;
    u64 magnitude = 0;
    f64 value = 0;  // the number, if it is not whole

    template <class N>
    static constexpr HistogramBound of(N n) {
        if constexpr (std::floating_point<N>) {
            return {.whole = false, .value = static_cast<f64>(n)};
        } else {
            const bool negative = n < N(0);
            return {.whole = true,
                    .negative = negative,
                    .magnitude = negative ? 0 - static_cast<u64>(n) : static_cast<u64>(n)};
        }
    }
    std::string name() const;
    bool operator==(const HistogramBound&) const = default;
};

// Edges that the caller gave. bytes: in the type of the comparison, i32 for integers of less than 32 bits.
struct HistogramEdges {
    Type type;
    u64 count;
    std::vector<std::byte> bytes;
};

}  // namespace detail

/// Rule that assigns samples to the bins 0 ... N-1, where N is the number of counters.
class HistogramBins {
  public:
    /// Kind of rule.
    enum class Kind : u8 {
        even,     ///< bins of equal width over a range
        exact,    ///< bins of equal width whose edges are rounded numbers
        edges,    ///< bins between given edges
        modulo,   ///< remainder of the sample by N
        identity  ///< the sample itself
    };

    /// N bins of equal width over [lo, hi). Samples outside the range, and NaN, are not counted.
    ///
    /// Float samples: bin = min(N - 1, trunc((x - lo) * s)) with s = N / (hi - lo), where lo, hi, N and every
    /// result are rounded to the samples' type. Integer samples: bin = floor((x - lo) * N / (hi - lo)) exactly.
    /// They require whole bounds, which may lie outside the samples' type.
    template <class L, class H>
    requires std::is_arithmetic_v<L> && std::is_arithmetic_v<H>
    static HistogramBins even(L lo, H hi) { return over(Kind::even, lo, hi); }
    /// N bins of equal width over [lo, hi] by their edges e_i, as in NumPy: bin i counts e_i <= x < e_(i+1), the last
    /// bin also x == e_N. Other samples, and NaN, are not counted.
    ///
    /// Edges: s = (hi - lo) / N, e_i = i * s + lo, e_N = hi, each operation in f64, or in f32 if lo and hi are f32.
    /// Float samples are compared with edges that are rounded to their type, integers as f64 with f64 edges. The edges
    /// must ascend: N may be too large for the range. At most 2^30 bins. Requires f64 on the device, except for f32
    /// samples with f32 bounds. One read per sample. Samples within a rounding error of an edge cost more arithmetic.
    /// The first call of a thread with other arguments compares all edges on the host, in about 3 ns each. With f32
    /// samples and more than 2^21 bins every call makes edges() of them.
    template <class L, class H>
    requires std::is_arithmetic_v<L> && std::is_arithmetic_v<H>
    static HistogramBins exact(L lo, H hi) {
        HistogramBins bins = over(Kind::exact, lo, hi);
        bins.single_ = std::is_same_v<L, f32> && std::is_same_v<H, f32>;
        return bins;
    }
    /// The bins between N + 1 edges: bin i counts e_i <= x < e_(i+1), the last bin also x == e_N. Other samples, and
    /// NaN, are not counted. Edges have the samples' type, or they are f64, and samples are compared as f64. The edges
    /// must not descend. Copies them, which takes 1 to 10 ns per edge, once for all calls with this object. A bin
    /// between equal edges is empty, unless it is the last one.
    ///
    /// At most 2^30 bins. Each call copies the edges to the device, and a launch of its own finds the bins by binary
    /// search: it writes 4 bytes of scratch memory per sample, which a variant then counts. Throws invalid_argument.
    template <class R>
    requires is_element<std::remove_cvref_t<decltype(*std::data(std::declval<const R&>()))>>
    static HistogramBins edges(const R& all) {
        using T = std::remove_cvref_t<decltype(*std::data(all))>;
        static_assert(std::is_arithmetic_v<T>, "edges must be integers, f32 or f64");
        HistogramBins bins(Kind::edges);
        bins.edges_ = edges_of(type_of<T>(), std::data(all), std::size(all));
        return bins;
    }
    /// Unsigned samples: bin = sample mod N.
    static HistogramBins modulo() { return HistogramBins(Kind::modulo); }
    /// Integer samples: bin = sample. Samples outside [0, N) are not counted.
    static HistogramBins identity() { return HistogramBins(Kind::identity); }

    /// Kind of this rule.
    Kind kind() const { return kind_; }
    /// Lower end of even and exact bins; for the library.
    const detail::HistogramBound& lo() const { return lo_; }
    /// Upper end of even and exact bins; for the library.
    const detail::HistogramBound& hi() const { return hi_; }
    /// Whether the edges of exact bins are computed in f32; for the library.
    bool single() const { return single_; }
    /// The given edges, or null; for the library.
    const detail::HistogramEdges* edges() const { return edges_.get(); }

  private:
    explicit HistogramBins(Kind kind) : kind_(kind) {}
    template <class L, class H>
    static HistogramBins over(Kind kind, L lo, H hi) {
        HistogramBins bins(kind);
        bins.lo_ = detail::HistogramBound::of(lo);
        bins.hi_ = detail::HistogramBound::of(hi);
        return bins;
    }
    static std::shared_ptr<const detail::HistogramEdges> edges_of(Type type, const void* all, u64 count);

    Kind kind_;
    bool single_ = false;
    detail::HistogramBound lo_, hi_;
    std::shared_ptr<const detail::HistogramEdges> edges_;
};

}  // namespace concord
