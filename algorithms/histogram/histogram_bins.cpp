#include "histogram_variants.hpp"

#include <concord/detail/float_environment.hpp>
#include <concord/internal/kernel_key.hpp>
#include <concord/internal/once.hpp>

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

using ops::u128;
__extension__ using i128 = __int128;

[[noreturn]] void refuse(const std::string& why) {
    throw Error(ErrorCode::invalid_argument, "histogram", why);
}

std::string range_name(const HistogramBins& bins) {
    return "from " + bins.lo().name() + " to " + bins.hi().name();
}

// --- Source for the JIT compilers ---------------------------------------------------------------------------

using Form = HistogramForm;

// d * p / q as in Ratio32 and Ratio64, for u32 or u64 d, whole, high and low.
constexpr std::string_view ratio_32 = "d * whole + (u32)(((u64)d * high + ((u64)d * low >> 32)) >> 32)";
constexpr std::string_view ratio_64 = "d * whole + concord_upper(d, high) + (part + d * high < part ? 1 : 0)";
constexpr std::string_view upper_word = R"(
#ifdef __OPENCL_VERSION__
#define concord_upper(a, b) mul_hi(a, b)
#else
#define concord_upper(a, b) __umul64hi(a, b)
#endif
)";

// The types of ExactBins.
struct ExactTypes {
    Type f, e, g, bound;
    ExactTypes(Form form, Type type)
        : f(is_float(type) ? type : Type::f64),
          e(form == Form::exact_single ? Type::f32 : Type::f64),
          g(form == Form::exact ? Type::f64 : Type::f32),
          bound(size_of(type) == 8 ? f : type) {}
};

// ExactBins::guess for kernels that compute the bins of a block: 0xfffffffe if the position does not decide.
std::string exact_guess(Form form, Type type) {
    const ExactTypes types(form, type);
    const std::string t(name_of(type)), g(name_of(types.g)), b(name_of(types.bound));
    return "u32 histogram_guess(" + t + " x, " + g + " from, " + g + " scale, " + g + " reach, " + g +
           " top, " + b + " low, " + b +
           " high) {\n#define HISTOGRAM_GUESS(x) histogram_guess(x, op.v2, op.v3, op.v4, op.v5, op.v6, "
           "op.v7)\nconst " +
           b + " y = (" + b + ")x; const bool counted = y >= low && y <= high; const " + g + " p = ((" + g +
           ")(counted ? y : low) - from) * scale, at = p < top ? p : top; const i32 bin = (i32)at; const " +
           g + " off = at - (" + g +
           ")bin - 0.5f; return !counted ? 0xffffffffu : (off < 0 ? -off : off) < reach "
           "|| at < 0.5f ? (u32)bin : 0xfffffffeu; }";
}

std::string exact_source(Form form, Type type) {
    const ExactTypes types(form, type);
    const std::string t(name_of(type)), f(name_of(types.f)), e(name_of(types.e)), g(name_of(types.g)),
        b(name_of(types.bound));
    return "u32 concord_function(" + t + " x, " + e + " lo, " + e + " step, " + g + " from, " + g +
           " scale, " + g + " reach, " + g + " top, " + b + " low, " + b +
           " high) { const u32 bin = histogram_guess(x, from, scale, reach, top, low, high); if (bin != "
           "0xfffffffeu) return bin; const " +
           g + " p = ((" + g + ")(" + b +
           ")x - from) * scale - 0.5f; const i32 near = (i32)p, last = (i32)top, next = near "
           "+ ((" +
           f + ")x >= (" + f + ")((" + e +
           ")(near + 1) * step + lo) ? 1 : 0); return (u32)(next < last ? next : last); }";
}

std::string even_source(Form form, Type type, const std::string& bin) {
    const std::string t(name_of(type)), none = "(" + bin + ")~(" + bin + ")0";
    const std::string word = size_of(type) == 8 ? "u64" : "u32";
    const std::string above = "const " + std::string(name_of(bits_of(type))) + " above = (" +
                              std::string(name_of(bits_of(type))) + ")((" + word + ")x - first); ";
    const std::string head = bin + " concord_function(" + t + " x, ";
    switch (form) {
        case Form::even_float:
            return head + t + " lo, " + t + " hi, " + t + " scale, " + bin + " last) { const " + bin +
                   " b = (" + bin + ")(" + (bin == "u32" ? "i32" : "i64") +
                   ")((x - lo) * scale); return x >= lo && x < hi ? (b < last ? b : last) : " + none + "; }";
        case Form::even_shift:
            return head + word + " first, " + word + " last, u32 ahead, u32 shift) { " + above +
                   "return above <= last ? ((u32)above + ahead) >> shift : " + none + "; }";
        case Form::even_ratio:
            return head + word + " first, " + word + " last, u32 ahead, u32 whole, u32 high, u32 low) { " +
                   above + "const u32 d = (u32)above + ahead; return above <= last ? " +
                   std::string(ratio_32) + " : " + none + "; }";
        default:
            return head + word + " first, " + word + " last, u64 ahead, u64 whole, u64 high, u64 low) { " +
                   std::string(upper_word) + above +
                   "const u64 d = above + ahead; const u64 part = concord_upper(d, low); return above <= "
                   "last "
                   "? (" +
                   bin + ")(" + std::string(ratio_64) + ") : " + none + "; }";
    }
}

