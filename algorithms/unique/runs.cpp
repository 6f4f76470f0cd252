#include "unique_sources.hpp"

#include <concord/compact.hpp>
#include <concord/internal/builtin_function.hpp>
#include <concord/internal/input.hpp>
#include <concord/internal/launch.hpp>
#include <concord/internal/operands.hpp>
#include <concord/internal/runs.hpp>

#include <algorithm>

namespace concord::detail {
namespace {

// Whether neighbours belong to different runs. B: type of the elements as bits.
template <class B>
CONCORD_BUILTIN_OF((B), u8, differ, (B a, B b), return u8(a != b);)
// The same for floats: equal NaNs differ.
template <class B>
CONCORD_BUILTIN_OF((B), u8, differ_f32, (B a, B b), return u8(a != b || (a & 0x7fffffffU) > 0x7f800000U);)
template <class B>
CONCORD_BUILTIN_OF((B), u8, differ_f64, (B a, B b),
                   return u8(a != b || (a & 0x7fffffffffffffffUL) > 0x7ff0000000000000UL);)

}  // namespace

View as_bits(View view) {
    view.type = bits_of_size(size_of(view.type));
    return view;
}

namespace {

template <class F>
ExpressionPointer of_neighbours(const View& in) {
    const View bits = as_bits(in);
    return function_node(Function<F>{},
                         {range_node(bits.part(1, in.count - 1)), range_node(bits.part(0, in.count - 1))});
}

template <class P>
void run_ends_host(const Group& /*group*/, u64* runs, P* offsets, u64* count, u64 n) {
    const u64 all = *runs + 1;
    offsets[0] = 0;
    offsets[all] = static_cast<P>(n);
    *runs = *count = all;
}

template <class P>
void counted_run_ends_host(const Group& /*group*/, u64* runs, P* offsets, u64* count, const u64* live) {
    const u64 n = *live, all = *runs + (n == 0 ? 0 : 1);
    offsets[0] = 0;
    offsets[all] = static_cast<P>(n);
    *runs = *count = all;
}

template <class B, class P>
void run_elements_host(const Group& group, const B* in, const P* offsets, const u64* count, B* out,
                       u64* lengths, u32 has_lengths) {
    const u64 runs = *count, each = divide_up(runs, u64{group.count_x}), first = group.x * each,
              end = std::min(runs, first + each);
    for (u64 r = first; r < end; ++r) {
        const u64 begin = offsets[r];
        out[r] = in[begin];
        if (has_lengths != 0) lengths[r] = offsets[r + 1] - begin;
    }
}

// The type of positions in n elements, and of n.
Type position_type(u64 n) {
    return n <= ~u32{0} ? Type::u32 : Type::u64;
}

template <class F>
auto visit_position(Type type, const F& f) {
    return type == Type::u32 ? f(u32{}) : f(u64{});
}

HostKernel elements_host(u32 size, Type position) {
    return visit_position(position, [&]<class P>(P) {
        switch (size) {
            case 1:
                return host_kernel<&run_elements_host<u8, P>>();
            case 2:
                return host_kernel<&run_elements_host<u16, P>>();
            case 4:
                return host_kernel<&run_elements_host<u32, P>>();
            default:
                return host_kernel<&run_elements_host<u64, P>>();
        }
    });
}

}  // namespace

namespace {
ExpressionPointer differ_node(const View& in) {
    if (in.type == Type::f32) return of_neighbours<differ_f32_function<u32>>(in);
    if (in.type == Type::f64) return of_neighbours<differ_f64_function<u64>>(in);
    switch (size_of(in.type)) {
        case 1:
            return of_neighbours<differ_function<u8>>(in);
        case 2:
            return of_neighbours<differ_function<u16>>(in);
        case 4:
            return of_neighbours<differ_function<u32>>(in);
        default:
            return of_neighbours<differ_function<u64>>(in);
    }
}
}  // namespace

ExpressionPointer begins_run_node(const View& in, const View& live) {
    return live.buffer != nullptr ? below_node(differ_node(in), 1, live) : differ_node(in);
}

RunOffsets::RunOffsets(Stream& stream, const View& in, const View& count, const View& live) {
    const u64 n = in.count;
    const Type type = position_type(n);
    const u64 bytes = divide_up((n + 1) * size_of(type), sizeof(u64)) * sizeof(u64);
    room = stream.scratch(bytes + sizeof(u64));
    offsets = {room.get(), 0, n + 1, type};
    runs = {room.get(), bytes, 1, Type::u64};
    if (n == 1) {
        count_no_runs(stream, runs);
    } else {
        const u64 first = 1, step = 1;  // little-endian: also those of u32
        Input positions(View{nullptr, 0, n - 1, type});
        positions.node = counting_node(type, &first, &step);
        compact(stream, positions, Input(begins_run_node(in, live)), offsets.part(1, n - 1), runs,
                Others::dropped, {});
    }
    const bool is_live = live.buffer != nullptr;
    const auto kernel = stream.device().kernel(
        {.source = &kernel_sources::run_ends(),
         .entry = "run_ends",
         .constants = {{"P", type}, {"GROUP", 1U}, {"LIVE", u32{is_live}}},
         .host = visit_position(type,
                                [&]<class P>(P) {
                                    return is_live ? host_kernel<&counted_run_ends_host<P>>()
                                                   : host_kernel<&run_ends_host<P>>();
                                }),
         .max_group_size = 1});
    if (is_live) {
        launch(stream, *kernel, LaunchShape::linear(1, 1), runs, offsets, count, live);
    } else {
        launch(stream, *kernel, LaunchShape::linear(1, 1), runs, offsets, count, n);
    }
}

void store_runs(Stream& stream, const View& in, const RunOffsets& runs, const View& out,
                const View& lengths) {
    Device& device = stream.device();
    const bool has_lengths = lengths.buffer != nullptr;
    const View bits = as_bits(in);
    const u32 group = device.traits().launch == LaunchModel::groups ? 256 : 1;
    const auto kernel = device.kernel({.source = &kernel_sources::run_elements(),
                                       .entry = "run_elements",
                                       .constants = {{"B", bits.type},
                                                     {"P", runs.offsets.type},
                                                     {"HAS_LENGTHS", u32{has_lengths}},
                                                     {"GROUP", group}},
                                       .host = elements_host(size_of(in.type), runs.offsets.type),
                                       .max_group_size = group});
    const u64 most = divide_up(in.count, u64{4096}),
              groups = std::min(most, u64{device.traits().units} * (group == 1 ? 4 : 16));
    const LaunchShape shape = LaunchShape::linear(groups, group);
    const View to = as_bits(out), sizes = has_lengths ? lengths : runs.runs;
    if (device.traits().launch == LaunchModel::host) {
        launch(stream, *kernel, shape, bits, runs.offsets, runs.runs, to, sizes, u32{has_lengths});
    } else {
        launch(stream, *kernel, shape, bits, runs.offsets, runs.runs, to, sizes);
    }
}

void check_runs(std::string_view call, Stream& stream, const NamedInput& from, const View& count,
                std::initializer_list<NamedView> results) {
    const Input& in = from.in;
    const auto refuse = [call](const std::string& what) {
        throw Error(ErrorCode::invalid_argument, call, what);
    };
    check_input(call, from.name, stream, in);
    check_output(call, "count", stream, count);
    if (count.type != Type::u64 || count.count != 1)
        refuse("count must be one u64, got " + std::to_string(count.count) + " elements of " +
               std::string(name_of(count.type)));
    check_input_overlap(call, {"count", count}, from.name, in);
    for (const NamedView* result = results.begin(); result != results.end(); ++result) {
        check_output(call, result->name, stream, result->view);
        if (result->view.count < in.view.count)
            refuse(std::string(result->name) + " is too short, got " + std::to_string(result->view.count) +
                   " elements for " + std::to_string(in.view.count) + " of " + from.name +
                   "; pass at least as many");
        check_input_overlap(call, *result, from.name, in);
        check_overlap(call, {"count", count}, *result);
        for (const NamedView* other = results.begin(); other != result; ++other)
            check_overlap(call, *result, *other);
    }
}

void count_no_runs(Stream& stream, const View& count) {
    const u64 none = 0;
    stream.fill(*count.buffer, count.offset, sizeof none, &none, sizeof none);
}

}  // namespace concord::detail
