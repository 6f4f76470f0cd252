// Host side of `blocked`: tiling of the volume for one work-item per group, and number of steps per pass.

#include "stencil_sources.hpp"
#include "stencil_variants.hpp"

#include <concord/detail/checked_size.hpp>

namespace concord::detail {
namespace {

constexpr u32 longest_row = 1024;  // points of a tile

// Rows of a tile whose active planes of `steps` steps fit into `bytes`; 0 if not even one row fits. All steps but the
// last also compute some rows above and below the tile.
u64 fitting_rows(const StencilProblem& p, u64 width, u64 steps, u64 bytes) {
    const u64 radius = p.radius(), plane = (2 * radius + 1) * width * p.size();
    const u64 rows = bytes / plane, more = radius * steps * (steps - 1) + 2 * radius;
    return rows > more ? (rows - more) / steps : 0;
}

u64 thread_cache(const Device& device) {
    return device.traits().cache / std::max(1U, device.traits().units);
}

// Steps per pass: as many as add at most an eighth to the work. Their planes may take twice a thread's own cache,
// because a shared cache level is still faster than memory.
u64 steps_at_once(const Device& device, const StencilProblem& p) {
    constexpr u64 most = 4;
    u64 steps = 1;
    for (u64 k = 2; k <= most; ++k) {
        const u64 rows =
            fitting_rows(p, std::min<u64>(p.shape.columns, longest_row), k, 2 * thread_cache(device));
        if (8 * p.radius() * (k - 1) <= rows) steps = k;
    }
    return std::min(steps, p.steps);
}

// Tiles have whole rows of up to longest_row points, as many rows as keep the planes of all steps in the thread's
// cache, and the whole depth unless threads would have no work.
detail::host::StencilTiling tiling_of(const Device& device, const StencilProblem& p, u64 steps) {
    const VolumeExtents& s = p.shape;
    const u64 radius = p.radius(), ring = 2 * radius + 1, ahead = radius * (steps - 1);
    constexpr u64 min_rows = 8;
    detail::host::StencilTiling t;
    t.steps = steps;
    t.columns = std::min<u64>(s.columns, longest_row);
    t.across = divide_up(s.columns, t.columns);
    const u64 width = std::min(s.columns, t.columns + 2 * ahead);
    t.pitch = divide_up(width + 2 * detail::host::stencil_margin, detail::host::stencil_margin) *
              detail::host::stencil_margin;
    const u64 part = tuned(device, stencil_cache_part, point_of(p), steps == 1 ? 100 : 200);
    const u64 rows = fitting_rows(p, width, steps, thread_cache(device) / 100 * part);
    t.down = divide_up(p.rows(), std::max(rows, min_rows));
    t.rows = divide_up(p.rows(), t.down);
    t.down = divide_up(p.rows(), t.rows);
    t.plane_rows = std::min(s.rows, t.rows + 2 * ahead);
    t.slot = steps == 1 ? 0 : (steps - 1) * ring * t.plane_rows * t.pitch + 2 * detail::host::stencil_margin;
    // Small volumes are one group, because starting a thread costs more than the work. Larger ones have several
    // groups per thread, each deep enough that the planes which two groups read cost little.
    constexpr u64 min_points = u64{1} << 16;
    const u64 tiles = t.across * t.down, points = t.rows * t.columns;
    const u64 units = device.traits().units,
              each = tuned(device, stencil_groups_a_unit, point_of(p), units > 1 ? 4 : 1);
    const u64 wanted = divide_up(units * each, tiles);
    t.depth = std::max({divide_up(p.planes(), wanted), 8 * radius * steps, divide_up(min_points, points)});
    t.depth = std::min(p.planes(), t.depth);
    return t;
}

u64 groups_of(const StencilProblem& p, const detail::host::StencilTiling& t) {
    return t.across * t.down * divide_up(p.planes(), t.depth);
}

// Whether the planes of all groups fit the scratch memory that the header promises. They do not if rows are shorter
// than their padding, or if the volume has fewer planes than a group holds.
bool fits_scratch(const Device& device, const StencilProblem& p, u64 steps) {
    const detail::host::StencilTiling t = tiling_of(device, p, steps);
    const u64 limit = std::max(4 * p.bytes(), 8 * device.traits().cache);
    return (CheckedSize(groups_of(p, t)) * t.slot * p.size()).fits(limit);
}

}  // namespace

void run_stencil_blocked_host(Stream& stream, const StencilProblem& p) {
    Device& device = stream.device();
    const auto kernel = host_kernel_of(device, "stencil_blocked", stencil_host(p.type()).blocked);
    const detail::host::StencilVolume volume = stencil_volume(p);
    const u64 non_temporal = 2 * p.bytes() > device.traits().cache ? 1 : 0;
    u64 at_once = 2 * p.bytes() > thread_cache(device) ? steps_at_once(device, p) : 1;
    if (p.steps > 1) at_once = std::min(p.steps, tuned(device, stencil_steps_together, point_of(p), at_once));
    while (at_once > 1 && !fits_scratch(device, p, at_once))
        --at_once;
    std::shared_ptr<Buffer> rings;
    with_star(p, StarLength::all, [&](const ValueBytes& star) {
        each_sweep(stream, p, at_once, [&](const View& from, const View& to, u64 steps) {
            detail::host::StencilTiling t = tiling_of(device, p, steps);
            t.non_temporal = non_temporal;
            const u64 groups = groups_of(p, t), bytes = groups * t.slot * p.size();
            if (bytes > 0 && (!rings || rings->size() < bytes)) rings = stream.scratch(bytes);
            const View scratch = bytes > 0 ? View{rings.get(), 0, groups * t.slot, p.type()} : to;
            launch(stream, *kernel, LaunchShape::linear(groups, 1, 3 * t.pitch * p.size()), from, to, scratch,
                   struct_bytes(volume), struct_bytes(t), star);
        });
    });
}

void run_stencil_blocked_items(Stream& stream, const StencilProblem& p) {
    Device& device = stream.device();
    const auto kernel = stencil_kernel(device, p, kernel_sources::stencil_wide(), "stencil_blocked", 1,
                                       {{"SIZE", p.size()}, {"ROW", longest_row}});
    const VolumeExtents& s = p.shape;
    const detail::host::StencilTiling t = tiling_of(device, p, 1);
    const u32 non_temporal = 2 * p.bytes() > device.traits().cache ? 1 : 0;
    // Rows outside the volume read these zeros.
    const Array<u8> zeros(stream, u64{longest_row} * p.size());
    const u64 zero = 0;
    stream.fill(*zeros.buffer(), 0, zeros.size(), &zero, 8);
    const View row{zeros.buffer().get(), 0, longest_row, p.type()};
    with_star(p, StarLength::used, [&](const ValueBytes& star) {
        each_sweep(stream, p, 1, [&](const View& from, const View& to, u64) {
            launch(stream, *kernel, LaunchShape::linear(groups_of(p, t), 1), from, to, row, s.depth, s.rows,
                   s.columns, p.box.z_begin, p.box.z_end, p.box.y_begin, p.box.y_end, t.depth, t.rows,
                   t.columns, t.down, t.across, non_temporal, star);
        });
    });
}

}  // namespace concord::detail
