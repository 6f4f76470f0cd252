// evaluate(): expressions as arrays.

#include "map_sources.hpp"

#include <concord/internal/input.hpp>
#include <concord/internal/launch.hpp>
#include <concord/internal/operands.hpp>

#include <algorithm>
#include <cstring>

namespace concord::detail {
namespace {

constexpr u32 evaluate_group = 256;
constexpr u64 evaluate_tile = u64{1} << 14;  // elements of a group on the CPU

// Parallel source: evaluate.kernel.
void evaluate_tiles(const Group& group, std::byte* out, u64 n, u32 size, HostArguments rest) {
    const host::HostInput<std::byte> in(rest);
    const u64 begin = group.x * evaluate_tile;
    in.store(group.isa, begin, min_of(evaluate_tile, n - begin), size, out + begin * size);
}

}  // namespace

Enqueued evaluate(Stream& stream, const Input& in, const View& out, const Options& options) {
    constexpr std::string_view call = "evaluate";
    check_stored_input(call, "the expression", stream, in);
    check_stored(call, "out", stream, out);
    check_writable(call, "out", out);
    check_same_type(call, {{"the expression", in.view.type}, {"out", out.type}});
    if (in.view.count != out.count)
        throw Error(ErrorCode::invalid_argument, call,
                    "out must have the size of the expression, " + std::to_string(in.view.count) + ", got " +
                        std::to_string(out.count));
    check_input_overlap(call, {"out", out}, "in", in, InPlace::yes);
    Device& device = stream.device();
    if (options.variant != "auto")
        throw Error(ErrorCode::invalid_argument, call,
                    "unknown variant '" + options.variant + "'; available for expressions: auto");
    if (const Support support = supports_input(device, in); !support)
        throw Error(ErrorCode::unsupported, call, support.text());
    if (options.order && *options.order != OperationOrder::unspecified) check_portable(call, in, device);
    const Enqueued done{call, &device,
                        is_portable(in, device) ? OperationOrder::canonical : OperationOrder::unspecified};
    if (out.count == 0) return done;
    // A range.
    if (!in.node) {
        if (in.view.buffer != out.buffer || in.view.offset != out.offset)
            stream.copy(*out.buffer, out.offset, *in.view.buffer, in.view.offset, out.bytes());
        return done;
    }
    const bool on_host = device.traits().launch == LaunchModel::host;
    const u32 group = on_host ? 1 : std::min(evaluate_group, device.traits().max_group_size);
    const InputArguments arguments(in);
    const auto kernel =
        device.kernel({.source = on_host ? nullptr : &with_input(kernel_sources::evaluate(), in),
                       .entry = "evaluate",
                       .constants = {{"T", kernel_type(out.type)}, {"GROUP", group}},
                       .host = dispatching_host_kernel<&evaluate_tiles>(),
                       .max_group_size = group});
    if (on_host) {
        arguments.launch(stream, *kernel, LaunchShape::linear(divide_up(out.count, evaluate_tile), 1), out,
                         out.count, u32{size_of(out.type)});
    } else {
        arguments.launch(stream, *kernel, LaunchShape::linear(divide_up(out.count, group), group), out,
                         out.count);
    }
    return done;
}

Enqueued evaluate(Stream& stream, const Input& in, const NdExtents& extents, const NdView& out,
                  const Options& options) {
    if (!(out.extents() == extents))
        throw Error(ErrorCode::invalid_argument, "evaluate",
                    "out must have the extents of the expression, " + shape_name(extents) + ", got " +
                        shape_name(out.extents()));
    if (out.size() > 0 && !out.is_contiguous())
        throw Error(ErrorCode::unsupported, "evaluate",
                    "out must be contiguous in row-major order; evaluate to an array and copy it");
    return evaluate(stream, in, out.range().part(0, out.size()), options);
}

}  // namespace concord::detail
