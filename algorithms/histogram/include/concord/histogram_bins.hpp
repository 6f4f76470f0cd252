#pragma once
/// @file
/// The built-in bins of histogram.
///
/// Each kind of bins exists as source for the JIT compilers and as a functor for the host. Both give bitwise
/// identical results.

#include <concord/function.hpp>

#include <concepts>
#include <memory>
#include <ranges>
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
    template <std::ranges::contiguous_range R>
    requires is_element<std::ranges::range_value_t<R>>
    static HistogramBins edges(const R& all) {
        using T = std::ranges::range_value_t<R>;
        static_assert(std::is_arithmetic_v<T>, "edges must be integers, f32 or f64");
        HistogramBins bins(Kind::edges);
        bins.edges_ = edges_of(type_of<T>(), std::ranges::data(all), std::ranges::size(all));
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

namespace detail::ops {

// The result of a functor for a sample that is not counted. No bin has this number.
inline constexpr u32 no_bin = ~u32{0};

template <class T>
using UnsignedOf =
    std::conditional_t<sizeof(T) == 1, u8,
                       std::conditional_t<sizeof(T) == 2, u16, std::conditional_t<sizeof(T) == 4, u32, u64>>>;
// Integers are computed in 32 bits where they fit.
template <class T>
using Word = std::conditional_t<sizeof(T) == 8, u64, u32>;

__extension__ using u128 = unsigned __int128;

// d * p / q for every d < 2^32 (Ratio32) or d < 2^64 (Ratio64), rounded down, without a division: d * whole + (d *
// fraction >> 64), or >> 128. fraction is the fractional part of p / q, rounded up to 64 or 128 bits. The rounding
// error e / (2^64 q), e < q, adds less than 1 / q to the result, so the result never reaches the next integer.
struct Ratio32 {
    u32 whole, high, low;

    [[gnu::always_inline]] u32 times(u32 d) const {
        return d * whole + static_cast<u32>((u64{d} * high + (u64{d} * low >> 32)) >> 32);
    }
};
struct Ratio64 {
    u64 whole, high, low;

    [[gnu::always_inline]] u64 times(u64 d) const {
        return d * whole + static_cast<u64>((u128{d} * high + static_cast<u64>(u128{d} * low >> 64)) >> 64);
    }
};

// Even bins of floats. Bin: u32 for up to 2^30 bins, else u64.
template <class T, class Bin>
struct EvenFloat {
    T lo, hi, scale;
    Bin last;

    [[gnu::always_inline]] Bin operator()(T x) const {
        // Without branches, so that loops vectorise. A sample that is not counted becomes lo, which every
        // conversion supports.
        const bool counted = (x >= lo) & (x < hi);
        const T from = (counted ? x : lo) - lo;
        const auto bin = static_cast<Bin>(static_cast<std::make_signed_t<Bin>>(from * scale));
        return (bin < last ? bin : last) | (static_cast<Bin>(counted) - 1);
    }
};

// Exact bins. F: type of the edges, E: type in which they are computed. G: type of a position in bins,
// (x - from) * scale, which is not exact. A sample whose position is less than `reach` from the middle of a bin is in
// that bin. One below the first middle is in the first bin, one above the last middle in the last. Others are compared
// with an edge. top: the middle of the last bin.
template <class T, class F, class E, class G>
struct ExactBins {
    using Bound = std::conditional_t<sizeof(T) == 8, F, T>;
    using Flags = std::conditional_t<sizeof(G) == 8, u64, u32>;  // of the size of G, so that loops vectorise
    E lo, step;
    G from, scale, reach, top;
    Bound low, high;  // the smallest counted sample and the largest

    // Without branches, so that loops vectorise. A sample that is not counted becomes the smallest one that is.
    //
    // The bin of a sample. Sets `unsure` if the position does not decide.
    [[gnu::always_inline]] u32 guess(T x, Flags& unsure) const {
        const bool counted = is_counted(x);
        const G at = position(counted ? static_cast<Bound>(x) : low);
        const i32 bin = static_cast<i32>(at);
        const G off = at - static_cast<G>(bin) - G(0.5);
        const bool sure = ((off < 0 ? -off : off) < reach) | (at < G(0.5));
        unsure |= sure ? Flags{0} : static_cast<Flags>(counted);
        return static_cast<u32>(bin) | (static_cast<u32>(counted) - 1);
    }
    [[gnu::always_inline]] u32 operator()(T x) const {
        const bool counted = is_counted(x);
        const Bound at = counted ? static_cast<Bound>(x) : low;
        const i32 bin = static_cast<i32>(position(at) - G(0.5)), last = static_cast<i32>(top);
        const i32 next =
            bin + (static_cast<F>(at) >= static_cast<F>(static_cast<E>(bin + 1) * step + lo) ? 1 : 0);
        return static_cast<u32>(next < last ? next : last) | (static_cast<u32>(counted) - 1);
    }
    // The position of a number, not limited.
    [[gnu::always_inline]] G raw_position(F x) const { return (static_cast<G>(x) - from) * scale; }

  private:
    [[gnu::always_inline]] bool is_counted(T x) const {
        return (static_cast<Bound>(x) >= low) & (static_cast<Bound>(x) <= high);
    }
    // At most the middle of the last bin. Above -0.5: conversions to integers are to zero.
    [[gnu::always_inline]] G position(Bound x) const {
        const G at = (static_cast<G>(x) - from) * scale;
        return at < top ? at : top;
    }
};

// Even bins of integers in a range of at most 2^32, if the width of a bin is a power of two. first: smallest
// counted sample; last: largest counted sample - first; ahead: first - lo.
template <class T>
struct EvenShift {
    Word<T> first, last;
    u32 ahead, shift;

    [[gnu::always_inline]] u32 operator()(T x) const {
        const auto above = static_cast<UnsignedOf<T>>(static_cast<Word<T>>(x) - first);
        return above <= last ? (static_cast<u32>(above) + ahead) >> shift : no_bin;
    }
};

// Even bins of integers in a range of at most 2^32. Fields as in EvenShift.
template <class T>
struct EvenRatio {
    Word<T> first, last;
    u32 ahead;
    Ratio32 bins_of_range;

    [[gnu::always_inline]] u32 operator()(T x) const {
        const auto above = static_cast<UnsignedOf<T>>(static_cast<Word<T>>(x) - first);
        return above <= last ? bins_of_range.times(static_cast<u32>(above) + ahead) : no_bin;
    }
};

// Even bins of integers in any range. Fields as in EvenShift.
template <class T, class Bin>
struct EvenWide {
    Word<T> first, last;
    u64 ahead;
    Ratio64 bins_of_range;

    [[gnu::always_inline]] Bin operator()(T x) const {
        const auto above = static_cast<UnsignedOf<T>>(static_cast<Word<T>>(x) - first);
        return above <= last ? static_cast<Bin>(bins_of_range.times(above + ahead))
                             : static_cast<Bin>(~Bin{0});
    }
};

// Remainder of samples of at most 32 bits for at most 2^30 bins.
template <class T>
struct Modulo {
    u32 bins;
    Ratio32 one_by_bins;

    [[gnu::always_inline]] u32 operator()(T x) const {
        return static_cast<u32>(x) - one_by_bins.times(static_cast<u32>(x)) * bins;
    }
};

// Remainder of any unsigned sample for any number of bins.
template <class T, class Bin>
struct ModuloWide {
    u64 bins;
    Ratio64 one_by_bins;

    [[gnu::always_inline]] Bin operator()(T x) const {
        return static_cast<Bin>(u64{x} - one_by_bins.times(u64{x}) * bins);
    }
};

// The sample itself. Negative samples become numbers that exceed every bin.
template <class T, class Bin>
struct Identity {
    [[gnu::always_inline]] Bin operator()(T x) const {
        if constexpr (sizeof(T) > sizeof(Bin)) {
            return static_cast<u64>(x) < no_bin ? static_cast<Bin>(x) : no_bin;
        } else {
            return static_cast<Bin>(x);
        }
    }
};

}  // namespace detail::ops
}  // namespace concord
