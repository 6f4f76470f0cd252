#include "halo.hpp"
#include "distributed_sources.hpp"

#include "halo_host.hpp"

#include <concord/internal/launch.hpp>
#include <concord/internal/shape.hpp>

#include <numeric>

namespace concord {

namespace detail {
namespace {

// A group copies group_size * each packs of `pack` elements.
struct HaloGroup {
    u32 group_size = 1, each = 1, pack = 1;
};

std::shared_ptr<Kernel> halo_kernel(Device& device, u32 size, const HaloGroup& group) {
    return device.kernel({.source = &kernel_sources::halo(),
                          .entry = "halo_runs",
                          .constants = {{"ELEMENT", bits_of_size(size)},
                                        {"PACK", group.pack},
                                        {"GROUP", group.group_size},
                                        {"EACH", group.each}},
                          .host = size == 4 ? plain_host_kernel<&detail::host::halo_runs<u32>>()
                                            : plain_host_kernel<&detail::host::halo_runs<u64>>(),
                          .max_group_size = group.group_size});
}

// Elements per pack: the largest pack of at most 16 bytes that all runs are aligned to, at both ends.
u32 pack_of(const View& from, const Runs& from_runs, const View& to, const Runs& to_runs) {
    const u64 size = size_of(from.type);
    u64 common = 16;
    for (const u64 bytes :
         {from.offset, to.offset, from_runs.length * size, from_runs.stride * size, to_runs.stride * size})
        common = std::gcd(common, bytes);
    return static_cast<u32>(common / size);
}

// Copies runs by a kernel whose groups have several work-items or packs.
void launch_runs(Stream& stream, const View& from, const Runs& from_runs, const View& to, const Runs& to_runs,
                 u32 size) {
    const DeviceTraits& traits = stream.device().traits();
    const u32 pack = pack_of(from, from_runs, to, to_runs);
    const u64 packs = from_runs.length / pack;
    HaloGroup group{.group_size = 1, .each = 4096, .pack = pack};
    if (traits.launch == LaunchModel::groups && packs <= 32)  // runs along x
        group = {.group_size = std::min(32U, traits.max_group_size), .each = 1, .pack = pack};
    else if (traits.launch == LaunchModel::groups)
        group = {.group_size = std::min(256U, traits.max_group_size), .each = 4, .pack = pack};
    const auto kernel = halo_kernel(stream.device(), size, group);
    const u32 pieces = static_cast<u32>(divide_up(packs, u64{group.group_size} * group.each));
    if (const Support counted = supports_group_count({from_runs.count, pieces}); !counted)
        throw Error(ErrorCode::unsupported, "distributed_stencil", counted.text());
    launch(stream, *kernel, LaunchShape::linear(from_runs.count * pieces, group.group_size), from, to, packs,
           from_runs.stride / pack, to_runs.stride / pack, pieces);
}

}  // namespace

u64 BoxRuns::extent() const {
    if (elements() == 0) return 0;
    return (repeats - 1) * repeat_stride + (runs.count - 1) * runs.stride + runs.length;
}

BoxRuns BoxRuns::dense() const {
    return {0, {runs.count, runs.length, runs.length}, repeats, runs.elements()};
}

BoxRuns runs_of(const VolumeExtents& shape, const StencilBox& box) {
    const u64 plane = shape.rows * shape.columns, planes = box.z_end - box.z_begin,
              rows = box.y_end - box.y_begin, width = box.width(shape.columns);
    const u64 first = box.z_begin * plane + box.y_begin * shape.columns;
    if (width == shape.columns) return {first, {planes, rows * width, plane}};
    if (rows == shape.rows) return {first + box.x_begin, {planes * rows, width, shape.columns}};
    return {first + box.x_begin, {rows, width, shape.columns}, planes, plane};
}

void copy_runs(Stream& stream, const View& from, const Runs& from_runs, const View& to, const Runs& to_runs) {
    const u64 size = size_of(from.type), count = from_runs.count, length = from_runs.length;
    if (from_runs.elements() == 0) return;
    if (from_runs.gapless() && to_runs.gapless())
        return stream.copy(*to.buffer, to.offset, *from.buffer, from.offset, from_runs.elements() * size);
    const DeviceTraits& traits = stream.device().traits();
    if (traits.launch == LaunchModel::host) {
        const auto kernel = halo_kernel(stream.device(), static_cast<u32>(size), {});
        constexpr u64 piece_bytes = u64{1} << 16;
        const u64 piece = piece_bytes / size;
        const u32 pieces = static_cast<u32>(divide_up(length, piece));
        launch(stream, *kernel, LaunchShape::linear(count * pieces, 1), from, to, length, from_runs.stride,
               to_runs.stride, pieces, piece);
        return;
    }
    launch_runs(stream, from, from_runs, to, to_runs, static_cast<u32>(size));
}

void copy_box(Stream& stream, const View& from, const BoxRuns& from_box, const View& to,
              const BoxRuns& to_box) {
    if (from_box.elements() == 0) return;
    const auto runs_at = [](const View& view, const BoxRuns& box, u64 repeat) {
        BoxRuns one = box;
        one.repeats = 1;
        return view.part(box.first + repeat * box.repeat_stride, one.extent());
    };
    for (u64 i = 0; i < from_box.repeats; ++i)
        copy_runs(stream, runs_at(from, from_box, i), from_box.runs, runs_at(to, to_box, i), to_box.runs);
}

void store_across(Stream& stream, const View& from, const View& to) {
    const u64 bytes = from.bytes();
    if (bytes == 0) return;
    const bool is_aligned = (bytes | from.offset | to.offset) % sizeof(u32) == 0;
    if (!is_aligned || stream.device().traits().launch != LaunchModel::groups)
        return stream.copy(*to.buffer, to.offset, *from.buffer, from.offset, bytes);
    const auto words = [&](const View& view) {
        return View{view.buffer, view.offset, bytes / sizeof(u32), Type::u32};
    };
    const Runs run{1, bytes / sizeof(u32), bytes / sizeof(u32)};
    launch_runs(stream, words(from), run, words(to), run, sizeof(u32));
}

}  // namespace detail
}  // namespace concord
