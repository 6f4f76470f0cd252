// Test cases of reduce. The reference is independent of the library's code.

#include <concord/lab/internal/reduce_reference.hpp>
#include "longest_chain.hpp"
#include "reduce_axes.hpp"

#include <concord/lab/compare.hpp>
#include <concord/lab/suite.hpp>

#include <concord/internal/once.hpp>
#include <concord/reduce.hpp>

#include <algorithm>

namespace concord::lab {

CONCORD_FUNCTION(
    u32, gcd, (u32 a, u32 b), while (b != 0) {
        u32 t = a % b;
        a = b;
        b = t;
    } return a;)
CONCORD_FUNCTION(f64, far, (f64 a, f64 b, f64 from), const f64 x = fabs(a - from);
                 const f64 y = fabs(b - from); return y > x || (y == x && b > a) ? b : a;)
CONCORD_FUNCTION(f32, compound, (f32 a, f32 b, f32 rate), return a + b + rate * (a * b);)

namespace {

using Depth = Plan::Depth;

// How a result in another than the canonical order is verified.
enum class Tolerance {
    exact,    // bitwise: the operator is exactly associative
    bounded,  // within an error bound
    classed,  // NaNs and infinities match the canonical result, finite results are within an error bound
    no_bound  // not at all, because intermediate results may over- or underflow; devices are still compared
};

template <class T>
struct Reference {
    Input input;
    T identity;
    std::function<T(T, T)> op;
    std::function<T()> canonical;  // replaces `op` for operators that are known at compile time
    std::function<ErrorBounds(T result, u64 depth)> bounds;  // `depth`: longest chain of operations
    Tolerance tolerance = Tolerance::exact;

    T result() {
        once_.call([&] {
            result_ = as_computed(canonical ? canonical() : reference_reduce<T>(input, identity, op));
        });
        return result_;
    }

