// Host side of transpose's textbook steps.

#include "transpose_sources.hpp"
#include "transpose_variants.hpp"

namespace concord::detail {
namespace {

constexpr u32 step_group_size = 256, step_tile = 32;
constexpr u32 row_major = 1;              // height of a band; see transpose_tile.kernel
constexpr u64 host_group = u64{1} << 14;  // elements per group on the CPU

std::shared_ptr<Kernel> steps_kernel(Device& device, const TransposeProblem& p, const char* entry, u32 pad) {
    return transpose_kernel(device, p, kernel_sources::transpose_steps(), entry, step_group_size,
                            {{"TILE", step_tile}, {"PAD", pad}});
}

constexpr TransposeTiles step_tiles{.side = step_tile, .group_size = step_group_size};

void run_tiled(Stream& stream, const TransposeProblem& p, u32 pad) {
    const auto kernel =
        steps_kernel(stream.device(), p, p.in_place ? "transpose_exchange" : "transpose_tiled", pad);
    if (p.in_place) return launch_pairs(stream, p, *kernel, step_tiles);
    launch_tiles(stream, p, *kernel, step_tiles, step_tile, step_tile, row_major);
}

// Host kernels: the last arguments tell a group its part.
template <class... A>
void run_on_host(Stream& stream, const TransposeProblem& p, const char* entry,
                 HostKernel TransposeHost::*host, u64 groups, const A&... last) {
    const auto kernel = host_kernel_of(stream.device(), entry, transpose_host(p.size()).*host);
    const TransposeShape& s = p.shape;
    launch(stream, *kernel, LaunchShape::linear(groups, 1), p.in, p.out, s.rows, s.columns, s.in_pitch,
           s.out_pitch, last...);
}

}  // namespace

Support supports_transpose_naive(const Device& device, const TransposeProblem& p) {
    if (Support group = supports_group(device, step_group_size); !group) return group;
    return supports_tiles(p, step_group_size / 32, 32);
}

Support supports_transpose_tiled(const Device& device, const TransposeProblem& p) {
    if (Support group = supports_group(device, step_group_size); !group) return group;
    return supports_tiles(p, step_tile, step_tile);
}

void run_transpose_naive(Stream& stream, const TransposeProblem& p) {
    const auto kernel = steps_kernel(stream.device(), p, "transpose_naive", 0);
    launch_tiles(stream, p, *kernel, step_tiles, step_group_size / 32, 32, row_major);
}

void run_transpose_tiled(Stream& stream, const TransposeProblem& p) {
    run_tiled(stream, p, 0);
}

// Rows are padded by one word, or one element if it is larger.
void run_transpose_tiled_padded(Stream& stream, const TransposeProblem& p) {
    run_tiled(stream, p, std::max(1U, 4 / p.size()));
}

void run_transpose_serial_host(Stream& stream, const TransposeProblem& p) {
    run_on_host(stream, p, "transpose_serial", &TransposeHost::serial, 1);
}

void run_transpose_naive_host(Stream& stream, const TransposeProblem& p) {
    const u64 strip = std::max<u64>(1, host_group / p.shape.columns);
    run_on_host(stream, p, "transpose_naive", &TransposeHost::naive, divide_up(p.shape.rows, strip), strip);
}

void run_transpose_tiled_host(Stream& stream, const TransposeProblem& p) {
    const u64 across = divide_up(p.shape.columns, step_tile),
              count = divide_up(p.shape.rows, step_tile) * across,
              each = host_group / (step_tile * step_tile);
    run_on_host(stream, p, "transpose_tiled", &TransposeHost::tiled, divide_up(count, each), count, across,
                each);
}

}  // namespace concord::detail
