// Test cases of map. The reference is independent of the library's code.

#include "map_two.hpp"

#include <concord/lab/compare.hpp>
#include <concord/lab/suite.hpp>

#include <concord/map.hpp>

namespace concord::lab {

CONCORD_FUNCTION(f32, saxpy, (f32 x, f32 y, f32 a), return a * x + y;)
CONCORD_FUNCTION(f64, fma_of, (f64 x, f64 y, f64 a), return fma(a, x, y);)
CONCORD_FUNCTION(f32, from_bytes, (u8 x, f32 scale), return scale * (f32)x;)
CONCORD_FUNCTION(u8, is_above, (f64 x, f64 limit), return x > limit ? (u8)1 : (u8)0;)
CONCORD_FUNCTION(u64, mix, (u64 x, u64 y, u64 times, u64 shift), u64 z = x ^ y;
                 for (u64 i = 0; i < times; ++i) z = (z ^ (z >> shift)) * (u64)0x9e3779b97f4a7c15; return z;)

namespace {

using Depth = Plan::Depth;

template <class T>
T reference(MapFunction function, T x) {
    if constexpr (std::is_class_v<T>) {
        return x;
    } else if constexpr (std::is_floating_point_v<T>) {
        using B = detail::BitsOf<T>;
        const B bits = std::bit_cast<B>(x), sign = std::bit_cast<B>(-T(0));
        switch (function) {
            case MapFunction::negate:
                return std::bit_cast<T>(static_cast<B>(bits ^ sign));
            case MapFunction::abs:
                return std::bit_cast<T>(static_cast<B>(bits & ~sign));
            case MapFunction::square:
                return x * x;
            case MapFunction::sqrt:
                return std::sqrt(x);
            case MapFunction::copy:
                return x;
                // MPFR checks these functions, see lab/math.
#define CONCORD_CASE(NAME)  \
    case MapFunction::NAME: \
        return Vocabulary::NAME(x);
                CONCORD_MATH_UNARY(CONCORD_CASE)
#undef CONCORD_CASE
        }
        return x;
    } else {
        const u64 bits = static_cast<u64>(x);  // sign-extended, so that the arithmetic wraps
        switch (function) {
            case MapFunction::negate:
                return static_cast<T>(0 - bits);
            case MapFunction::abs:
                return static_cast<T>(x < T(0) ? 0 - bits : bits);
            case MapFunction::square:
                return static_cast<T>(bits * bits);
            default:
                return x;
        }
    }
}

template <class T>
T reference(PairFunction function, T x, T y) {
    switch (function) {
#define CONCORD_CASE(NAME)   \
    case PairFunction::NAME: \
        return Vocabulary::NAME(x, y);
        CONCORD_MATH_BINARY(CONCORD_CASE)
#undef CONCORD_CASE
    }
    return x;
}

template <class T>
Work pair_work(PairFunction function, const Input& a, const Input& b) {
    Work work = elementwise<T, T, T>("map", std::string(name_of(function)), {a, b},
                                     [function](T x, T y) { return reference(function, x, y); });
    work.call = [function](Stream& stream, std::span<const View> in, std::span<const View> out,
                           const Options& options) {
        return map(stream, in[0], in[1], out[0], function, options);
    };
    return work;
}

template <class T>
Work map_work(MapFunction function, const Input& input) {
    const bool is_computed = !detail::traits_of(function).works_on_bits;
    Work work = elementwise<T, T>(
        "map", std::string(name_of(function)), {input}, [function](T x) { return reference(function, x); },
        is_computed ? ExpectedNans::canonical : ExpectedNans::kept);
    work.call = [function](Stream& stream, std::span<const View> in, std::span<const View> out,
                           const Options& options) { return map(stream, in[0], out[0], function, options); };
    return work;
}

// A user's function. The host compiler's version of it is the reference.
template <class U, class A, class F>
Work map_one(const char* title, const Input& input, const F& f) {
    Work work = elementwise<U, A>("map", title, {input}, [f](A x) { return f(x); });
    work.call = [f](Stream& stream, std::span<const View> in, std::span<const View> out,
                    const Options& options) {
        return map(stream, Span<A>(in[0]), Span<U>(out[0]), f, options);
    };
    return work;
}

template <class U, class A, class B, class F>
Work map_two(const char* title, const Input& a, const Input& b, const F& f) {
    Work work = elementwise<U, A, B>("map", title, {a, b}, [f](A x, B y) { return f(x, y); });
    work.call = [f](Stream& stream, std::span<const View> in, std::span<const View> out,
                    const Options& options) {
        return map(stream, Span<A>(in[0]), Span<B>(in[1]), Span<U>(out[0]), f, options);
    };
    return work;
}

// A function that is given as source text, for devices that compile at run time.
Work map_text(const Input& input) {
    static const Operator op =
        operator_from_text("float f(float x) { float y = x; if (x < 0) y = -x; return y * 0.5f; }");
    Work work = elementwise<f32, f32>("map", "text", {input}, [](f32 x) { return (x < 0 ? -x : x) * 0.5f; });
    work.call = [](Stream& stream, std::span<const View> in, std::span<const View> out,
                   const Options& options) { return map(stream, in[0], out[0], op, options); };
    return work;
}

bool applies(MapFunction function, Type type) {
    return function == MapFunction::copy ||
           (detail::traits_of(function).floats_only ? is_float(type) : !is_storage(type));
}

void map_cases(const Plan& plan, Type type, const CaseSink& emit) {
    const std::vector<Pattern> patterns = patterns_of(type);
    auto input = [&](u64 n, Pattern pattern, u64 salt) {
        return Input{type, n, pattern, plan.seed() + salt};
    };
    auto each = [&](Depth depth, auto make) { for_plan(plan, type, depth, patterns, emit, make); };

    for (const MapFunction function : all_map_functions) {
        if (!applies(function, type)) continue;
        // The math functions share their kernels; each takes a compiler about a second.
        if (plan.compiles_only() && function > MapFunction::exp && function != MapFunction::lgamma) continue;
        each(function == MapFunction::copy     ? Depth::huge
             : function == MapFunction::square ? Depth::all
             : function > MapFunction::sqrt    ? Depth::few
                                               : Depth::some,
             [&](u64 n, Pattern pattern) {
                 return detail::visit_element(type, [&](auto tag) {
                     return map_work<typename decltype(tag)::type>(function, input(n, pattern, 0));
                 });
             });
    }
    for (const PairFunction function : all_pair_functions) {
        if (!is_float(type)) continue;
        each(Depth::few, [&](u64 n, Pattern pattern) {
            return detail::visit_float(type, [&](auto tag) {
                return pair_work<typename decltype(tag)::type>(function, input(n, pattern, 0),
                                                               input(n, pattern, 1));
            });
        });
    }
    if (!is_storage(type)) {
        detail::visit_type(type, [&](auto tag) {
            each_map_two<typename decltype(tag)::type>([&](auto make) {
                for_plan(plan, type, Depth::few, {patterns.front(), patterns.back()}, emit,
                         [&](u64 n, Pattern pattern) { return make(n, pattern, plan.seed()); });
            });
        });
    }
    switch (type) {
        case Type::f32:
            each(Depth::all, [&](u64 n, Pattern p) {
                return map_two<f32, f32, f32>("saxpy", input(n, p, 0), input(n, p, 1), saxpy.bind(1.25f));
            });
            each(Depth::some, [&](u64 n, Pattern p) { return map_text(input(n, p, 0)); });
            break;
        case Type::f64:
            each(Depth::some, [&](u64 n, Pattern p) {
                return map_two<f64, f64, f64>("fma", input(n, p, 0), input(n, p, 1), fma_of.bind(-0.3));
            });
            each(Depth::some, [&](u64 n, Pattern p) {
                return map_one<u8, f64>("above", input(n, p, 0), is_above.bind(0.25));
            });
            break;
        case Type::u8:
            each(Depth::some, [&](u64 n, Pattern p) {
                return map_one<f32, u8>("from_bytes", input(n, p, 0), from_bytes.bind(0.1f));
            });
            break;
        case Type::u64:
            each(Depth::some, [&](u64 n, Pattern p) {
                return map_two<u64, u64, u64>("mix", input(n, p, 0), input(n, p, 1), mix.bind(3, 29));
            });
            break;
        default:
            break;
    }
}

std::optional<Work> map_workload(MapFunction function, Type type, u64 n, u64 seed) {
    if (!applies(function, type)) return std::nullopt;
    return detail::visit_element(type, [&](auto tag) {
        return map_work<typename decltype(tag)::type>(function, {type, n, Pattern::random, seed});
    });
}

}  // namespace

Suite map_suite() {
    Suite suite;
    suite.cases = map_cases;
    suite.more_variants = {&evaluate_variant};
    suite.supports_storage = true;
    suite.is_trial = true;
    suite.in_primitives_study = true;
    suite.scaling_sizes = {.quick = powers_of_two(18, 20, 1), .full = powers_of_two(18, 26, 1)};
    suite.headlines = {{.types = {Type::f32, Type::u8}}};
    suite.tuning = {.workloads = {"negate"}, .types = {Type::f32, Type::u8, Type::f64}};
    for (const MapFunction function : all_map_functions)
        suite.workloads.push_back({std::string(name_of(function)), [function](Type type, u64 n, u64 seed) {
                                       return map_workload(function, type, n, seed);
                                   }});
    return suite;
}

}  // namespace concord::lab
