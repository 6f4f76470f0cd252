// Test cases of scan. The reference is independent of the library's code.

#include "lines.hpp"
#include "longest_chain.hpp"
#include "scan_reference.hpp"

#include <concord/lab/compare.hpp>
#include <concord/lab/suite.hpp>

#include <concord/internal/once.hpp>
#include <concord/scan.hpp>
#include <concord/scan_axes.hpp>

namespace concord::lab {

// Not commutative: returns the last nonzero element.
CONCORD_FUNCTION(i32, last_set, (i32 a, i32 b), return b != 0 ? b : a;)
CONCORD_FUNCTION(f64, weighted, (f64 a, f64 b, f64 weight), return a + b + weight * (a * b);)

namespace {

using Depth = Plan::Depth;

// How results in another than the canonical order are verified.
enum class Tolerance {
    exact,    // bitwise: the operator is exactly associative
    bounded,  // sums of floats: within an error bound, by sums in f64
    no_bound  // not at all; devices are still compared
};

template <class T>
struct Reference {
    Input input;
    ScanKind kind;
    T identity;
    std::function<T(T, T)> op;  // a user's operator; built-in ones have a `name`
    std::optional<ReduceOp> name;
    Tolerance tolerance = Tolerance::exact;

    // Verifies results [first, ...).
    void verify(const Variant& variant, u64 first, std::span<const std::byte> got, Verdict& verdict) {
        if (!name) return verify_with(variant, first, got, verdict, op);
        with_reference<T>(*name, [&](auto f) { verify_with(variant, first, got, verdict, f); });
    }

  private:
    template <class Op>
    void verify_with(const Variant& variant, u64 first, std::span<const std::byte> got, Verdict& verdict,
                     Op f) {
        once_.call([&] {
            carries_.emplace(input, identity, f);
            constexpr u64 max_kept = u64{1} << 22;  // the scan of a larger input is computed again by piece
            if (input.count <= max_kept) kept_ = carries_->scan(0, input.count, kind, f);
            if constexpr (std::is_floating_point_v<T>) {
                if (tolerance == Tolerance::bounded) exact_.emplace(input);
            }
        });
        const bool by_bits = variant.order == OperationOrder::canonical || tolerance == Tolerance::exact;
        const u64 n = got.size() / sizeof(T);
        std::vector<T> piece;
        if (kept_.empty()) piece = carries_->scan(first, n, kind, f);
        const std::span<const T> expected =
            kept_.empty() ? std::span<const T>(piece) : std::span<const T>(kept_).subspan(first, n);
        if (!by_bits) verdict.bits = false;
        if (!by_bits && tolerance == Tolerance::no_bound) verdict.no_bound = n > 0;
        for (u64 i = 0; by_bits && i < n; ++i) {
            const T value = element<T>(got, i);
            if (!same(expected[i], value))
                return verdict.differ(difference_of(first + i, expected[i], value));
        }
        if constexpr (std::is_floating_point_v<T>) {
            if (tolerance == Tolerance::bounded) verify_sums(variant, first, got, by_bits, expected, verdict);
        }
    }

    // Verifies each sum within its own bound. NaNs and infinities must match the canonical scan.
    void verify_sums(const Variant& variant, u64 first, std::span<const std::byte> got, bool by_bits,
                     std::span<const T> expected, Verdict& verdict) {
        Verdict held;
        const bool random = input.pattern == Pattern::random || input.pattern == Pattern::near_one;
        const double h = static_cast<double>(longest_chain_of(variant, first + expected.size()));
        const double hard = gamma_bound<T>(h), alarm = alarm_bound<T>(h);
        const double statistical = statistical_bound<T>(h, static_cast<double>(input.count));
        exact_->walk(first, expected.size(), kind, [&](u64 i, const ExactSum& exact) {
            const T value = element<T>(got, i - first);
            if (!std::isfinite(expected[i - first])) {
                if (!by_bits && !same(expected[i - first], value))
                    held.differ(difference_of(i, expected[i - first], value));
                return;
            }
            ErrorBounds bounds{exact.error_of(static_cast<double>(value)), hard * exact.magnitude};
            if (random) {
                bounds.alarm = alarm * exact.magnitude;
                bounds.statistical = statistical * exact.magnitude;
            }
            verify_within(bounds, i, expected[i - first], value, held);
        });
        held.bits = verdict.bits;
        if (by_bits) held.no_bound = held.statistical = false;
        verdict.merge(std::move(held));
    }

