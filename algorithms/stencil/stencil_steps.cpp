// Host side of stencil's textbook steps.

#include "stencil_sources.hpp"
#include "stencil_variants.hpp"

namespace concord::detail {
namespace {

constexpr StencilTile step_tile{.group_size = 256, .group_size_x = 32};
constexpr u64 host_group = u64{1} << 14;  // points per group on the CPU

// One group per tile of every plane.
void run_planes(Stream& stream, const StencilProblem& p, const char* entry) {
    const auto kernel =
        stencil_kernel(stream.device(), p, kernel_sources::stencil_steps(), entry, step_tile.group_size,
                       {{"LANES_X", step_tile.group_size_x}, {"GROUP", step_tile.group_size}});
    const VolumeExtents& s = p.shape;
    const u32 across = tiles_in(s.columns, step_tile.width()), down = tiles_in(p.rows(), step_tile.height());
    with_star(p, StarLength::used, [&](const ValueBytes& star) {
        each_sweep(stream, p, 1, [&](const View& from, const View& to, u64) {
            launch(stream, *kernel,
                   LaunchShape::linear(u64{across} * down * p.planes(), step_tile.group_size), from, to,
                   s.depth, s.rows, s.columns, p.box.z_begin, p.box.y_begin, p.box.y_end, down, across, star);
        });
    });
}

// A group per `strip` rows.
void run_on_host(Stream& stream, const StencilProblem& p, u64 strip) {
    const auto kernel = host_kernel_of(stream.device(), "stencil_naive", stencil_host(p.type()).naive);
    const detail::host::StencilVolume volume = stencil_volume(p);
    const u64 groups = divide_up(p.planes() * p.rows(), strip);
    with_star(p, StarLength::all, [&](const ValueBytes& star) {
        each_sweep(stream, p, 1, [&](const View& from, const View& to, u64) {
            launch(stream, *kernel, LaunchShape::linear(groups, 1), from, to, struct_bytes(volume), strip,
                   star);
        });
    });
}

}  // namespace

Support supports_stencil_planes(const Device& device, const StencilProblem& p) {
    if (Support type = supports_type(device, p.type()); !type) return type;
    if (Support group = supports_group(device, step_tile.group_size); !group) return group;
    return supports_tiles(p, step_tile, p.planes());
}

void run_stencil_naive(Stream& stream, const StencilProblem& p) {
    run_planes(stream, p, "stencil_naive");
}

void run_stencil_tiled(Stream& stream, const StencilProblem& p) {
    run_planes(stream, p, "stencil_tiled");
}

void run_stencil_serial_host(Stream& stream, const StencilProblem& p) {
    run_on_host(stream, p, p.planes() * p.rows());
}

void run_stencil_naive_host(Stream& stream, const StencilProblem& p) {
    run_on_host(stream, p, std::max<u64>(1, host_group / p.shape.columns));
}

}  // namespace concord::detail
