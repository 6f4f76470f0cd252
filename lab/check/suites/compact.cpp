// Test cases of compact and partition. The reference is independent of the library's code.

#include <concord/lab/compare.hpp>
#include <concord/lab/suite.hpp>

#include <concord/compact.hpp>
#include <concord/internal/once.hpp>

#include <algorithm>

namespace concord::lab {

CONCORD_FUNCTION(u8, in_band, (f32 x, f32 low, f32 high), return x >= low && x < high ? (u8)1 : (u8)0;)
CONCORD_FUNCTION(u64, indivisible, (u32 x, u32 by), return x % by;)  // a nonzero result keeps x
CONCORD_FUNCTION(i8, has_bits, (u8 x, u8 bits), return (x & bits) == bits ? (i8)-1 : (i8)0;)
CONCORD_FUNCTION(i32, is_far, (f64 x, f64 from, i32 sides), return fabs(x - from) > 0.25 ? sides : 0;)

namespace {

using Depth = Plan::Depth;

enum class Operation { compact, partition };
enum class Part { kept, rest };

template <class T>
bool reference(KeepRule rule, T limit, T x) {
    switch (rule) {
        case KeepRule::even:
        case KeepRule::odd:
            return (static_cast<u64>(x) % 2 == 0) == (rule == KeepRule::even);
        case KeepRule::nonzero:
            return !(x == T(0));
        case KeepRule::positive:
            return x > T(0);
        case KeepRule::greater:
            return x > limit;
        default:
            return x < limit;
    }
}

// The expected output. Counts the kept elements of each piece of the input once, then walks single pieces.
template <class T>
class Reference {
  public:
    Reference(Input input, std::function<bool(T)> keep) : input_(std::move(input)), keep_(std::move(keep)) {}

    const Input& input() const { return input_; }
    u64 count() {
        count_pieces();
        return before_.back();
    }
    // Verifies elements [first, ...) of one part. `index` is the position of the first in the output.
    void verify(Part part, u64 first, std::span<const std::byte> got, u64 index, Verdict& verdict) {
        count_pieces();
        const bool kept = part == Part::kept;
        auto before = [&](u64 piece) {
            return kept ? before_[piece] : std::min(piece * piece_length, input_.count) - before_[piece];
        };
        // The last piece with at most `first` elements of the part before it.
        u64 low = 0, high = before_.size() - 1;
        while (high - low > 1) {
            const u64 middle = (low + high) / 2;
            (before(middle) <= first ? low : high) = middle;
        }
        u64 skip = first - before(low), at = 0;
        const u64 wanted = got.size() / sizeof(T);
        std::vector<std::byte> scratch;
        for (u64 piece = low; at < wanted; ++piece) {
            const u64 begin = piece * piece_length, length = std::min(piece_length, input_.count - begin);
            const auto bytes = input_.piece(begin, length, scratch);
            for (u64 i = 0; i < length && at < wanted; ++i) {
                const T x = element<T>(bytes, i);
                if (keep_(x) != kept) continue;
                if (skip > 0) {
                    --skip;
                    continue;
                }
                if (!same_bits(bytes, i, got, at))
                    return verdict.differ(difference_of(index + at, x, element<T>(got, at)));
                ++at;
            }
        }
    }

  private:
    static constexpr u64 piece_length = u64{1} << 16;

    static bool same_bits(std::span<const std::byte> a, u64 i, std::span<const std::byte> b, u64 j) {
        return std::memcmp(a.data() + i * sizeof(T), b.data() + j * sizeof(T), sizeof(T)) == 0;
    }
    void count_pieces() {
        once_.call([&] {
            before_.assign(input_.count / piece_length + 2, 0);
            parallel_pieces(input_.count, piece_length, [&](u64 first, u64 count) {
                std::vector<std::byte> scratch;
                const auto bytes = input_.piece(first, count, scratch);
                u64 kept = 0;
                for (u64 i = 0; i < count; ++i)
                    kept += keep_(element<T>(bytes, i)) ? 1 : 0;
                before_[first / piece_length + 1] = kept;
            });
            for (u64 piece = 1; piece < before_.size(); ++piece)
                before_[piece] += before_[piece - 1];
        });
    }