    detail::Once once_;
    std::optional<ReferenceCarries<T>> carries_;
    std::vector<T> kept_;  // all results, or nothing if there are too many
    std::optional<ExactPrefixes<T>> exact_;
};

template <class T>
Work scan_work(std::string title, const std::shared_ptr<Reference<T>>& reference) {
    Work work;
    work.algorithm = "scan";
    work.title = std::move(title);
    work.inputs = {reference->input};
    work.n = reference->input.count;
    work.outputs = {{type_of<T>(), work.n}};
    work.traffic = work.bytes();
    work.verify = [reference](const Variant& variant, std::size_t, u64 first, std::span<const std::byte> got,
                              Verdict& verdict) { reference->verify(variant, first, got, verdict); };
    return work;
}

template <class T>
Work builtin_work(ReduceOp op, ScanKind kind, const Input& input) {
    auto reference = std::make_shared<Reference<T>>();
    reference->input = input;
    reference->kind = kind;
    reference->identity = identity_of<T>(op);
    reference->name = op;
    if constexpr (std::is_floating_point_v<T>) {
        if (op == ReduceOp::sum) reference->tolerance = Tolerance::bounded;
        if (op == ReduceOp::product) reference->tolerance = Tolerance::no_bound;
    }
    Work work = scan_work<T>(std::string(name_of(kind)) + "_" + std::string(name_of(op)), reference);
    work.minor = op != ReduceOp::sum;
    work.call = [op, kind](Stream& stream, std::span<const View> in, std::span<const View> out,
                           const Options& options) { return scan(stream, in[0], out[0], op, kind, options); };
    return work;
}

// The input as an expression, which kernels compute.
template <class T>
Work expression_work(const Input& input) {
    Work work = builtin_work<T>(ReduceOp::sum, ScanKind::exclusive, input);
    work.title = "expression_sum";
    work.call = [](Stream& stream, std::span<const View> in, std::span<const View> out,
                   const Options& options) {
        const auto same = transform(MapFunction::negate, transform(MapFunction::negate, Span<T>(in[0])));
        return scan(stream, same, Span<T>(out[0]), ReduceOp::sum, ScanKind::exclusive, options);
    };
    return work;
}

// A user's operator. The host compiler's version of it is the reference.
template <class T, class F>
Work user_work(const char* title, ScanKind kind, const Input& input, const F& f, T identity,
               Tolerance tolerance) {
    auto reference = std::make_shared<Reference<T>>();
    reference->input = input;
    reference->kind = kind;
    reference->identity = identity;
    reference->op = [f](T a, T b) { return f(a, b); };
    reference->tolerance = tolerance;
    Work work = scan_work<T>(title, reference);
    work.call = [f, identity, kind](Stream& stream, std::span<const View> in, std::span<const View> out,
                                    const Options& options) {
        return scan(stream, Span<T>(in[0]), Span<T>(out[0]), f, identity, kind, options);
    };
    return work;
}

Work work_of(ReduceOp op, ScanKind kind, const Input& input) {
    return detail::visit_type(
        input.type, [&](auto tag) { return builtin_work<typename decltype(tag)::type>(op, kind, input); });
}

// Scan over an axis: each line is bitwise identical to the reference on its elements.
template <class T>
class LinesReference {
  public:
    LinesReference(const LinesShape& shape, ReduceOp op, ScanKind kind, const Input& input)
        : shape_(shape), op_(op), kind_(kind), input_(input) {}

    void verify(u64 first, std::span<const std::byte> got, Verdict& verdict) {
        once_.call([&] { with_reference<T>(op_, [&](auto f) { scan(f); }); });
        for (u64 i = 0; i < got.size() / sizeof(T); ++i) {
            const T value = element<T>(got, i);
            if (!same(results_[first + i], value))
                verdict.differ(difference_of(first + i, results_[first + i], value));
        }
    }

  private:
    template <class Op>
    void scan(Op op) {
        std::vector<std::byte> scratch;
        const auto bytes = input_.piece(0, input_.count, scratch);
        results_.resize(shape_.out().size());
        std::vector<T> x(shape_.length());
        for (u64 line = 0; line < shape_.lines(); ++line) {
            for (u64 i = 0; i < x.size(); ++i)
                x[i] = element<T>(bytes, shape_.in().place(shape_.index(line, i)));
            const std::vector<T> scanned = reference_scan(x, identity_of<T>(op_), kind_, op);
            for (u64 i = 0; i < x.size(); ++i)
                results_[shape_.out().place(shape_.index(line, i))] = as_computed(scanned[i]);
        }
    }