std::string source_of(Form form, Type type, const std::string& bin) {
    const std::string head = bin + " concord_function(" + std::string(name_of(type)) + " x";
    switch (form) {
        case Form::exact:
        case Form::exact_mixed:
        case Form::exact_single:
            return exact_source(form, type);
        case Form::modulo:
            return head + ", u32 bins, u32 whole, u32 high, u32 low) { const u32 d = x; return d - (" +
                   std::string(ratio_32) + ") * bins; }";
        case Form::modulo_wide:
            return head + ", u64 bins, u64 whole, u64 high, u64 low) { " + std::string(upper_word) +
                   "const u64 d = x; const u64 part = concord_upper(d, low); return (" + bin + ")(d - (" +
                   std::string(ratio_64) + ") * bins); }";
        case Form::identity:
            if (size_of(type) == 8 && bin == "u32")
                return head + ") { return (u64)x < 0xffffffffu ? (u32)x : 0xffffffffu; }";
            return head + ") { return (" + bin + ")x; }";
        default:
            return even_source(form, type, bin);
    }
}

std::vector<Type> bound_of(Form form, Type type, Type bin) {
    const Type word = size_of(type) == 8 ? Type::u64 : Type::u32;
    switch (form) {
        case Form::even_float:
            return {type, type, type, bin};
        case Form::exact:
        case Form::exact_mixed:
        case Form::exact_single: {
            const auto [f, e, g, bound] = ExactTypes(form, type);
            return {e, e, g, g, g, g, bound, bound};
        }
        case Form::even_shift:
            return {word, word, Type::u32, Type::u32};
        case Form::even_ratio:
            return {word, word, Type::u32, Type::u32, Type::u32, Type::u32};
        case Form::even_wide:
            return {word, word, Type::u64, Type::u64, Type::u64, Type::u64};
        case Form::modulo:
            return std::vector<Type>(4, Type::u32);
        case Form::modulo_wide:
            return std::vector<Type>(4, Type::u64);
        default:
            return {};
    }
}

constexpr std::string_view form_names[] = {"even", "exact", "exact",  "exact",  "even_power_of_two",
                                           "even", "even",  "modulo", "modulo", "identity"};

Operator builtin_bins(Form form, Type type, Type bin) {
    Operator op;
    op.name = form_names[static_cast<std::size_t>(form)];
    op.result = bin;
    op.arguments = {type};
    op.bound = bound_of(form, type, bin);
    op.text = source_of(form, type, std::string(name_of(bin)));
    op.file = "builtin";
    op.line = 1;
    op = detail::finish(std::move(op));
    if (form_names[static_cast<std::size_t>(form)] == "exact") {
        op.helpers.push_back({"histogram_guess", exact_guess(form, type), "builtin", 1});
        op.hash = content_hash(op.text + op.helpers.back().text);
    }
    return op;
}

// Returns the same object for the same arguments, as Operator requires. bin: u32 or u64.
const Operator& operator_of(Form form, Type type, Type bin) {
    struct Entry {
        Once made;
        Operator op;
    };
    static Entry table[std::size(form_names)][all_types.size()][2];
    Entry& entry = table[static_cast<std::size_t>(form)][static_cast<std::size_t>(type)][bin == Type::u64];
    entry.made.call([&] { entry.op = builtin_bins(form, type, bin); });
    return entry.op;
}

// --- Values --------------------------------------------------------------------------------------------------

template <class T, class F>
ResolvedBins resolved(Form form, const F& functor) {
    using Bin = decltype(functor(T()));
    static_assert(sizeof(F) <= sizeof(ResolvedBins::values) && std::is_trivially_copyable_v<F>);
    ResolvedBins bins;
    bins.op = &operator_of(form, type_of<T>(), type_of<Bin>());
    bins.host = histogram_builtin_host(form, type_of<T>(), type_of<Bin>());
    if constexpr (std::is_empty_v<F>) {
        bins.size = 4;
    } else {
        bins.size = sizeof(F);
        std::memcpy(bins.values.data(), &functor, sizeof(F));
    }
    return bins;
}

// The fraction p / q < 1 in 64 bits, rounded down. p becomes the remainder.
u64 fraction(u64& p, u64 q) {
    const u128 shifted = u128{p} << 64;
    p = static_cast<u64>(shifted % q);
    return static_cast<u64>(shifted / q);
}