  private:
    detail::Once once_;
    T result_{};
};

template <class T>
void verify(Reference<T>& reference, const Variant& variant, T got, Verdict& verdict) {
    const T expected = reference.result();
    const bool equal = same(expected, got);
    const bool by_bits =
        variant.order == OperationOrder::canonical || reference.tolerance == Tolerance::exact;
    if (by_bits && !equal) verdict.differ(difference_of(0, expected, got));
    if (!by_bits) verdict.bits = false;
    if constexpr (std::is_floating_point_v<T>) {
        if (!by_bits && reference.tolerance == Tolerance::classed &&
            !(std::isfinite(expected) && std::isfinite(got))) {
            if (!equal) verdict.differ(difference_of(0, expected, got));
            return;
        }
        if (!by_bits && (reference.tolerance == Tolerance::no_bound || !std::isfinite(expected)))
            verdict.no_bound = true;
        if (!reference.bounds || reference.tolerance == Tolerance::no_bound || !std::isfinite(expected))
            return;
        Verdict held;
        verify_within(reference.bounds(got, longest_chain_of(variant, reference.input.count)), 0, expected,
                      got, held);
        held.bits = verdict.bits;
        if (by_bits) held.no_bound = held.statistical = false;
        verdict.merge(std::move(held));
    }
}

template <class T>
Work reduce_work(std::string title, const std::shared_ptr<Reference<T>>& reference) {
    Work work;
    work.algorithm = "reduce";
    work.title = std::move(title);
    work.inputs = {reference->input};
    work.n = reference->input.count;
    work.outputs = {{type_of<T>(), 1}};
    work.traffic = reference->input.bytes();
    work.in_place = false;
    work.verify = [reference](const Variant& variant, std::size_t, u64, std::span<const std::byte> got,
                              Verdict& verdict) { verify(*reference, variant, element<T>(got, 0), verdict); };
    return work;
}

// Accumulates every piece of the input into its own partial result, several pieces concurrently.
template <class T, class Partial, class AddPiece>
std::vector<Partial> partial_results(const Input& input, AddPiece add_piece) {
    constexpr u64 piece = u64{1} << 18;
    std::vector<Partial> partial(input.count / piece + 1);
    parallel_pieces(input.count, piece, [&](u64 first, u64 count) {
        std::vector<std::byte> scratch;
        const auto bytes = input.piece(first, count, scratch);
        for (u64 i = 0; i < count; ++i)
            add_piece(partial[first / piece], element<T>(bytes, i));
    });
    return partial;
}

template <class T>
std::function<ErrorBounds(T, u64)> sum_bounds(const Input& input) {
    auto exact = std::make_shared<std::optional<ExactSum>>();
    return [input, exact](T result, u64 depth) {
        if (!*exact) {
            ExactSum sum;
            auto add = [](ExactSum& s, T x) {
                if (std::isfinite(x)) s.add(static_cast<double>(x));
            };
            for (const ExactSum& part : partial_results<T, ExactSum>(input, add))
                sum.add(part);
            *exact = sum;
        }
        const double h = static_cast<double>(depth), magnitude = (*exact)->magnitude;
        ErrorBounds bounds{(*exact)->error_of(static_cast<double>(result)), gamma_bound<T>(h) * magnitude};
        if (input.pattern == Pattern::random || input.pattern == Pattern::near_one) {
            bounds.alarm = alarm_bound<T>(h) * magnitude;
            bounds.statistical = statistical_bound<T>(std::max(1.0, h), 1) * magnitude;
        }
        return bounds;
    };
}

template <class T>
std::function<ErrorBounds(T, u64)> product_bounds(const Input& input) {
    struct One {
        long double value = 1;
    };
    auto exact = std::make_shared<std::optional<long double>>();
    return [input, exact](T result, u64) {
        if (!*exact) {
            long double product = 1;
            for (const One& part : partial_results<T, One>(input, [](One&p, T x) { p.value *= x; }))
                product *= part.value;
            *exact = product;
        }
        // n - 1 roundings in any order, plus those of the reference.
        const double n = static_cast<double>(std::max<u64>(1, input.count));
        const double own = n * 0x1p-63, magnitude = static_cast<double>(std::abs(**exact));
        ErrorBounds bounds{static_cast<double>(std::abs(static_cast<long double>(result) - **exact)),
                           (gamma_bound<T>(n - 1) + own) * magnitude};
        if (input.pattern == Pattern::near_one) bounds.alarm = (alarm_bound<T>(n - 1) + own) * magnitude;
        return bounds;
    };
}

template <class T>
Work builtin_work(ReduceOp op, const Input& input) {
    auto reference = std::make_shared<Reference<T>>();
    reference->input = input;
    reference->identity = identity_of<T>(op);
    reference->canonical = [input, op, identity = reference->identity] {
        return with_reference<T>(op, [&](auto f) { return reference_reduce<T>(input, identity, f); });
    };
    if constexpr (std::is_floating_point_v<T>) {
        if (op == ReduceOp::sum) {
            reference->tolerance =
                input.pattern == Pattern::special ? Tolerance::classed : Tolerance::bounded;
            reference->bounds = sum_bounds<T>(input);
        } else if (op == ReduceOp::product) {
            reference->tolerance =
                input.pattern == Pattern::near_one ? Tolerance::bounded : Tolerance::no_bound;
            reference->bounds = product_bounds<T>(input);
        }
    }
    Work work = reduce_work<T>(std::string(name_of(op)), reference);
    work.minor = op == ReduceOp::product || op == ReduceOp::max;
    work.call = [op](Stream& stream, std::span<const View> in, std::span<const View> out,
                     const Options& options) { return reduce(stream, in[0], out[0], op, options); };
    return work;
}

// A user's operator. The host compiler's version of it is the reference.
template <class T, class F>
Work user_work(const char* title, const Input& input, const F& f, T identity, Tolerance tolerance,
               std::function<ErrorBounds(T, u64)> bounds = {}) {
    auto reference = std::make_shared<Reference<T>>();
    reference->input = input;
    reference->identity = identity;
    reference->op = [f](T a, T b) { return f(a, b); };
    reference->tolerance = tolerance;
    reference->bounds = std::move(bounds);
    Work work = reduce_work<T>(title, reference);
    work.call = [f, identity](Stream& stream, std::span<const View> in, std::span<const View> out,
                              const Options& options) {
        return reduce(stream, Span<T>(in[0]), Span<T>(out[0]), f, identity, options);
    };
    return work;
}

// a + b + rate a b on positive elements is a polynomial with positive coefficients. Each of its terms passes at most
// four roundings per operation.
std::function<ErrorBounds(f32, u64)> compound_bounds(const Input& input, f32 rate) {
    return [input, rate](f32 result, u64) {
        std::vector<std::byte> scratch;
        const auto bytes = input.piece(0, input.count, scratch);
        double exact = 0;
        for (u64 i = 0; i < input.count; ++i) {
            const double x = static_cast<double>(element<f32>(bytes, i));
            exact = exact + x + static_cast<double>(rate) * (exact * x);
        }
        return ErrorBounds{std::abs(static_cast<double>(result) - exact),
                           gamma_bound<f32>(4 * static_cast<double>(input.count)) * exact};
    };
}

void reduce_cases(const Plan& plan, Type type, const CaseSink& emit) {
    std::vector<Pattern> patterns = patterns_of(type);
    for (const Pattern more : {Pattern::alternating, Pattern::sorted, Pattern::reversed, Pattern::skewed})
        patterns.push_back(more);
    auto input = [&](u64 n, Pattern pattern) { return Input{type, n, pattern, plan.seed()}; };
    for (const ReduceOp op : all_reduce_ops) {
        std::vector<Pattern> of_op = patterns;
        if (op == ReduceOp::product)
            of_op.front() = Pattern::near_one;  // products of random elements underflow
        const Depth depth = op == ReduceOp::sum   ? Depth::huge
                            : op == ReduceOp::max ? Depth::all
                                                  : Depth::some;
        for_plan(plan, type, depth, of_op, emit, [&](u64 n, Pattern p) {
            return detail::visit_type(
                type, [&](auto tag) { return builtin_work<typename decltype(tag)::type>(op, input(n, p)); });
        });
    }
    for (const AxesCase& of : axes_cases()) {
        for_plan(plan, type, Depth::few, {patterns.front(), patterns.back()}, emit, [&](u64 n, Pattern p) {
            return detail::visit_type(type, [&](auto tag) {
                return axes_work<typename decltype(tag)::type>(of, ReduceOp::sum, input(n, p));
            });
        });
    }
    switch (type) {
        case Type::u32:
            for_plan(plan, type, Depth::some, patterns, emit, [&](u64 n, Pattern p) {
                return user_work<u32>("gcd", input(n, p), gcd, 0, Tolerance::exact);
            });
            break;
        case Type::f64:
            for_plan(plan, type, Depth::some, {Pattern::random, Pattern::mixed, Pattern::tiny}, emit,
                     [&](u64 n, Pattern p) {
                         return user_work<f64>("far", input(n, p), far.bind(0.25), 0.25, Tolerance::exact);
                     });
            break;
        case Type::f32:
            for_plan(plan, type, Depth::some, {Pattern::near_one, Pattern::random, Pattern::mixed}, emit,
                     [&](u64 n, Pattern p) {
                         constexpr f32 rate = 0x1.4p-24F;
                         const bool bounded = p == Pattern::near_one;
                         return user_work<f32>("compound", input(n, p), compound.bind(rate), 0,
                                               bounded ? Tolerance::bounded : Tolerance::no_bound,
                                               bounded ? compound_bounds(input(n, p), rate) : nullptr);
                     });
            break;
        default:
            break;
    }
}

Work reduce_workload(ReduceOp op, Type type, u64 n, u64 seed) {
    // Positive floats, because the bound of a long chain is useless for a sum that cancels.
    const Pattern pattern = is_float(type) ? Pattern::near_one : Pattern::random;
    return detail::visit_type(type, [&](auto tag) {
        return builtin_work<typename decltype(tag)::type>(op, {type, n, pattern, seed});
    });
}

}  // namespace

Suite reduce_suite() {
    Suite suite;
    suite.cases = reduce_cases;
    suite.is_trial = true;
    suite.in_primitives_study = true;
    suite.scaling_sizes = {.quick = powers_of_two(18, 20, 1), .full = powers_of_two(18, 26, 1)};
    suite.headlines = {{.types = {Type::f32, Type::u32}}};
    suite.tuning = {
        .workloads = {"sum"}, .types = {Type::f32, Type::u32, Type::f64, Type::u8}, .quick_types = 2};
    suite.steps = {
        .name = "reduce",
        .question = "How much does each optimisation step speed up the textbook reduction?",
        .explanation =
            "Trees in global memory, then in local memory. Interleaved, then sequential addressing, so "
            "that active work-items are contiguous. Two elements per load. Registers instead of local "
            "memory. Finally one launch with a fixed order of additions.",
        .sizes = {.quick = powers_of_two(16, 20, 2), .full = powers_of_two(16, 28, 4)}};
    for (const ReduceOp op : all_reduce_ops)
        suite.workloads.push_back({std::string(name_of(op)), [op](Type type, u64 n, u64 seed) {
                                       return reduce_workload(op, type, n, seed);
                                   }});
    return suite;
}

}  // namespace concord::lab