    LinesShape shape_;
    ReduceOp op_;
    ScanKind kind_;
    Input input_;
    detail::Once once_;
    std::vector<T> results_;
};

Work lines_work(const LinesCase& of, ReduceOp op, ScanKind kind, Input input) {
    const LinesShape shape(of, input.count);
    input.count = shape.in().memory();
    Work work;
    work.algorithm = "scan";
    work.title = std::string(name_of(kind)) + "_" + std::string(name_of(op)) + " of " + of.title;
    work.inputs = {input};
    work.n = shape.out().size();
    work.outputs = {{input.type, work.n}};
    work.traffic = work.bytes();
    work.in_place = shape.in_place();
    work.variant = &lines_variant;
    work.call = [shape, op, kind](Stream& stream, std::span<const View> in, std::span<const View> out,
                                  const Options& options) {
        const NdView from = shape.in().view(in[0]);
        if (!shape.in_place() && from.size() > 0)
            check_refused("scan", [&] {
                (void)scan(stream, from, shape.out().view(in[0]), op, shape.axis(), kind, options);
            });
        return scan(stream, from, shape.out().view(out[0]), op, shape.axis(), kind, options);
    };
    detail::visit_type(input.type, [&](auto tag) {
        using T = typename decltype(tag)::type;
        work.verify = [reference = std::make_shared<LinesReference<T>>(shape, op, kind, input)](
                          const Variant&, std::size_t, u64 first, std::span<const std::byte> got,
                          Verdict& verdict) { reference->verify(first, got, verdict); };
    });
    return work;
}

void scan_cases(const Plan& plan, Type type, const CaseSink& emit) {
    std::vector<Pattern> patterns = patterns_of(type);
    for (const Pattern more : {Pattern::alternating, Pattern::sorted, Pattern::skewed})
        patterns.push_back(more);
    auto input = [&](u64 n, Pattern pattern) { return Input{type, n, pattern, plan.seed()}; };
    const auto expression = [&]<class T>(detail::TypeTag<T>) {
        for_plan(plan, type, Depth::some, {Pattern::random, Pattern::mixed}, emit,
                 [&](u64 n, Pattern p) { return expression_work<T>(input(n, p)); });
    };
    if (type == Type::i64) expression(detail::TypeTag<i64>{});
    if (type == Type::f32) expression(detail::TypeTag<f32>{});
    for (const ScanKind kind : {ScanKind::inclusive, ScanKind::exclusive}) {
        for (const ReduceOp op : all_reduce_ops) {
            // The suite of reduce tests the operators with every type.
            const bool fewer = op == ReduceOp::product || op == ReduceOp::min;
            if (fewer && type != Type::f32 && type != Type::i8 && type != Type::u64 && !plan.full()) continue;
            if (op == ReduceOp::max && type != Type::f64 && type != Type::i32 && type != Type::u16 &&
                !plan.full())
                continue;
            std::vector<Pattern> of_op = patterns;
            if (op == ReduceOp::product)
                of_op.front() = Pattern::near_one;  // products of random elements underflow
            const bool deep = op == ReduceOp::sum && kind == ScanKind::exclusive;
            const Depth depth = deep ? Depth::huge : Depth::some;
            for_plan(plan, type, depth, of_op, emit,
                     [&](u64 n, Pattern p) { return work_of(op, kind, input(n, p)); });
        }
        if (type == Type::i32) {
            for_plan(plan, type, Depth::some, {Pattern::skewed, Pattern::random, Pattern::mixed}, emit,
                     [&](u64 n, Pattern p) {
                         return user_work<i32>("last_set", kind, input(n, p), last_set, 0, Tolerance::exact);
                     });
        } else if (type == Type::f64) {
            for_plan(plan, type, Depth::some, {Pattern::random, Pattern::special}, emit,
                     [&](u64 n, Pattern p) {
                         return user_work<f64>("weighted", kind, input(n, p), weighted.bind(0x1.8p-30), 0,
                                               Tolerance::no_bound);
                     });
        }
    }
    ScanKind kind = ScanKind::inclusive;
    for (const LinesCase& of : lines_cases()) {
        kind = kind == ScanKind::inclusive ? ScanKind::exclusive : ScanKind::inclusive;
        for_plan(plan, type, Depth::few, {patterns_of(type).front(), patterns_of(type).back()}, emit,
                 [&](u64 n, Pattern p) { return lines_work(of, ReduceOp::sum, kind, input(n, p)); });
    }
}

}  // namespace

Suite scan_suite() {
    Suite suite;
    suite.cases = scan_cases;
    suite.more_variants = {&lines_variant};
    suite.in_primitives_study = true;
    suite.scaling_sizes = {.quick = powers_of_two(18, 20, 1), .full = powers_of_two(18, 26, 1)};
    suite.headlines = {{.types = {Type::f32, Type::u32}}};
    suite.tuning = {.workloads = {"exclusive_sum"},
                    .types = {Type::f32, Type::u32, Type::f64, Type::u8},
                    .quick_types = 2};
    suite.steps = {
        .name = "scan",
        .question = "How much does each optimisation step speed up the textbook scan?",
        .explanation =
            "Work-inefficient trees (Hillis and Steele), then work-efficient ones (Blelloch), several "
            "elements per work-item, padding against bank conflicts, and finally one pass with "
            "decoupled look-back.",
        .sizes = {.quick = powers_of_two(16, 20, 2), .full = powers_of_two(16, 28, 4)},
        .types = {Type::u32}};
    for (const ScanKind kind : {ScanKind::exclusive, ScanKind::inclusive}) {
        for (const ReduceOp op : all_reduce_ops) {
            // Positive floats, because the bound of a long chain is useless for a sum that cancels.
            auto work = [op, kind](Type type, u64 n, u64 seed) {
                const Pattern pattern = is_float(type) ? Pattern::near_one : Pattern::random;
                return work_of(op, kind, {type, n, pattern, seed});
            };
            suite.workloads.push_back({std::string(name_of(kind)) + "_" + std::string(name_of(op)), work});
        }
    }
    return suite;
}

}  // namespace concord::lab
