#include "histogram_builtin.hpp"

#include <concord/detail/float_environment.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace concord::detail {

std::string HistogramBound::name() const {
    if (whole) return (negative ? "-" : "") + std::to_string(magnitude);
    char text[40];
    const auto [end, error] = std::to_chars(text, text + sizeof text, value);  // the shortest representation
    return {text, end};
}

namespace {

__extension__ using i128 = __int128;
__extension__ using u128 = unsigned __int128;

[[noreturn]] void refuse(const std::string& why) {
    throw Error(ErrorCode::invalid_argument, "histogram", why);
}

std::string range_name(const HistogramBins& bins) {
    return "from " + bins.lo().name() + " to " + bins.hi().name();
}

// The fraction p / q < 1 in 64 bits, rounded down. p becomes the remainder.
u64 fraction(u64& p, u64 q) {
    const u128 shifted = u128{p} << 64;
    p = static_cast<u64>(shifted % q);
    return static_cast<u64>(shifted / q);
}

// p / q in the form that the functions multiply by.
template <class W>
struct Ratio {
    W whole, high, low;
};
Ratio<u32> ratio_32_of(u64 p, u64 q) {
    u64 rest = p % q;
    u64 part = fraction(rest, q);
    part += rest != 0;
    return {static_cast<u32>(p / q), static_cast<u32>(part >> 32), static_cast<u32>(part)};
}
Ratio<u64> ratio_64_of(u64 p, u64 q) {
    u64 rest = p % q;
    u64 high = fraction(rest, q), low = fraction(rest, q);
    low += rest != 0;
    high += rest != 0 && low == 0;
    return {p / q, high, low};
}

template <class T>
T float_bound(const HistogramBound& bound) {
    if (!bound.whole) return static_cast<T>(bound.value);
    return bound.negative ? -static_cast<T>(bound.magnitude) : static_cast<T>(bound.magnitude);
}

template <class T>
ResolvedBins even_floats(const HistogramBins& bins, u64 count) {
    const T lo = float_bound<T>(bins.lo()), hi = float_bound<T>(bins.hi());
    const auto type = [] { return std::string(name_of(type_of<T>())); };
    if (!std::isfinite(lo) || !std::isfinite(hi))
        refuse("range must have finite ends in " + type() + ", got " + range_name(bins) +
               "; pass finite bounds");
    if (!(lo < hi)) refuse("range is empty in " + type() + ", got " + range_name(bins) + "; pass lo < hi");
    const T scale = static_cast<T>(count) / (hi - lo);
    if (!std::isfinite(hi - lo) || !std::isfinite(scale))
        refuse(std::string("range is too ") + (std::isfinite(hi - lo) ? "narrow" : "wide") + " for " +
               type() + ", got " + range_name(bins) + " with " + std::to_string(count) +
               " bins; hi - lo and bins / (hi - lo) must be finite");
    if (count > max_narrow_bins) return resolved<even_function, T, T, u64, i64>(lo, hi, scale, count - 1);
    return resolved<even_function, T, T, u32, i32>(lo, hi, scale, static_cast<u32>(count - 1));
}

// No sample of T is in the range.
template <class T>
ResolvedBins nothing_of() {
    ResolvedBins none = resolved<identity_function, T, T, Word<T>, u32>();
    none.nothing = true;
    return none;
}

// The largest finite number below x.
template <class F>
F before(F x) {
    using Bits = std::conditional_t<sizeof(F) == 4, u32, u64>;
    if (x == 0) return -std::numeric_limits<F>::denorm_min();
    return std::bit_cast<F>(std::bit_cast<Bits>(x) + (x < 0 ? Bits{1} : ~Bits{0}));
}

// Exact bins of T. E: type in which the edges are computed.
template <class T, class E>
struct ExactRange {
    using F = std::conditional_t<std::is_floating_point_v<T>, T, f64>;
    static constexpr bool is_small_integer = std::is_integral_v<T> && sizeof(T) < 8;
    E lo, hi, step;
    F first, end;
    u64 count;

    ExactRange(const HistogramBins& bins, u64 n) : count(n) {
        if (count > max_narrow_bins)
            refuse("exact bins: supports at most 2^30 bins, got " + std::to_string(count));
        lo = float_bound<E>(bins.lo());
        hi = float_bound<E>(bins.hi());
        first = static_cast<F>(lo);
        end = static_cast<F>(hi);
        step = (hi - lo) / static_cast<E>(count);
        const std::string type(name_of(type_of<F>()));
        if (!std::isfinite(first) || !std::isfinite(end) || !std::isfinite(hi - lo))
            refuse("range must have finite ends and width in " + type + ", got " + range_name(bins) +
                   "; pass finite bounds");
        if (!(first < end))
            refuse("range is empty in " + type + ", got " + range_name(bins) + "; pass lo < hi");
        F last = first;
        for (u64 i = 1; i <= count; ++i) {
            const F here = edge(i);
            if (!(last < here))
                refuse("too many bins for the range, got " + std::to_string(count) + " " + range_name(bins) +
                       ", where edges in " + type + " are equal; pass fewer bins or a wider range");
            last = here;
        }
    }
    F edge(u64 i) const { return i == count ? end : static_cast<F>(static_cast<E>(i) * step + lo); }

