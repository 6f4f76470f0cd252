// Test cases of add.

#include <concord/lab/compare.hpp>
#include <concord/lab/suite.hpp>

#include <concord/add.hpp>

namespace concord::lab {
namespace {

using Depth = Plan::Depth;

Work add_work(Type type, u64 n, Pattern pattern, u64 seed) {
    const std::vector<Input> inputs = {{type, n, pattern, seed}, {type, n, pattern, seed + 1}};
    Work work = detail::visit_type(type, [&]<class T>(detail::TypeTag<T>) {
        return elementwise<T, T, T>("add", "sum", inputs, [](T a, T b) {
            if constexpr (std::is_floating_point_v<T>) return a + b;
            return static_cast<T>(static_cast<u64>(a) + static_cast<u64>(b));
        });
    });
    work.call = [](Stream& stream, std::span<const View> in, std::span<const View> out,
                   const Options& options) { return add(stream, in[0], in[1], out[0], options); };
    return work;
}

void add_cases(const Plan& plan, Type type, const CaseSink& emit) {
    for_plan(plan, type, Depth::huge, patterns_of(type), emit,
             [&](u64 n, Pattern pattern) { return add_work(type, n, pattern, plan.seed()); });
}

}  // namespace

Suite add_suite() {
    Suite suite;
    suite.cases = add_cases;
    suite.tuning = {.workloads = {"sum"}, .types = {Type::f32, Type::f64}};
    suite.workloads = {
        {"sum", [](Type type, u64 n, u64 seed) { return add_work(type, n, Pattern::random, seed); }}};
    return suite;
}

}  // namespace concord::lab
