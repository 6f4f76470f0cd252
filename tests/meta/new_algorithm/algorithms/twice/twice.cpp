#include "twice_sources.hpp"

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
        out[i] = in[i] + in[i];
}

void run(Stream& stream, const TwiceProblem& p, u64 tile) {
    Device& device = stream.device();
    const auto kernel = device.kernel(
        {.source = &kernel_sources::twice(),
         .entry = "twice",
         .constants = {{"T", p.in.type}},
         .host = p.in.type == Type::f32 ? host_kernel<&twice_host<f32>>() : host_kernel<&twice_host<f64>>()});
    const u64 n = p.in.count;
    const u32 group_size = device.traits().many_items ? 256 : 1;
    launch(stream, *kernel, LaunchShape::linear(divide_up(n, tile), group_size), p.in, p.out, n, tile);
}

void run_tiled(Stream& stream, const TwiceProblem& p) {
    run(stream, p, 4096);
}

void run_serial(Stream& stream, const TwiceProblem& p) {
    run(stream, p, p.in.count);
}

Support supports(const Device& device, const TwiceProblem& p) {
    if (!is_float(p.in.type)) return Support::no("elements are f32 or f64");
    return supports_type(device, p.in.type);
}

struct TwiceRow {
    Variant variant;
    Required<Support(const Device&, const TwiceProblem&)> supports;
    Required<void(Stream&, const TwiceProblem&)> run;
};

constexpr TwiceRow table[] = {
    {.variant = {.name = "tiled",
                 .summary = "a group processes a tile",
                 .dialects = {Dialect::cuda, Dialect::opencl, Dialect::host},
                 .order = OperationOrder::canonical,
                 .source = "textbook"},
     .supports = supports,
     .run = run_tiled},
    {.variant = {.name = "serial",
                 .summary = "one loop on one thread",
                 .dialects = {Dialect::host},
                 .order = OperationOrder::canonical,
                 .source = "textbook"},
     .supports = supports,
     .run = run_serial},
};
constexpr auto variants = variants_of(table);

}  // namespace
}  // namespace detail

constinit const Algorithm twice_algorithm{
    .name = "twice", .summary = "out[i] = 2 in[i]", .variants = detail::variants};

Enqueued twice(Stream& stream, const View& in, const View& out, const Options& options) {
    detail::check_operand("twice", "in", stream, in);
    detail::check_operand("twice", "out", stream, out);
    if (in.type != out.type || in.count != out.count)
        throw Error(ErrorCode::invalid_argument, "twice", "in and out differ in type or count");
    const detail::TwiceProblem problem{in, out};
    const TuningPoint point{in.type, in.count, 0};
    const auto& row = detail::choose_tuned("twice", detail::table, stream.device(), problem, point, options);
    if (in.count > 0) row.run(stream, problem);
    return {row.variant.name, &stream.device()};
}

}  // namespace concord
