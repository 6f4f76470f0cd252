#include <concord/internal/input.hpp>
#include <concord/internal/operands.hpp>
#include <concord/internal/row.hpp>
#include <concord/internal/runs.hpp>
#include <concord/run_length_encode.hpp>

namespace concord {

namespace detail {
namespace {

struct RunLengthProblem {
    View in, out, lengths, count, live;
    static constexpr bool moves_bits = true;
    Type type() const { return as_bits(in).type; }
};

void run(Stream& stream, const RunLengthProblem& p) {
    const RunOffsets runs(stream, p.in, p.count, p.live);
    store_runs(stream, p.in, runs, p.out, p.lengths);
}

constexpr auto table = table_of<RunLengthProblem>(
    {{.variant = {.name = "compacted",
                  .summary = "compact finds where runs begin; lengths are the differences",
                  .order = OperationOrder::canonical,
                  .source = "Concord"},
      .groups = {run, supports_problem},
      .single_items = {run, supports_problem},
      .host = {run, supports_problem}}});
constexpr auto variants = variants_of(table);

}  // namespace

Enqueued run_length_encode(Stream& stream, const Input& input, const View& output, const View& lengths,
                           const View& count, const Options& options, const View& live) {
    constexpr std::string_view call = "run_length_encode";
    check_no_struct(call, "in", input.view);
    check_same_type(call, {{"in", input.view.type}, {"out", output.type}});
    if (lengths.type != Type::u64)
        throw Error(ErrorCode::invalid_argument, call,
                    "lengths must be u64, got " + std::string(name_of(lengths.type)));
    const Input in = without_bool(input);
    const View out = without_bool(output);
    check_runs(call, stream, {"in", in}, count, {{"out", out}, {"lengths", lengths}});
    RunLengthProblem problem{in.view, out, lengths, count, live};
    const auto& row = choose(call, table, stream.device(), problem, options);
    const InputInMemory from(stream, call, in, out, options, InPlace::no, Store::now, live);
    problem.in = from.view();
    if (in.view.count == 0) {
        count_no_runs(stream, count);
    } else {
        row.run(stream, problem);
    }
    return from.with_order(enqueued(stream, row, problem));
}

}  // namespace detail

constinit const Algorithm run_length_encode_algorithm{
    .name = "run_length_encode",
    .summary = "out, lengths = the first element of each run of equal neighbours, and its length",
    .variants = detail::variants};

Enqueued run_length_encode(Stream& stream, const View& in, const View& out, const View& lengths,
                           const View& count, const Options& options) {
    return detail::run_length_encode(stream, detail::Input(in), out, lengths, count, options);
}

}  // namespace concord