    // Bins by positions of G, if no position is wrong by more than a quarter of a bin.
    template <class G>
    ResolvedBins by_positions() const {
        using Bound = std::conditional_t<sizeof(T) == 8, F, T>;
        Exact<T, F, E, G, Bound> bins{.lo = lo,
                                      .step = step,
                                      .from = static_cast<G>(lo),
                                      .scale = static_cast<G>(static_cast<E>(count) / (hi - lo)),
                                      .reach = 0,
                                      .top = static_cast<G>(count) - G(0.5),
                                      .low = 0,
                                      .high = 0};
        constexpr u64 most = sizeof(G) == 4 ? u64{1} << 21 : max_narrow_bins;
        if (!std::isfinite(bins.from) || !std::isfinite(bins.scale) || count > most) return {};
        if constexpr (std::is_integral_v<Bound>) {
            const F low = std::max(std::ceil(first), static_cast<F>(std::numeric_limits<T>::min())),
                    high = std::min(std::floor(end), static_cast<F>(std::numeric_limits<T>::max()));
            if (!(low <= high)) return nothing_of<T>();
            bins.low = static_cast<Bound>(low);
            bins.high = static_cast<Bound>(high);
            // The position of an edge lies half way to that of the integer below it, if no integer is on the other
            // side of its own edge: then positions decide all bins.
            bins.from -= error(bins.from, bins.scale).gap / 2 * static_cast<G>(step);
        } else {
            bins.low = first;
            bins.high = end;
        }
        const G wrong = error(bins.from, bins.scale).most;
        if (!(wrong <= G(0.25))) return {};
        bins.reach = G(0.5) - wrong - 4 * std::numeric_limits<G>::epsilon();
        return resolved(bins);
    }