    Input input_;
    std::function<bool(T)> keep_;
    detail::Once once_;
    std::vector<u64> before_;  // kept elements before each piece, and the total
};

// Makes work from call(stream, in, out, count, options).
template <class T, class C>
Work compact_work(std::string title, Operation operation, const std::shared_ptr<Reference<T>>& reference,
                  C call) {
    const bool partition = operation == Operation::partition;
    Work work;
    work.algorithm = "compact";
    work.title = (partition ? "partition " : "") + std::move(title);
    work.inputs = {reference->input()};
    work.n = reference->input().count;
    work.outputs = {{type_of<T>(), work.n}, {Type::u64, 1}};
    if (!partition) work.outputs.front().written = [reference] { return reference->count(); };
    work.traffic = 2 * reference->input().bytes();
    work.in_place = !partition;
    work.call = [call](Stream& stream, std::span<const View> in, std::span<const View> out,
                       const Options& options) { return call(stream, in[0], out[0], out[1], options); };
    work.verify = [reference](const Variant&, std::size_t output, u64 first, std::span<const std::byte> got,
                              Verdict& verdict) {
        const u64 count = reference->count();
        if (output == 1) {
            if (const u64 given = element<u64>(got, 0); given != count)
                verdict.differ(difference_of<u64>(0, count, given));
            return;
        }
        const u64 kept = std::min(got.size() / sizeof(T), count > first ? count - first : 0);
        if (kept > 0) reference->verify(Part::kept, first, got.first(kept * sizeof(T)), first, verdict);
        if (kept * sizeof(T) < got.size())
            reference->verify(Part::rest, first + kept - count, got.subspan(kept * sizeof(T)), first + kept,
                              verdict);
    };
    return work;
}

template <class T>
Work builtin_work(KeepRule rule, T limit, Operation operation, const Input& input, std::string title) {
    const Keep keep = detail::has_operand(rule) ? Keep(rule, limit) : Keep(rule);
    return compact_work<T>(
        std::move(title), operation,
        std::make_shared<Reference<T>>(input, [rule, limit](T x) { return reference(rule, limit, x); }),
        [keep, operation](Stream& stream, const View& in, const View& out, const View& count,
                          const Options& options) {
            return operation == Operation::partition
                       ? concord::partition(stream, in, out, count, keep, options)
                       : compact(stream, in, out, count, keep, options);
        });
}

// The input as an expression, which kernels compute, by flags or by a built-in predicate.
template <class T>
Work expression_work(Operation operation, const Input& input, bool by_flags) {
    Work work = compact_work<T>(
        by_flags ? "flags" : "expression", operation,
        std::make_shared<Reference<T>>(input, [](T x) { return reference(KeepRule::positive, T(0), x); }),
        [operation, by_flags](Stream& stream, const View& in, const View& out, const View& count,
                              const Options& options) {
            const Span<T> x(in), kept(out);
            const Span<u64> number(count);
            const auto same = transform(MapFunction::negate, transform(MapFunction::negate, x));
            const auto flags = transform(BinaryPredicate::greater, x, constant(T(0)));
            const bool partition = operation == Operation::partition;
            if (by_flags)
                return partition ? concord::partition(stream, same, flags, kept, number, options)
                                 : compact(stream, same, flags, kept, number, options);
            return partition ? concord::partition(stream, same, kept, number, KeepRule::positive, options)
                             : compact(stream, same, kept, number, KeepRule::positive, options);
        });
    work.in_place = false;
    return work;
}

// A user's predicate. The host compiler's version of it is the reference.
template <class T, class F>
Work user_work(const char* title, Operation operation, const Input& input, const F& f) {
    return compact_work<T>(
        title, operation, std::make_shared<Reference<T>>(input, [f](T x) { return f(x) != 0; }),
        [f, operation](Stream& stream, const View& in, const View& out, const View& count,
                       const Options& options) {
            return operation == Operation::partition
                       ? concord::partition(stream, Span<T>(in), Span<T>(out), Span<u64>(count), f, options)
                       : compact(stream, Span<T>(in), Span<T>(out), Span<u64>(count), f, options);
        });
}

// The first rule runs on all patterns: no element kept, all, every other one, 99 of 100, long runs. The other rules
// use the same kernels with another predicate.
void compact_cases(const Plan& plan, Type type, const CaseSink& emit) {
    std::vector<Pattern> all = patterns_of(type), few = {Pattern::random, Pattern::mixed};
    for (const Pattern more : {Pattern::alternating, Pattern::skewed, Pattern::sorted})
        all.push_back(more);
    if (is_float(type)) few.push_back(Pattern::special);
    auto input = [&](u64 n, Pattern pattern) { return Input{type, n, pattern, plan.seed()}; };
    auto builtin = [&](KeepRule rule, Operation operation, Depth depth,
                       const std::vector<Pattern>& patterns) {
        for_plan(plan, type, depth, patterns, emit, [&](u64 n, Pattern p) {
            return detail::visit_type(type, [&]<class T>(detail::TypeTag<T>) {
                // `greater` keeps one random element in sixteen, `less` keeps fifteen.
                return builtin_work<T>(rule, random_quantile<T>(15.0 / 16), operation, input(n, p),
                                       std::string(name_of(rule)));
            });
        });
    };
    const KeepRule first = is_float(type) ? KeepRule::positive : KeepRule::odd;
    builtin(first, Operation::compact, Depth::huge, all);
    builtin(first, Operation::partition, Depth::all,
            {Pattern::random, Pattern::skewed, Pattern::alternating});
    // Every rule compiles another kernel. One integer type and one float type test all rules, the others test one more.
    const bool all_rules = type == Type::i32 || type == Type::f32;
    for (const KeepRule rule : all_keep_rules) {
        if (rule == first || (is_float(type) && (rule == KeepRule::even || rule == KeepRule::odd))) continue;
        const bool one_more = rule == (size_of(type) % 4 == 0 ? KeepRule::greater : KeepRule::less);
        if (all_rules || one_more) builtin(rule, Operation::compact, Depth::some, few);
    }
    auto user = [&](auto tag, const char* title, Operation operation, const auto& f) {
        for_plan(plan, type, Depth::some, few, emit, [&](u64 n, Pattern p) {
            return user_work<typename decltype(tag)::type>(title, operation, input(n, p), f);
        });
    };
    const auto expression = [&]<class T>(detail::TypeTag<T>) {
        for (const Operation operation : {Operation::compact, Operation::partition}) {
            for (const bool by_flags : {false, true})
                for_plan(plan, type, Depth::some, few, emit, [&](u64 n, Pattern p) {
                    return expression_work<T>(operation, input(n, p), by_flags);
                });
        }
    };
    if (type == Type::i32) expression(detail::TypeTag<i32>{});
    switch (type) {
        case Type::f32:
            user(detail::TypeTag<f32>{}, "in_band", Operation::compact, in_band.bind(-0.25f, 0.5f));
            break;
        case Type::u32:
            user(detail::TypeTag<u32>{}, "indivisible", Operation::compact, indivisible.bind(3));
            user(detail::TypeTag<u32>{}, "indivisible", Operation::partition, indivisible.bind(3));
            break;
        case Type::u8:
            user(detail::TypeTag<u8>{}, "has_bits", Operation::compact, has_bits.bind(5));
            break;
        case Type::f64:
            user(detail::TypeTag<f64>{}, "is_far", Operation::compact, is_far.bind(0.5, -3));
            break;
        default:
            break;
    }
}

// Random elements. `fraction` of them are kept.
Work compact_workload(const char* title, double fraction, Type type, u64 n, u64 seed) {
    return detail::visit_type(type, [&]<class T>(detail::TypeTag<T>) {
        Work work = builtin_work<T>(KeepRule::less, random_quantile<T>(fraction), Operation::compact,
                                    {type, n, Pattern::random, seed}, title);
        // The expected number of kept elements: counting them would generate the input.
        work.traffic = (n + static_cast<u64>(fraction * static_cast<double>(n))) * sizeof(T);
        return work;
    });
}

}  // namespace

Suite compact_suite() {
    Suite suite;
    suite.cases = compact_cases;
    suite.headlines = {{.types = {Type::f32, Type::u32}}};
    suite.tuning = {.workloads = {"half"},
                    .types = {Type::f32, Type::u32, Type::f64, Type::u8},
                    .quick_types = 2,
                    .guards = {"few", "most"}};
    constexpr std::pair<const char*, double> workloads[] = {{"half", 0.5}, {"few", 0.01}, {"most", 0.99}};
    for (const auto& [title, fraction] : workloads)
        suite.workloads.push_back({title, [title = title, fraction = fraction](Type type, u64 n, u64 seed) {
                                       return compact_workload(title, fraction, type, n, seed);
                                   }});
    return suite;
}

}  // namespace concord::lab
