// Test cases of scan by key.

#include "runs.hpp"
#include "scanned_segments.hpp"

#include <concord/scan_by_key.hpp>

namespace concord::lab {
namespace {

using Depth = Plan::Depth;

SegmentList list_of(const Input& keys) {
    const auto runs = std::make_shared<Runs>(keys);
    return {[runs] { return runs->count(); },
            [runs, n = keys.count](u64 r) { return r < runs->count() ? runs->begin(r) : n; }};
}

// The inputs are the values, which give the work its type, and the keys.
template <class T>
Work builtin_work(ReduceOp op, ScanKind kind, const Input& keys, const Input& values,
                  const std::string& title) {
    Work work = segmented_scan_work<T>(
        "scan_by_key", std::string(name_of(kind)) + "_" + std::string(name_of(op)) + " of " + title,
        builtin_scan<T>(op, kind, values, list_of(keys)), keys);
    work.call = [op, kind](Stream& stream, std::span<const View> in, std::span<const View> out,
                           const Options& options) {
        return scan_by_key(stream, in[1], in[0], out[0], op, kind, options);
    };
    return work;
}

// A user's operator that is not commutative, on keys of another type.
Work user_work(ScanKind kind, const Input& keys, const Input& values) {
    Work work =
        segmented_scan_work<i32>("scan_by_key", std::string(name_of(kind)) + "_last_set",
                                 user_scan<i32>(last_set_in_segment, 0, kind, values, list_of(keys)), keys);
    work.call = [kind](Stream& stream, std::span<const View> in, std::span<const View> out,
                       const Options& options) {
        return scan_by_key(stream, Span<const u8>(in[1]), Span<i32>(in[0]), Span<i32>(out[0]),
                           last_set_in_segment, 0, kind, options);
    };
    return work;
}

void by_key_cases(const Plan& plan, Type type, const CaseSink& emit) {
    const auto values = [&](const Input& keys) {
        return Input{type, keys.count, patterns_of(type).back(), plan.seed() + 1};
    };
    const auto work = [&](ReduceOp op, ScanKind kind, const Input& keys, const std::string& title) {
        return detail::visit_type(type, [&]<class T>(detail::TypeTag<T>) {
            return builtin_work<T>(op, kind, keys, values(keys), title);
        });
    };
    for (const ScanKind kind : {ScanKind::inclusive, ScanKind::exclusive})
        cases_on_runs(plan, type, emit, kind == ScanKind::inclusive ? Depth::some : Depth::few,
                      [&](const Input& keys, const std::string& title) {
                          return work(ReduceOp::sum, kind, keys, title);
                      });
    for (const ReduceOp op : {ReduceOp::product, ReduceOp::min, ReduceOp::max})
        for_plan(plan, type, Depth::few, {Pattern::random}, emit, [&](u64 n, Pattern) {
            return work(op, ScanKind::inclusive, keys_with_runs(Type::u32, n, 17, true, plan.seed()),
                        "runs around 17");
        });
    if (type == Type::i32)
        for_plan(plan, type, Depth::few, {Pattern::skewed}, emit, [&](u64 n, Pattern p) {
            return user_work(ScanKind::exclusive, keys_with_runs(Type::u8, n, 100, true, plan.seed()),
                             {type, n, p, plan.seed() + 1});
        });
}

}  // namespace

Suite scan_by_key_suite() {
    Suite suite;
    suite.cases = by_key_cases;
    suite.headlines = {{.types = {Type::f32}}};
    for (const u64 length : run_lengths)
        suite.workloads.push_back(
            {"runs_" + std::to_string(length), [length](Type type, u64 n, u64 seed) {
                 return detail::visit_type(type, [&]<class T>(detail::TypeTag<T>) {
                     const Pattern pattern = is_float(type) ? Pattern::near_one : Pattern::random;
                     return builtin_work<T>(ReduceOp::sum, ScanKind::inclusive,
                                            keys_with_runs(Type::u32, n, length, false, seed),
                                            {type, n, pattern, seed + 1},
                                            "runs of " + std::to_string(length));
                 });
             }});
    return suite;
}

}  // namespace concord::lab
