// Test cases of histogram. The reference is independent of the library's code.

#include "histogram_reference.hpp"

#include <algorithm>
#include <cmath>

namespace concord::lab {

CONCORD_FUNCTION(
    i32, exponent_of, (f32 x, f32 base, i32 first), i32 e = first; f32 limit = base;
    if (!(fabs(x) >= base)) return -1; while (fabs(x) >= limit && e < 300) {
        limit = limit * 2;
        e = e + 1;
    } return e - first - 1;)
CONCORD_FUNCTION(u8, low_bits, (u32 x), return (u8)(x ^ (x >> 8));)
CONCORD_FUNCTION(i64, distance, (i16 x, i64 from), return (i64)x - from;)
CONCORD_FUNCTION(u64, folded, (u64 x, u64 times), return (x * times) >> 48;)

namespace {

using Depth = Plan::Depth;
constexpr Pattern skews[] = {Pattern::random, Pattern::constant, Pattern::skewed, Pattern::sorted};
const std::vector<Pattern> skew_patterns(std::begin(skews), std::end(skews));

// Emits make(n, pattern) for the user's sizes, or else for these.
template <class Make>
void sized(const Plan& plan, const std::vector<u64>& sizes, const std::vector<Pattern>& patterns,
           const CaseSink& emit, Make make) {
    std::size_t index = 0;
    for (const u64 n : plan.sizes_or(sizes)) {
        for (const Plan::Shape& shape : plan.shapes(index++, n, patterns))
            emit(make(n, shape.pattern), shape.placements);
    }
}

const std::vector<u64> few_sizes = {1, 1025, 65537, 300007};
const std::vector<Pattern> few_patterns = {Pattern::random, Pattern::skewed, Pattern::special};
const std::vector<Pattern> few_patterns_of_integers = {Pattern::random, Pattern::skewed, Pattern::mixed};

// The samples as an expression, which kernels compute.
template <class T>
void expression_cases(const Plan& plan, const CaseSink& emit) {
    sized(plan, {1, 1025, 70001}, few_patterns, emit, [&](u64 n, Pattern p) {
        Work work =
            even_float<T>("expression100", Type::u32, {type_of<T>(), n, p, plan.seed()}, 100, T(-1), T(1));
        work.call = [](Stream& stream, std::span<const View> in, std::span<const View> out,
                       const Options& options) {
            const auto same = transform(MapFunction::negate, transform(MapFunction::negate, Span<T>(in[0])));
            return histogram(stream, same, Span<u32>(out[0]), HistogramBins::even(T(-1), T(1)), options);
        };
        return work;
    });
}

// Each variant compiles a kernel for every binning, for some numbers of bins, and for each counter type. A sample type
// tests some of these kernels, and all types together test every one.
template <class T>
void float_cases(const Plan& plan, const CaseSink& emit) {
    constexpr Type type = type_of<T>();
    constexpr bool main = sizeof(T) == 4;
    auto input = [&](u64 n, Pattern p) { return Input{type, n, p, plan.seed()}; };
    std::vector<Pattern> patterns = skew_patterns;
    for (const Pattern more : {Pattern::special, Pattern::mixed, Pattern::tiny, Pattern::zeros})
        patterns.push_back(more);
    for_plan(plan, type, main ? Depth::huge : Depth::some, patterns, emit, [&](u64 n, Pattern p) {
        return even_float<T>("even256", main ? Type::u32 : Type::u64, input(n, p), 256, T(-1), T(1));
    });
    // Enough equal samples per group to overflow packed counters.
    sized(plan, {(1 << 21) + 3}, {Pattern::constant}, emit, [&](u64 n, Pattern p) {
        return even_float<T>("even65536", main ? Type::u32 : Type::u64, input(n, p), 65536, T(-1), T(1));
    });
    // Numbers of bins around the capacity of local tables, with several ranges.
    struct Shape {
        u64 bins;
        T lo, hi;
        Type counter = Type::u32;  // for f32 samples; f64 samples use u64
    };
    constexpr Shape shapes[] = {{.bins = 1, .lo = T(-0.5), .hi = T(0.75)},
                                {.bins = 3, .lo = T(-1), .hi = T(0.1), .counter = Type::u16},
                                {.bins = 255, .lo = T(0), .hi = T(1)},
                                {.bins = 257, .lo = T(-0.7), .hi = T(0.9), .counter = Type::u16},
                                {.bins = 2048, .lo = T(-1), .hi = T(1), .counter = Type::u16},
                                {.bins = 4097, .lo = T(-0.3), .hi = T(0.3)},
                                {.bins = 65536, .lo = T(-1), .hi = T(1)},
                                {.bins = 1000003, .lo = T(-1), .hi = T(0.999)},
                                {.bins = 100, .lo = T(0), .hi = T(0x1p-120)}};
    for (const Shape& s : shapes) {
        if (!main && !plan.full() && s.bins > 300 && s.bins != 65536) continue;
        const Type counter = main ? s.counter : Type::u64;
        sized(plan, few_sizes, few_patterns, emit, [&](u64 n, Pattern p) {
            return even_float<T>("even" + std::to_string(s.bins), counter, input(n, p), s.bins, s.lo, s.hi);
        });
        if (s.bins > 65536) continue;
        sized(plan, {100003}, {Pattern::random}, emit, [&](u64 n, Pattern) {
            return even_float<T>("edges" + std::to_string(s.bins), counter,
                                 edges<T>(n, plan.seed(), s.bins, s.lo, s.hi), s.bins, s.lo, s.hi);
        });
    }
}

// Exact bins, and bins between edges of the samples' type and of f64.
template <class T>
void edge_cases(const Plan& plan, const CaseSink& emit) {
    using F = std::conditional_t<std::is_floating_point_v<T>, T, f64>;
    const std::vector<u64> sizes = {1, 1025, 100003};
    const f64 lo = std::is_signed_v<T> ? -7.7 : 0.3, hi = 100.1;
    auto exact = [&](u64 bins, auto low, auto high, Type counter) {
        using E = decltype(low);
        const auto edges = exact_edges<F, E>(bins, low, high);
        sized(plan, sizes, {Pattern::random}, emit, [&](u64 n, Pattern) {
            return between_work<T, F>((sizeof(E) == 4 ? "exact_f32_" : "exact") + std::to_string(bins),
                                      counter, around<T, F>(n, plan.seed(), edges), edges,
                                      HistogramBins::exact(low, high));
        });
    };
    exact(10, 0.0, 1.0, Type::u32);
    exact(100, lo, hi, Type::u64);
    if (sizeof(T) >= 4) exact(8296, 2.0, 2280.0, Type::u16);
    if constexpr (std::is_same_v<T, f32>) exact(50, -0.1f, 5.3f, Type::u32);
    auto given = [&](auto zero) {
        using E = decltype(zero);
        std::vector<E> edges(61);
        detail::in_default_float_environment([&] {
            for (u64 i = 0; i < edges.size(); ++i)
                edges[i] =
                    static_cast<E>(std::is_floating_point_v<E> ? std::pow(1.08, f64(i)) - 3 : f64(2 * i));
        });
        edges[7] = edges[8];  // a bin without samples
        sized(plan, sizes, {Pattern::random}, emit, [&](u64 n, Pattern) {
            return between_work<T, E>("edges_" + std::string(name_of(type_of<E>())), Type::u32,
                                      around<T, E>(n, plan.seed(), edges), edges,
                                      HistogramBins::edges(edges));
        });
    };
    given(T{});
    if constexpr (!std::is_same_v<T, f64>) given(f64{});
}

template <class T>
void even_integer_cases(const Plan& plan, const CaseSink& emit) {
    constexpr Type type = type_of<T>();
    using L = std::numeric_limits<T>;
    // The range ends past the largest value, except for 8-byte types.
    using Wide = std::conditional_t<sizeof(T) == 8, T, i64>;
    const Wide least = L::min(), past = static_cast<Wide>(sizeof(T) == 8 ? L::max() : Wide(L::max()) + 1);
    auto input = [&](u64 n, Pattern p) { return Input{type, n, p, plan.seed()}; };
    auto among = [&](std::initializer_list<Type> types) {
        return plan.full() || std::find(types.begin(), types.end(), type) != types.end();
    };
    // Every bin spans a power of two of values, except for 8-byte types.
    if (among({Type::u8, Type::u32, Type::i64})) {
        std::vector<Pattern> patterns = skew_patterns;
        patterns.push_back(Pattern::mixed);
        for_plan(plan, type, type == Type::u8 || type == Type::u32 ? Depth::huge : Depth::some, patterns,
                 emit, [&](u64 n, Pattern p) {
                     return even_integer<T>("even256", Type::u32, input(n, p), 256, least, past);
                 });
    }
    // A range that is not a power of two, and u16 counters that saturate.
    if (among({Type::i8, Type::i32, Type::u64})) {
        const Wide lo = static_cast<Wide>(std::is_signed_v<T> ? -57 : 23), hi = 101;
        const auto range = static_cast<u64>(hi - lo);
        sized(plan, {1009, 65537, 300007}, {Pattern::random, Pattern::constant}, emit, [&](u64 n, Pattern p) {
            return even_integer<T>("even13", Type::u16, within<T>(input(n, p), static_cast<T>(lo), range), 13,
                                   lo, hi);
        });
        sized(plan, {100003}, {Pattern::random}, emit, [&](u64 n, Pattern) {
            return even_integer<T>("edges17", Type::u16,
                                   edges<T>(n, plan.seed(), 17, static_cast<T>(lo), static_cast<T>(hi)), 17,
                                   lo, hi);
        });
    }
    // A range that exceeds the values of the type on both sides.
    if (among({Type::i32})) {
        sized(plan, {1025, 300007}, few_patterns_of_integers, emit, [&](u64 n, Pattern p) {
            constexpr i64 far = i64{1} << (sizeof(T) == 8 ? 40 : 8 * sizeof(T));
            return even_integer<T>("even2049", Type::u64, input(n, p), 2049, -far - 5, 2 * far + 100);
        });
    }
    if (among({Type::i64})) {
        for (const u64 bins : {u64{100}, u64{255}})
            sized(plan, {100003}, {Pattern::random}, emit, [&](u64 n, Pattern) {
                const T lo = static_cast<T>(least / 3), hi = static_cast<T>(past / 3);
                return even_integer<T>("edges" + std::to_string(bins), Type::u32,
                                       edges<T>(n, plan.seed(), bins, lo, hi), bins, static_cast<Wide>(lo),
                                       static_cast<Wide>(hi));
            });
    }
}

template <class T>
void integer_cases(const Plan& plan, const CaseSink& emit) {
    constexpr Type type = type_of<T>();
    auto input = [&](u64 n, Pattern p) { return Input{type, n, p, plan.seed()}; };
    auto among = [&](std::initializer_list<Type> types) {
        return plan.full() || std::find(types.begin(), types.end(), type) != types.end();
    };
    even_integer_cases<T>(plan, emit);
    if (among({Type::i64, Type::u8})) {
        sized(plan, few_sizes, few_patterns_of_integers, emit, [&](u64 n, Pattern p) {
            const u64 bins = sizeof(T) == 1 ? 100 : sizeof(T) == 2 ? 20000 : 65536;
            const u64 range = sizeof(T) == 1 ? 120 : bins + bins / 8;
            return identity_work<T>(sizeof(T) == 1 ? Type::u32 : Type::u16,
                                    within<T>(input(n, p), T(0), range), bins);
        });
    }
    if constexpr (std::is_unsigned_v<T>) {
        if (among({Type::u16, Type::u64})) {
            for (const u64 bins : {u64{sizeof(T) == 8 ? 257U : 251U}, u64{1}})
                sized(plan, few_sizes, few_patterns_of_integers, emit, [&](u64 n, Pattern p) {
                    return modulo_work<T>(sizeof(T) == 8 ? Type::u16 : Type::u64, input(n, p), bins);
                });
        }
    }
}

void user_cases(const Plan& plan, Type type, const CaseSink& emit) {
    auto each = [&](auto make) {
        sized(plan, {0, 1, 1025, 70001}, {Pattern::random, Pattern::mixed}, emit, [&](u64 n, Pattern p) {
            return make(Input{type, n, p, plan.seed()});
        });
    };
    // Each function compiles a kernel for every variant, so a plan that is not full tests two of them.
    if (!plan.full() && (type == Type::u32 || type == Type::u64)) return;
    switch (type) {
        case Type::f32:
            return each([](const Input& input) {
                return user_work<f32, u32>("exponent", input, 60, exponent_of.bind(0x1p-30F, 7));
            });
        case Type::u32:
            return each(
                [](const Input& input) { return user_work<u32, u16>("low_bits", input, 200, low_bits); });
        case Type::i16:
            return each([](const Input& input) {
                return user_work<i16, u64>("distance", input, 5000, distance.bind(-3000));
            });
        case Type::u64:
            return each([](const Input& input) {
                return user_work<u64, u32>("folded", input, 65000, folded.bind(u64{0x9e3779b97f4a7c15}));
            });
        default:
            break;
    }
}

void histogram_cases(const Plan& plan, Type type, const CaseSink& emit) {
    detail::visit_type(type, [&]<class T>(detail::TypeTag<T>) {
        if constexpr (std::is_floating_point_v<T>) {
            float_cases<T>(plan, emit);
            if constexpr (sizeof(T) == 4) expression_cases<T>(plan, emit);
        } else {
            integer_cases<T>(plan, emit);
        }
        edge_cases<T>(plan, emit);
    });
    user_cases(plan, type, emit);
}

// Even bins over the whole range of the data: [-1, 1) for floats, all values for integers. The largest value of an
// 8-byte integer is outside.
std::optional<Work> workload(std::string_view title, Type counter, u64 bins, Pattern pattern, Type type,
                             u64 n, u64 seed) {
    return detail::visit_type(type, [&]<class T>(detail::TypeTag<T>) {
        const Input input{type, n, pattern, seed};
        if constexpr (std::is_floating_point_v<T>) {
            return even_float<T>(std::string(title), counter, input, bins, T(-1), T(1));
        } else {
            using L = std::numeric_limits<T>;
            using Wide = std::conditional_t<sizeof(T) == 8, T, i64>;
            return even_integer<T>(std::string(title), counter, input, bins, Wide(L::min()),
                                   static_cast<Wide>(sizeof(T) == 8 ? L::max() : Wide(L::max()) + 1));
        }
    });
}

}  // namespace

Suite histogram_suite() {
    Suite suite;
    suite.cases = histogram_cases;
    suite.headlines = {{.workloads = {"even256", "even2048", "even65536"}, .types = {Type::f32, Type::u32}}};
    suite.tuning = {.workloads = {"even256", "even2048", "even65536"},
                    .types = {Type::f32, Type::u8},
                    .quick_workloads = 2,
                    .guards = {"_equal"}};
    auto add = [&](const std::string& end, Type counter, u64 bins, Pattern pattern) {
        const std::string name = "even" + std::to_string(bins) + end;
        suite.workloads.push_back({name, [=](Type type, u64 n, u64 seed) {
                                       return workload(name, counter, bins, pattern, type, n, seed);
                                   }});
    };
    constexpr u64 first[] = {256, 2048, 65536, 1 << 20, 1 << 24};
    for (const u64 bins : first)
        add("", Type::u32, bins, Pattern::random);
    for (const u64 bins : first)
        add("_equal", Type::u32, bins, Pattern::constant);
    for (const u64 bins : {128, 512, 1024, 4096, 8192, 16384, 32768})
        add("", Type::u32, bins, Pattern::random);
    constexpr u64 saturating[] = {128, 1024, 8192, 65536};
    for (const u64 bins : saturating)
        add("_saturating", Type::u16, bins, Pattern::random);

    auto names = [](const auto& list, const std::string& end) {
        std::vector<std::string> all;
        for (const u64 bins : list)
            all.push_back("even" + std::to_string(bins) + end);
        return all;
    };
    const std::vector<u64> even = powers_of_two(7, 16, 1), equal = {256, 2048, 65536};
    suite.in_primitives_study = true;
    suite.studies = {
        {.name = "histogram-bins",
         .title = "Histograms with few and with many bins",
         .question =
             "Which histogram variant is fastest for which number of bins, and how much do saturating 16-bit "
             "counters gain?",
         .explanation =
             "Counters that fit into local memory are privatised there, one copy or more per group. Larger "
             "tables are counted in several passes, in global memory, or after sorting. Equal samples all "
             "increment one counter, which is the worst case for atomics.",
         .parameter = "bins",
         .sizes = {.quick = {1 << 18}, .full = {1 << 20, 1 << 24, 1 << 28}},
         .groups = {{.title = "random samples", .workloads = names(even, "")},
                    {.title = "all samples equal", .workloads = names(equal, "_equal")},
                    {.title = "saturating 16-bit counters", .workloads = names(saturating, "_saturating")}},
         .more_sizes = {.full = {u64{1} << 31}},
         .more_sizes_workloads = {"even256", "even2048", "even65536", "even65536_saturating"}}};
    return suite;
}

}  // namespace concord::lab
