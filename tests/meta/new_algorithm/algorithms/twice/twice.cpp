#include "twice_sources.hpp"

#include <concord/detail/canonical.hpp>
#include <concord/internal/row.hpp>
#include <concord/tuning.hpp>
#include <concord/twice.hpp>

#include <algorithm>

namespace concord {

namespace detail {
namespace {

struct TwiceProblem {
    View in, out;
    Type type() const { return in.type; }
};

template <class T>
void twice_host(const Group& group, const T* in, T* out, u64 n, u64 tile) {
    const u64 begin = group.x * tile, end = std::min(n, begin + tile);
    for (u64 i = begin; i < end; ++i)
        out[i] = canonical(in[i] + in[i]);
}

void run(Stream& stream, const TwiceProblem& p, u64 tile, u32 group_size) {
    const auto kernel = stream.device().kernel(
        {.source = &kernel_sources::twice(),
         .entry = "twice",
         .constants = {{"T", p.in.type}, {"GROUP", group_size}},
         .host = visit_float(p.in.type, []<class T>(TypeTag<T>) { return host_kernel<&twice_host<T>>(); })});
    const u64 n = p.in.count;
    launch(stream, *kernel, LaunchShape::linear(divide_up(n, tile), group_size), p.in, p.out, n, tile);
}

void run_groups(Stream& stream, const TwiceProblem& p) {
    run(stream, p, 4096, 256);
}

void run_items(Stream& stream, const TwiceProblem& p) {
    run(stream, p, 4096, 1);
}

void run_serial(Stream& stream, const TwiceProblem& p) {
    run(stream, p, p.in.count, 1);
}

Support supports(const Device& device, const TwiceProblem& p) {
    if (!is_float(p.in.type)) return Support::no("elements are f32 or f64");
    return supports_type(device, p.in.type);
}

constexpr auto table = table_of<TwiceProblem>({
    {.variant = {.name = "tiled",
                 .summary = "a group processes a tile",
                 .order = OperationOrder::canonical,
                 .source = "textbook"},
     .groups = {run_groups, supports},
     .single_items = {run_items, supports},
     .host = {run_items, supports}},
    {.variant = {.name = "serial",
                 .summary = "one loop on one thread",
                 .order = OperationOrder::canonical,
                 .source = "textbook"},
     .host = {run_serial, supports}},
});
constexpr auto variants = variants_of(table);

}  // namespace
}  // namespace detail

constinit const Algorithm twice_algorithm{
    .name = "twice", .summary = "out[i] = 2 in[i]", .variants = detail::variants};

Enqueued twice(Stream& stream, const View& in, const View& out, const Options& options) {
    detail::check_operand("twice", "in", stream, in);
    detail::check_output("twice", "out", stream, out);
    if (in.type != out.type || in.count != out.count)
        throw Error(ErrorCode::invalid_argument, "twice", "in and out differ in type or count");
    detail::check_overlap("twice", {"out", out}, {"in", in}, detail::InPlace::yes);
    const detail::TwiceProblem problem{in, out};
    const TuningPoint point{in.type, in.count, 0};
    const auto& row = detail::choose_tuned("twice", detail::table, stream.device(), problem, point, options);
    if (in.count > 0) row.run(stream, problem);
    return detail::enqueued(stream, row, problem);
}

}  // namespace concord
