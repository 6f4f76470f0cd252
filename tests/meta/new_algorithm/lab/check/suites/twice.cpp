// Test cases of twice.

#include <concord/lab/compare.hpp>
#include <concord/lab/suite.hpp>

#include <concord/twice.hpp>

namespace concord::lab {
namespace {

template <class T>
Work work_of(const Input& input) {
    Work work = elementwise<T, T>("twice", "twice", {input}, [](T x) { return x + x; });
    work.call = [](Stream& stream, std::span<const View> in, std::span<const View> out,
                   const Options& options) { return twice(stream, in[0], out[0], options); };
    return work;
}

std::optional<Work> twice_work(Type type, u64 n, Pattern pattern, u64 seed) {
    const Input input{type, n, pattern, seed};
    if (type == Type::f32) return work_of<f32>(input);
    if (type == Type::f64) return work_of<f64>(input);
    return std::nullopt;
}

void twice_cases(const Plan& plan, Type type, const CaseSink& emit) {
    if (!is_float(type)) return;
    for_plan(plan, type, Plan::Depth::all, patterns_of(type), emit,
             [&](u64 n, Pattern pattern) { return *twice_work(type, n, pattern, plan.seed()); });
}

}  // namespace

Suite twice_suite() {
    Suite suite;
    suite.cases = twice_cases;
    suite.workloads = {
        {"twice", [](Type type, u64 n, u64 seed) { return twice_work(type, n, Pattern::random, seed); }}};
    return suite;
}

}  // namespace concord::lab