  private:
    // most: how far a sample's position may lie on the wrong side of an edge. gap: the least distance in bins from an
    // edge to a sample below it. Positions do not descend, so the samples next to the edges decide.
    template <class G>
    struct Error {
        G most = 0, gap = 1;
    };
    template <class G>
    Error<G> error(G from, G scale) const {
        const auto position = [&](F x) { return (static_cast<G>(x) - from) * scale; };
        Error<G> found;
        for (u64 i = 0; i < count; ++i) {
            const F at = is_small_integer ? std::ceil(edge(i)) : edge(i);
            const F below = is_small_integer ? at - 1 : before(at);
            const G down = static_cast<G>(i) - position(at), up = position(below) - static_cast<G>(i);
            found.most = std::max({found.most, down, up});
            found.gap = std::min(found.gap, -up);
        }
        found.gap = std::max(found.gap, G(0));
        return found;
    }
};

// Calls f with the ExactRange of samples of the type, in the default floating-point environment.
template <class F>
auto visit_exact(const HistogramBins& bins, Type type, u64 count, const F& f) {
    return in_default_float_environment([&] {
        return visit_type(type, [&](auto tag) {
            using T = typename decltype(tag)::type;
            if constexpr (std::is_same_v<T, f32>)
                if (bins.single()) return f(ExactRange<T, f32>(bins, count));
            return f(ExactRange<T, f64>(bins, count));
        });
    });
}

// Resolved exact bins. A thread keeps the last ones, because the edges are compared with the positions one by one.
ResolvedBins exact_bins(const HistogramBins& bins, Type type, u64 count) {
    struct Kept {
        HistogramBound lo, hi;
        bool single = false;
        Type type = Type::u8;
        u64 count = 0;
        ResolvedBins bins;
    };
    thread_local Kept kept;
    if (kept.count == count && kept.type == type && kept.single == bins.single() && kept.lo == bins.lo() &&
        kept.hi == bins.hi())
        return kept.bins;
    const ResolvedBins found =
        visit_exact(bins, type, count, []<class T, class E>(const ExactRange<T, E>& range) {
            ResolvedBins by;
            if constexpr (sizeof(T) < 8) by = range.template by_positions<f32>();
            if constexpr (sizeof(E) == 8)
                if (by.op == nullptr) by = range.template by_positions<f64>();
            return by;
        });
    kept = {bins.lo(), bins.hi(), bins.single(), type, count, found};
    return found;
}

i128 whole_bound(const HistogramBins& bins, const HistogramBound& bound, Type type) {
    if (bound.whole) return bound.negative ? -static_cast<i128>(bound.magnitude) : bound.magnitude;
    if (!(std::abs(bound.value) < 0x1p100) || bound.value != std::trunc(bound.value))
        refuse("integer samples require whole bounds, got " + range_name(bins) + " for " +
               std::string(name_of(type)) + "; pass whole numbers");
    return static_cast<i128>(bound.value);
}

template <class T>
ResolvedBins even_integers(const HistogramBins& bins, u64 count) {
    const i128 lo = whole_bound(bins, bins.lo(), type_of<T>()),
               hi = whole_bound(bins, bins.hi(), type_of<T>());
    if (lo >= hi) refuse("range is empty, got " + range_name(bins) + "; pass lo < hi");
    constexpr i128 widest = ~u64{0};
    if (hi - lo > widest)
        refuse("range is wider than 64 bits, got " + range_name(bins) + "; pass hi - lo < 2^64");
    using Limits = std::numeric_limits<T>;
    const i128 first = std::max<i128>(lo, Limits::min()), last = std::min<i128>(hi - 1, Limits::max());
    if (first > last) return nothing_of<T>();
    using U = std::make_unsigned_t<T>;
    using W = Word<T>;
    const auto first_word = static_cast<W>(first),
               reach = static_cast<W>(last - first);  // modulo 2^32 or 2^64
    const u64 ahead = static_cast<u64>(first - lo), range = static_cast<u64>(hi - lo);
    if (count > max_narrow_bins || range > u64{1} << 32) {
        const auto [whole, high, low] = ratio_64_of(count, range);
        if (count > max_narrow_bins)
            return resolved<even_wide_function, T, U, U, W, u64>(first_word, reach, ahead, whole, high, low);
        return resolved<even_wide_function, T, U, U, W, u32>(first_word, reach, ahead, whole, high, low);
    }
    const auto near = static_cast<u32>(ahead);
    if (range % count == 0 && std::has_single_bit(range / count) && range / count < u64{1} << 32)
        return resolved<even_shift_function, T, U, U, W>(first_word, reach, near,
                                                         static_cast<u32>(std::countr_zero(range / count)));
    const auto [whole, high, low] = ratio_32_of(count, range);
    return resolved<even_ratio_function, T, U, U, W>(first_word, reach, near, whole, high, low);
}

template <class T>
ResolvedBins modulo(u64 count) {
    if constexpr (sizeof(T) < 8) {
        const auto [whole, high, low] = ratio_32_of(1, count);
        if (count <= max_narrow_bins)
            return resolved<modulo_function, T, T>(static_cast<u32>(count), whole, high, low);
    }
    const auto [whole, high, low] = ratio_64_of(1, count);
    if (count > max_narrow_bins) return resolved<modulo_wide_function, T, T, u64>(count, whole, high, low);
    return resolved<modulo_wide_function, T, T, u32>(count, whole, high, low);
}

}  // namespace

HistogramBins edges_of_exact(const HistogramBins& bins, Type type, u64 count) {
    return visit_exact(bins, type, count, [&](const auto& range) {
        std::vector<decltype(range.edge(0))> edges(count + 1);
        for (u64 i = 0; i <= count; ++i)
            edges[i] = range.edge(i);
        return HistogramBins::edges(edges);
    });
}

ResolvedBins resolve(const HistogramBins& bins, Type type, u64 count) {
    return visit_type(type, [&](auto tag) -> ResolvedBins {
        using T = typename decltype(tag)::type;
        constexpr bool is_integer = std::is_integral_v<T>;
        switch (bins.kind()) {
            case HistogramBins::Kind::even:
                if constexpr (is_integer) return even_integers<T>(bins, count);
                if constexpr (!is_integer)
                    return in_default_float_environment([&] { return even_floats<T>(bins, count); });
                break;
            case HistogramBins::Kind::exact:
                return exact_bins(bins, type, count);
            case HistogramBins::Kind::modulo:
                if constexpr (is_integer && std::is_unsigned_v<T>) return modulo<T>(count);
                refuse("modulo bins require unsigned samples, got " + std::string(name_of(type)) +
                       "; pass an unsigned type");
            default:
                if constexpr (is_integer) {
                    if (count > max_narrow_bins) return resolved<identity_function, T, T, Word<T>, u64>();
                    return resolved<identity_function, T, T, Word<T>, u32>();
                }
                refuse("identity bins require integer samples, got " + std::string(name_of(type)) +
                       "; pass an integer type");
        }
        return {};
    });
}

}  // namespace concord::detail
