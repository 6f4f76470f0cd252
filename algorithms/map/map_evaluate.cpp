// evaluate(): expressions as arrays.

#include "expression_nodes.hpp"
#include "map_sources.hpp"

#include <concord/internal/input.hpp>
#include <concord/internal/launch.hpp>
#include <concord/internal/nd_lines.hpp>
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

// The same if only the device knows the number of elements.
void evaluate_counted_tiles(const Group& group, std::byte* out, const u64* count, u32 size,
                            HostArguments rest) {
    if (group.x * evaluate_tile < *count) evaluate_tiles(group, out, *count, size, rest);
}

// Writes elements of a line from its element k on.
template <class U>
void write_line(const std::byte* from, std::byte* out, i64 first, i64 step, u64 count) {
    for (u64 i = 0; i < count; ++i) {
        U value;
        std::memcpy(&value, from + i * sizeof(U), sizeof(U));
        std::memcpy(out + (first + static_cast<i64>(i) * step) * static_cast<i64>(sizeof(U)), &value,
                    sizeof(U));
    }
}

void evaluate_strided_tiles(const Group& group, std::byte* out, const NdLines<1> s, u32 size,
                            HostArguments rest) {
    alignas(64) std::byte room[host::block_length * sizeof(u64)];
    const host::HostInput<std::byte> in(rest);
    const u64 n = s.lines * s.n, begin = group.x * evaluate_tile, end = min_of(n, begin + evaluate_tile);
    for (u64 at = begin; at < end; at += host::block_length) {
        const u64 count = min_of(host::block_length, end - at);
        const std::byte* const from =
            in.is_range() ? in.range() + at * size : in.block(group.isa, at, count, room);
        for (u64 done = 0; done < count;) {
            const u64 line = (at + done) / s.n, k = (at + done) % s.n, some = min_of(count - done, s.n - k);
            const i64 first = s.line_at(0, line) + static_cast<i64>(k) * s.step[0];
            visit_size(size, [&](auto tag) {
                write_line<typename decltype(tag)::type>(from + done * size, out, first, s.step[0], some);
            });
            done += some;
        }
    }
}

// Checks and enqueues the work. `enqueue` launches a kernel, if there are elements and the input is not a range.
template <class F>
Enqueued evaluated(Stream& stream, const Input& in, const View& out, u64 count, InPlace in_place,
                   const Options& options, const F& enqueue) {
    constexpr std::string_view call = "evaluate";
    check_stored_input(call, "the expression", stream, in);
    check_stored(call, "out", stream, out);
    check_writable(call, "out", out);
    check_same_type(call, {{"the expression", in.view.type}, {"out", out.type}});
    if (in.view.count != count)
        throw Error(ErrorCode::invalid_argument, call,
                    "out must have the size of the expression, " + std::to_string(in.view.count) + ", got " +
                        std::to_string(count));
    check_input_overlap(call, {"out", out}, "in", in, in_place);
    Device& device = stream.device();
    if (options.variant != "auto")
        throw Error(ErrorCode::invalid_argument, call,
                    "unknown variant '" + options.variant + "'; available for expressions: auto");
    if (const Support support = supports_input(device, in); !support)
        throw Error(ErrorCode::unsupported, call, support.text());
    if (options.order && *options.order != OperationOrder::unspecified) check_portable(call, in, device);
    const Enqueued done{call, &device,
                        is_portable(in, device) ? OperationOrder::canonical : OperationOrder::unspecified};
    if (count > 0) enqueue();
    return done;
}

// Elements that a work-item evaluates and stores by one access.
u32 pack_of(const Device& device, const Input& in, const View& out) {
    if (device.traits().launch != LaunchModel::groups) return 1;
    return 16 / std::max(size_of(out.type), widest_range(in));
}

