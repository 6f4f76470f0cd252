// Test cases of reduce_by_key: each run is bitwise identical to the reference of reduce on its values.

#include "reduced_elements.hpp"
#include "runs.hpp"

#include <concord/reduce_by_key.hpp>

namespace concord::lab {

CONCORD_FUNCTION(i64, join_shifted, (i64 a, i64 b, i64 by), return a + b + by;)

namespace {

using Depth = Plan::Depth;

template <class T>
using Call = std::function<Enqueued(Stream&, std::span<const View>, std::span<const View>, const Options&)>;

// reduce: the reference of the values of a run. The inputs are the values, which give the work its type, and the keys.
template <class T, class F>
Work by_key_work(const Input& keys, const Input& values, std::string title, F reduce, Tolerance tolerance,
                 Call<T> call) {
    const auto runs = std::make_shared<Runs>(keys);
    Work work = work_on_runs(
        "reduce_by_key", std::move(title), runs, {values.type},
        [runs, values, reduce, tolerance](const Variant& variant, std::size_t, u64 first,
                                          std::span<const std::byte> got, Verdict& verdict) {
            std::vector<std::byte> scratch;
            std::vector<T> run;
            for (u64 i = 0; i < got.size() / sizeof(T); ++i) {
                const u64 length = runs->length(first + i);
                run.resize(length);
                std::memcpy(run.data(), values.piece(runs->begin(first + i), length, scratch).data(),
                            length * sizeof(T));
                const T expected = as_computed(reduce(run)), value = element<T>(got, i);
                verify_reduction(variant, tolerance, run, first + i, expected, value, verdict);
            }
        });
    work.inputs = {values, keys};
    work.traffic = keys.bytes() + values.bytes();
    work.call = std::move(call);
    return work;
}

template <class T>
Work builtin_work(ReduceOp op, const Input& keys, const Input& values, const std::string& title) {
    const T identity = identity_of<T>(op);
    return by_key_work<T>(
        keys, values, std::string(name_of(op)) + " of " + title,
        [op, identity](const std::vector<T>& x) {
            return with_reference<T>(op, [&](auto f) { return reference_reduce<T>(x, identity, f); });
        },
        tolerance_of<T>(op),
        [op](Stream& stream, std::span<const View> in, std::span<const View> out, const Options& options) {
            return reduce_by_key(stream, in[1], in[0], out[0], out[1], out[2], op, options);
        });
}

// A user's operator whose identity is not 0, on keys of another type and values that kernels compute.
Work user_work(const Input& keys, const Input& values) {
    constexpr i64 by = 3;
    const auto f = join_shifted.bind(by);
    return by_key_work<i64>(
        keys, values, "join_shifted",
        [f](std::vector<i64> x) {
            for (i64& value : x)
                value = lab::reference(ReduceOp::product, value, value);
            return reference_reduce<i64>(x, -by, [f](i64 a, i64 b) { return f(a, b); });
        },
        Tolerance::exact,
        [f](Stream& stream, std::span<const View> in, std::span<const View> out, const Options& options) {
            return reduce_by_key(stream, Span<const u8>(in[1]),
                                 transform(MapFunction::square, Span<const i64>(in[0])), Span<u8>(out[0]),
                                 Span<i64>(out[1]), Span<u64>(out[2]), f, -by, options);
        });
}

void by_key_cases(const Plan& plan, Type type, const CaseSink& emit) {
    const auto values = [&](const Input& keys) {
        return Input{type, keys.count, patterns_of(type).back(), plan.seed() + 1};
    };
    const auto work = [&](ReduceOp op, const Input& keys, const std::string& title) {
        return detail::visit_type(type, [&]<class T>(detail::TypeTag<T>) {
            return builtin_work<T>(op, keys, values(keys), title);
        });
    };
    cases_on_runs(plan, type, emit, Depth::some, [&](const Input& keys, const std::string& title) {
        return work(ReduceOp::sum, keys, title);
    });
    for (const ReduceOp op : {ReduceOp::product, ReduceOp::min, ReduceOp::max})
        for_plan(plan, type, Depth::few, {Pattern::random}, emit, [&](u64 n, Pattern) {
            return work(op, keys_with_runs(Type::u32, n, 17, true, plan.seed()), "runs around 17");
        });
    if (type == Type::i64)
        for_plan(plan, type, Depth::few, {Pattern::random}, emit, [&](u64 n, Pattern) {
            return user_work(keys_with_runs(Type::u8, n, 100, true, plan.seed()),
                             {type, n, Pattern::random, plan.seed() + 1});
        });
}

}  // namespace

Suite reduce_by_key_suite() {
    Suite suite;
    suite.cases = by_key_cases;
    suite.headlines = {{.types = {Type::f32}}};
    for (const u64 length : run_lengths)
        suite.workloads.push_back(
            {"runs_" + std::to_string(length), [length](Type type, u64 n, u64 seed) {
                 return detail::visit_type(type, [&]<class T>(detail::TypeTag<T>) {
                     const Pattern pattern = is_float(type) ? Pattern::near_one : Pattern::random;
                     Work work =
                         builtin_work<T>(ReduceOp::sum, keys_with_runs(Type::u32, n, length, false, seed),
                                         {type, n, pattern, seed + 1}, "runs of " + std::to_string(length));
                     work.traffic += n / length * (sizeof(u32) + sizeof(T));
                     return work;
                 });
             }});
    return suite;
}

}  // namespace concord::lab