// p / q in the form that the functors multiply by.
ops::Ratio32 ratio_32_of(u64 p, u64 q) {
    u64 rest = p % q;
    u64 part = fraction(rest, q);
    part += rest != 0;
    return {static_cast<u32>(p / q), static_cast<u32>(part >> 32), static_cast<u32>(part)};
}
ops::Ratio64 ratio_64_of(u64 p, u64 q) {
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
    if (count > max_narrow_bins)
        return resolved<T>(Form::even_float, ops::EvenFloat<T, u64>{lo, hi, scale, count - 1});
    return resolved<T>(Form::even_float, ops::EvenFloat<T, u32>{lo, hi, scale, static_cast<u32>(count - 1)});
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
        ops::ExactBins<T, F, E, G> bins{};
        bins.lo = lo;
        bins.step = step;
        using Bound = decltype(bins.low);
        constexpr u64 most = sizeof(G) == 4 ? u64{1} << 21 : max_narrow_bins;
        bins.from = static_cast<G>(lo);
        bins.scale = static_cast<G>(static_cast<E>(count) / (hi - lo));
        bins.top = static_cast<G>(count) - G(0.5);
        if (!std::isfinite(bins.from) || !std::isfinite(bins.scale) || count > most) return {};
        if constexpr (std::is_integral_v<Bound>) {
            const F low = std::max(std::ceil(first), static_cast<F>(std::numeric_limits<T>::min())),
                    high = std::min(std::floor(end), static_cast<F>(std::numeric_limits<T>::max()));
            if (!(low <= high)) return nothing_of();
            bins.low = static_cast<Bound>(low);
            bins.high = static_cast<Bound>(high);
            // The position of an edge lies half way to that of the integer below it, if no integer is on the other
            // side of its own edge: then positions decide all bins.
            bins.from -= error(bins).gap / 2 * static_cast<G>(step);
        } else {
            bins.low = first;
            bins.high = end;
        }
        const G wrong = error(bins).most;
        if (!(wrong <= G(0.25))) return {};
        bins.reach = G(0.5) - wrong - 4 * std::numeric_limits<G>::epsilon();
        constexpr Form form = sizeof(E) == 4   ? Form::exact_single
                              : sizeof(G) == 4 ? Form::exact_mixed
                                               : Form::exact;
        return resolved<T>(form, bins);
    }

  private:
    // most: how far a sample's position may lie on the wrong side of an edge. gap: the least distance in bins from an
    // edge to a sample below it. Positions do not descend, so the samples next to the edges decide.
    template <class G>
    struct Error {
        G most = 0, gap = 1;
    };
    template <class G>
    Error<G> error(const ops::ExactBins<T, F, E, G>& bins) const {
        Error<G> found;
        for (u64 i = 0; i < count; ++i) {
            const F at = is_small_integer ? std::ceil(edge(i)) : edge(i);
            const F below = is_small_integer ? at - 1 : before(at);
            const G down = static_cast<G>(i) - bins.raw_position(at),
                    up = bins.raw_position(below) - static_cast<G>(i);
            found.most = std::max({found.most, down, up});
            found.gap = std::min(found.gap, -up);
        }
        found.gap = std::max(found.gap, G(0));
        return found;
    }
    static ResolvedBins nothing_of() {
        ResolvedBins none = resolved<T>(Form::identity, ops::Identity<T, u32>{});
        none.nothing = true;
        return none;
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
    if (first > last) {
        ResolvedBins none = resolved<T>(Form::identity, ops::Identity<T, u32>{});
        none.nothing = true;
        return none;
    }
    // Values modulo 2^32 or 2^64.
    const auto first_word = static_cast<ops::Word<T>>(first), reach = static_cast<ops::Word<T>>(last - first);
    const u64 ahead = static_cast<u64>(first - lo), range = static_cast<u64>(hi - lo);
    if (count > max_narrow_bins)
        return resolved<T>(Form::even_wide,
                           ops::EvenWide<T, u64>{first_word, reach, ahead, ratio_64_of(count, range)});
    if (range > u64{1} << 32)
        return resolved<T>(Form::even_wide,
                           ops::EvenWide<T, u32>{first_word, reach, ahead, ratio_64_of(count, range)});
    const auto near = static_cast<u32>(ahead);
    if (range % count == 0 && std::has_single_bit(range / count) && range / count < u64{1} << 32)
        return resolved<T>(
            Form::even_shift,
            ops::EvenShift<T>{first_word, reach, near, static_cast<u32>(std::countr_zero(range / count))});
    return resolved<T>(Form::even_ratio,
                       ops::EvenRatio<T>{first_word, reach, near, ratio_32_of(count, range)});
}

template <class T>
ResolvedBins modulo(u64 count) {
    if (count > max_narrow_bins)
        return resolved<T>(Form::modulo_wide, ops::ModuloWide<T, u64>{count, ratio_64_of(1, count)});
    if constexpr (sizeof(T) == 8) {
        return resolved<T>(Form::modulo_wide, ops::ModuloWide<T, u32>{count, ratio_64_of(1, count)});
    } else {
        return resolved<T>(Form::modulo, ops::Modulo<T>{static_cast<u32>(count), ratio_32_of(1, count)});
    }
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
                    if (count > max_narrow_bins) return resolved<T>(Form::identity, ops::Identity<T, u64>{});
                    return resolved<T>(Form::identity, ops::Identity<T, u32>{});
                }
                refuse("identity bins require integer samples, got " + std::string(name_of(type)) +
                       "; pass an integer type");
        }
        return {};
    });
}

}  // namespace concord::detail
