#pragma once
/// Which samples a histogram's counters count: the binnings, each a text for the JIT compilers and a functor
/// for the host, which mean the same to the bit.

#include <concord/function.hpp>

#include <concepts>
#include <string>

namespace concord {

namespace detail {

/// An end of a range, as it was given: a whole number of up to 64 bits and a sign, or a double.
struct HistogramBound {
    bool whole = true;
    bool negative = false;
    u64 magnitude = 0;
    f64 value = 0;  ///< if it is not whole

    template <class N>
    static constexpr HistogramBound of(N n) {
        if constexpr (std::floating_point<N>) {
            return {false, false, 0, static_cast<f64>(n)};
        } else {
            const bool negative = n < N(0);
            return {true, negative, negative ? 0 - static_cast<u64>(n) : static_cast<u64>(n), 0};
        }
    }
    std::string name() const;
};

}  // namespace detail

/// How samples are put into bins 0 ... N-1; N is the number of counters.
class HistogramBins {
  public:
    enum class Kind : u8 { even, modulo, identity };

    /// N bins of one width over [lo, hi); what lies outside, and NaN, is not counted. Float samples: bin =
    /// min(N - 1, trunc((x - lo) * s)) with s = N / (hi - lo), where lo, hi, N and every result are rounded to
    /// the samples' type. Integer samples take whole bounds, which need not be of the samples' type: bin =
    /// floor((x - lo) * N / (hi - lo)), exactly.
    template <class L, class H>
    requires std::is_arithmetic_v<L> && std::is_arithmetic_v<H>
    static constexpr HistogramBins even(L lo, H hi) {
        HistogramBins bins(Kind::even);
        bins.lo_ = detail::HistogramBound::of(lo);
        bins.hi_ = detail::HistogramBound::of(hi);
        return bins;
    }
    /// Unsigned samples: bin = sample mod N.
    static constexpr HistogramBins modulo() { return HistogramBins(Kind::modulo); }
    /// Integer samples: the sample is its bin; outside [0, N) it is not counted.
    static constexpr HistogramBins identity() { return HistogramBins(Kind::identity); }

    constexpr Kind kind() const { return kind_; }
    constexpr const detail::HistogramBound& lo() const { return lo_; }
    constexpr const detail::HistogramBound& hi() const { return hi_; }

  private:
    constexpr explicit HistogramBins(Kind kind) : kind_(kind) {}

    Kind kind_;
    detail::HistogramBound lo_, hi_;
};

namespace detail::ops {

// What the functors return for a sample that is not counted: no bin has that number.
inline constexpr u32 no_bin = ~u32{0};
inline constexpr u64 no_wide_bin = ~u64{0};

template <class T>
using UnsignedOf =
    std::conditional_t<sizeof(T) == 1, u8,
                       std::conditional_t<sizeof(T) == 2, u16, std::conditional_t<sizeof(T) == 4, u32, u64>>>;
/// Integers are computed in 32 bits where they fit.
template <class T>
using Word = std::conditional_t<sizeof(T) == 8, u64, u32>;

__extension__ using u128 = unsigned __int128;

/// d * p / q for every d < 2^32, or 2^64, rounded down, without a division: d * whole + (d * fraction >> 64),
/// or 128, for the fraction of p / q rounded up to as many bits. With an error e / (2^64 q), e < q, what is
/// added is less than 1 / q, and so never reaches the next integer.
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

/// Even bins of floats. Bin: u32, for up to 2^30 bins, or u64.
template <class T, class Bin>
struct EvenFloat {
    T lo, hi, scale;
    Bin last;

    [[gnu::always_inline]] Bin operator()(T x) const {
        // Without branches, so that loops over it vectorise; what is not counted is none that the conversion could
        // not take.
        const bool counted = (x >= lo) & (x < hi);
        const T from = (counted ? x : lo) - lo;
        const auto bin = static_cast<Bin>(static_cast<std::make_signed_t<Bin>>(from * scale));
        return (bin < last ? bin : last) | (static_cast<Bin>(counted) - 1);
    }
};

/// Even bins of integers in a range of 2^32 at most, as wide each as a power of two. first: the least sample
/// that is counted; last: how far above it the last one is; ahead: how far above lo it is itself.
template <class T>
struct EvenShift {
    Word<T> first, last;
    u32 ahead, shift;

    [[gnu::always_inline]] u32 operator()(T x) const {
        const auto above = static_cast<UnsignedOf<T>>(static_cast<Word<T>>(x) - first);
        return above <= last ? (static_cast<u32>(above) + ahead) >> shift : no_bin;
    }
};

/// Even bins of integers in a range of 2^32 at most.
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

/// Even bins of integers in any range.
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

/// The remainder of samples of up to 32 bits by a number of bins of up to 30.
template <class T>
struct Modulo {
    u32 bins;
    Ratio32 one_by_bins;

    [[gnu::always_inline]] u32 operator()(T x) const {
        return static_cast<u32>(x) - one_by_bins.times(static_cast<u32>(x)) * bins;
    }
};

/// The remainder of any unsigned sample by any number of bins.
template <class T, class Bin>
struct ModuloWide {
    u64 bins;
    Ratio64 one_by_bins;

    [[gnu::always_inline]] Bin operator()(T x) const {
        return static_cast<Bin>(u64{x} - one_by_bins.times(u64{x}) * bins);
    }
};

/// The sample itself; negative ones become numbers that are no bin's.
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
