#include "unique_sources.hpp"

#include <concord/internal/input.hpp>
#include <concord/internal/launch.hpp>
#include <concord/internal/operands.hpp>
#include <concord/internal/row.hpp>
#include <concord/internal/runs.hpp>
#include <concord/unique.hpp>

namespace concord {

namespace detail {
namespace {

struct UniqueProblem {
    View in, out, count;
    View live;  // see begins_run_node()
    static constexpr bool moves_bits = true;
    Type type() const { return as_bits(in).type; }
};

// live: not read if is_live is 0.
template <class B>
void unique_first_host(const Group& /*group*/, const B* in, const u64* later, B* out, u64* count,
                       const u64* live, u32 is_live) {
    const bool is_empty = is_live != 0 && *live == 0;
    if (!is_empty) *out = *in;
    *count = *later + (is_empty ? 0 : 1);
}

HostKernel first_host(u32 size) {
    switch (size) {
        case 1:
            return host_kernel<&unique_first_host<u8>>();
        case 2:
            return host_kernel<&unique_first_host<u16>>();
        case 4:
            return host_kernel<&unique_first_host<u32>>();
        default:
            return host_kernel<&unique_first_host<u64>>();
    }
}

void run(Stream& stream, const UniqueProblem& p) {
    const u64 others = p.in.count - 1;
    const auto room = stream.scratch(sizeof(u64));
    const View later{room.get(), 0, 1, Type::u64};
    const View from = as_bits(p.in), to = as_bits(p.out);
    if (others == 0) {
        count_no_runs(stream, later);
    } else {
        compact(stream, Input(from.part(1, others)), Input(begins_run_node(p.in, p.live)), to.part(1, others),
                later, Others::dropped, {});
    }
    const bool is_live = p.live.buffer != nullptr;
    const auto kernel =
        stream.device().kernel({.source = &kernel_sources::unique_first(),
                                .entry = "unique_first",
                                .constants = {{"B", from.type}, {"GROUP", 1U}, {"LIVE", u32{is_live}}},
                                .host = first_host(size_of(from.type)),
                                .max_group_size = 1});
    const LaunchShape one = LaunchShape::linear(1, 1);
    if (stream.device().traits().launch == LaunchModel::host) {
        launch(stream, *kernel, one, from, later, to, p.count, is_live ? p.live : later, u32{is_live});
    } else if (is_live) {
        launch(stream, *kernel, one, from, later, to, p.count, p.live);
    } else {
        launch(stream, *kernel, one, from, later, to, p.count);
    }
}

constexpr auto table = table_of<UniqueProblem>(
    {{.variant = {.name = "compacted",
                  .summary = "compact keeps the elements that differ from the one before",
                  .order = OperationOrder::canonical,
                  .source = "Concord"},
      .groups = {run, supports_problem},
      .single_items = {run, supports_problem},
      .host = {run, supports_problem}}});
constexpr auto variants = variants_of(table);

}  // namespace

Enqueued unique(Stream& stream, const Input& input, const View& output, const View& count,
                const Options& options, const View& live) {
    constexpr std::string_view call = "unique";
    check_no_struct(call, "in", input.view);
    check_same_type(call, {{"in", input.view.type}, {"out", output.type}});
    const Input in = without_bool(input);
    const View out = without_bool(output);
    check_runs(call, stream, {"in", in}, count, {{"out", out}});
    UniqueProblem problem{in.view, out, count, live};
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

constinit const Algorithm unique_algorithm{
    .name = "unique",
    .summary = "out = the first element of each run of equal neighbours",
    .variants = detail::variants};

Enqueued unique(Stream& stream, const View& in, const View& out, const View& count, const Options& options) {
    return detail::unique(stream, detail::Input(in), out, count, options);
}

}  // namespace concord