// Launches the kernel of this name, with `pack` elements per work-item. The host kernel also takes the size of an
// element. is_live: whether only the device knows the number of elements.
template <class... A>
void launch_evaluation(Stream& stream, const Input& in, const View& out, u64 count, const char* entry,
                       u32 pack, bool is_live, const HostKernel& host, const A&... arguments) {
    Device& device = stream.device();
    const bool on_host = device.traits().launch == LaunchModel::host;
    const u32 group = on_host ? 1 : std::min(evaluate_group, device.traits().max_group_size);
    const InputArguments leaves(in);
    const auto kernel =
        device.kernel({.source = on_host ? nullptr : &with_input(kernel_sources::evaluate(), in),
                       .entry = entry,
                       .constants = {{"T", kernel_type(out.type)},
                                     {"GROUP", group},
                                     {"PACK", pack},
                                     {"OPERANDS", 1},
                                     {"LIVE", u32{is_live}}},
                       .host = host,
                       .max_group_size = group});
    if (on_host) {
        leaves.launch(stream, *kernel, LaunchShape::linear(divide_up(count, evaluate_tile), 1), out,
                      arguments..., u32{size_of(out.type)});
    } else {
        leaves.launch(stream, *kernel, LaunchShape::linear(divide_up(divide_up(count, pack), group), group),
                      out, arguments...);
    }
}

}  // namespace

Enqueued evaluate(Stream& stream, const Input& in, const View& out, const Options& options) {
    return evaluated(stream, in, out, out.count, InPlace::yes, options, [&] {
        if (in.node) {
            launch_evaluation(stream, in, out, out.count, "evaluate", pack_of(stream.device(), in, out),
                              false, dispatching_host_kernel<&evaluate_tiles>(), out.count);
        } else if (in.view.buffer != out.buffer || in.view.offset != out.offset) {
            stream.copy(*out.buffer, out.offset, *in.view.buffer, in.view.offset, out.bytes());
        }
    });
}

Enqueued evaluate_counted(Stream& stream, const Input& in, const View& out, const View& count,
                          const Options& options) {
    return evaluated(stream, in, out, out.count, InPlace::yes, options, [&] {
        Input from = in;
        if (!from.node) from.node = range_node(in.view);
        launch_evaluation(stream, from, out, out.count, "evaluate", pack_of(stream.device(), from, out), true,
                          dispatching_host_kernel<&evaluate_counted_tiles>(), count);
    });
}

Enqueued evaluate(Stream& stream, const Input& in, const NdExtents& extents, const NdView& out,
                  const Options& options) {
    if (!(out.extents() == extents))
        throw Error(ErrorCode::invalid_argument, "evaluate",
                    "out must have the extents of the expression, " + shape_name(extents) + ", got " +
                        shape_name(out.extents()));
    if (out.is_contiguous()) return evaluate(stream, in, out.range().part(0, out.size()), options);
    if (!out.is_unique())
        throw Error(ErrorCode::invalid_argument, "evaluate",
                    "indices of out may share elements; pass an array view whose strides keep them apart");
    // Lines along the last axis, in the order of the indices.
    NdLines<1> lines{.lines = 1, .n = 1};
    lines.at[0] = out.origin();
    for (u32 k = 0; k < out.rank(); ++k) {
        if (out.extent(k) == 1) continue;
        lines.extent[lines.kept] = out.extent(k);
        lines.stride[0][lines.kept++] = out.stride(k);
    }
    if (lines.kept > 0) {
        lines.n = lines.extent[--lines.kept];
        lines.step[0] = lines.stride[0][lines.kept];
    }
    for (u64 k = 0; k < lines.kept; ++k)
        lines.lines *= lines.extent[k];
    if (lines.kept == 0) lines.extent[lines.kept++] = 1;
    return evaluated(stream, in, out.range(), out.size(), InPlace::no, options, [&] {
        launch_evaluation(stream, in, out.range(), out.size(), "evaluate_strided", 1, false,
                          dispatching_host_kernel<&evaluate_strided_tiles>(), bytes_of(lines));
    });
}

}  // namespace concord::detail
