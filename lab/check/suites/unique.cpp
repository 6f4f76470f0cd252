// Test cases of unique.

#include "runs.hpp"

#include <concord/unique.hpp>

namespace concord::lab {
namespace {

Work unique_work(const Input& keys, std::string title) {
    Work work = work_on_runs("unique", std::move(title), std::make_shared<Runs>(keys), {},
                             [](const Variant&, std::size_t, u64, std::span<const std::byte>, Verdict&) {});
    work.call = [](Stream& stream, std::span<const View> in, std::span<const View> out,
                   const Options& options) { return unique(stream, in[0], out[0], out[1], options); };
    return work;
}

// The keys as an expression.
Work expression_work(const Input& keys) {
    Work work = unique_work(keys, "expression");
    work.call = [](Stream& stream, std::span<const View> in, std::span<const View> out,
                   const Options& options) {
        const auto same =
            transform(MapFunction::negate, transform(MapFunction::negate, Span<const i32>(in[0])));
        return unique(stream, same, Span<i32>(out[0]), Span<u64>(out[1]), options);
    };
    return work;
}

void unique_cases(const Plan& plan, Type type, const CaseSink& emit) {
    cases_on_runs(plan, type, emit, Plan::Depth::all, unique_work);
    if (type == Type::i32)
        for_plan(plan, type, Plan::Depth::few, {Pattern::random}, emit, [&](u64 n, Pattern p) {
            return expression_work({type, n, p, plan.seed()});
        });
}

}  // namespace

Suite unique_suite() {
    Suite suite;
    suite.cases = unique_cases;
    suite.headlines = {{.types = {Type::u32}}};
    for (const u64 length : run_lengths)
        suite.workloads.push_back({"runs_" + std::to_string(length), [length](Type type, u64 n, u64 seed) {
                                       Work work = unique_work(keys_with_runs(type, n, length, false, seed),
                                                               "runs of " + std::to_string(length));
                                       work.traffic = (n + n / length) * size_of(type);
                                       return work;
                                   }});
    return suite;
}

}  // namespace concord::lab
