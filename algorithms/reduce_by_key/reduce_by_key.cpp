#include <concord/internal/input.hpp>
#include <concord/internal/operands.hpp>
#include <concord/internal/row.hpp>
#include <concord/internal/runs.hpp>
#include <concord/reduce_by_key.hpp>

namespace concord {

namespace detail {

namespace {

void run(Stream& stream, const ReduceByKeyProblem& p) {
    const RunOffsets runs(stream, p.keys.view, p.count, p.used);
    SegmentedReduceProblem values = p;
    values.offsets = runs.offsets;
    values.live = runs.runs;
    segmented_reduce(stream, values, {});
    store_runs(stream, p.keys.view, runs, p.out_keys);
}

constexpr auto table = table_of<ReduceByKeyProblem>(
    {{.variant = {.name = "segmented",
                  .summary = "compact finds where runs begin, segmented_reduce combines their values",
                  .order = OperationOrder::canonical,
                  .longest_chain = canonical_depth,
                  .source = "Concord; tree after M. Harris, 2007"},
      .groups = {run, supports_problem_in<256>},
      .single_items = {run, supports_problem},
      .host = {run, supports_problem}}});
constexpr auto variants = variants_of(table);

}  // namespace

Enqueued reduce_by_key(Stream& stream, const ReduceByKeyProblem& asked, const Options& options) {
    constexpr std::string_view call = "reduce_by_key";
    ReduceByKeyProblem p = asked;
    const Input values = p.input();
    check_no_struct(call, "keys", p.keys.view);
    check_same_type(call, {{"keys", p.keys.view.type}, {"out_keys", p.out_keys.type}});
    check_same_type(call, {{"values", values.view.type}, {"out", p.out.type}});
    p.keys = without_bool(p.keys);
    p.out_keys = without_bool(p.out_keys);
    const u64 n = p.keys.view.count;
    check_input(call, "values", stream, values);
    if (values.view.count != n)
        throw Error(ErrorCode::invalid_argument, call,
                    "keys and values differ in size, got " + std::to_string(n) + " and " +
                        std::to_string(values.view.count));
    check_runs(call, stream, {"keys", p.keys}, p.count, {{"out_keys", p.out_keys}, {"out", p.out}});
    for (const NamedView& result :
         {NamedView{"count", p.count}, NamedView{"out_keys", p.out_keys}, NamedView{"out", p.out}})
        check_input_overlap(call, result, "values", values);
    const auto& row = choose(call, table, stream.device(), p, options);
    const InputInMemory keys(stream, call, p.keys, p.out_keys, options, InPlace::no, Store::now, p.used);
    p.keys = keys.view();
    if (n == 0) {
        count_no_runs(stream, p.count);
    } else {
        p.out = p.out.part(0, n);
        row.run(stream, p);
    }
    return keys.with_order(enqueued(stream, row, p));
}

Enqueued reduce_by_key(Stream& stream, const Input& keys, const Input& values, const View& out_keys,
                       const View& out, const View& count, ReduceOp op, const Options& options,
                       const View& used) {
    check_elements("reduce_by_key", "values", values.view);
    return reduce_by_key(stream, {segmented_reduce_problem(values, {}, out, op), keys, out_keys, count, used},
                         options);
}

}  // namespace detail

constinit const Algorithm reduce_by_key_algorithm{
    .name = "reduce_by_key",
    .summary = "out_keys, out = each run's key, and its values combined by op",
    .variants = detail::variants};

Enqueued reduce_by_key(Stream& stream, const View& keys, const View& values, const View& out_keys,
                       const View& out, const View& count, ReduceOp op, const Options& options) {
    return detail::reduce_by_key(stream, detail::Input(keys), detail::Input(values), out_keys, out, count, op,
                                 options);
}

}  // namespace concord
