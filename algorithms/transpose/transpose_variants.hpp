#pragma once
// Internal to transpose: the validated call, tunables, and the functions of its variants.

#include <concord/internal/launch.hpp>
#include <concord/internal/row.hpp>
#include <concord/transpose.hpp>
#include <concord/tuning.hpp>

#include "transpose_host.hpp"

namespace concord::detail {

// Sizes and pitches of in and out in row-major layout.
struct TransposeShape {
    u64 rows, columns, in_pitch, out_pitch;
};

// A call as the kernels see it: in and out have an unsigned type, pitches are not 0.
struct TransposeProblem {
    View in, out;
    TransposeShape shape;
    bool in_place = false;

    static constexpr bool moves_bits = true;
    Type type() const { return in.type; }
    u32 size() const { return size_of(in.type); }
};

inline constexpr Tunable transpose_band{
    "transpose.band",
    "rows of tiles per band of vectorized; groups go through a band together",
    on_gpus,
    {1, 2, 4, 8, 16, 32}};
inline constexpr Tunable transpose_groups_a_unit{
    "transpose.groups", "largest number of groups per thread, blocked", on_cpus, {4, 8, 16, 32, 64}};
inline constexpr Tunable transpose_group_kib{
    "transpose.group_kib", "smallest KiB of data per group, blocked", on_cpus, {64, 128, 256, 512, 1024}};
inline constexpr Tunable transpose_tile_side{
    "transpose.side", "largest side of a tile in elements, blocked", on_cpus, {64, 128, 256}};

inline TuningPoint point_of(const TransposeProblem& p) {
    const TransposeShape& s = p.shape;
    const bool oblong = s.rows / 4 > s.columns || s.columns / 4 > s.rows;
    return {p.in.type, s.rows * s.columns, oblong ? 1U : 0U};
}

// The host kernels for one element size.
struct TransposeHost {
    HostKernel serial, naive, tiled, blocked, exchange, direct;
    u64 wide_bytes;  // length of the vectors of `direct` with AVX-512
};

const TransposeHost& transpose_host(u32 size);

// Bytes of an access of a work-item.
inline constexpr u32 transpose_pack_bytes = 16;

// The kernel with its constants, besides those of the element size.
std::shared_ptr<Kernel> transpose_kernel(Device& device, const TransposeProblem& p,
                                         const KernelSource& source, const char* entry, u32 group_size,
                                         const Constants& constants);

// Whether the number of tiles of rows x columns is within the limit of a launch.
inline Support supports_tiles(const TransposeProblem& p, u64 rows, u64 columns) {
    return supports_group_count({divide_up(p.shape.rows, rows), divide_up(p.shape.columns, columns)});
}

// The tiles of a kernel with many work-items per group.
struct TransposeTiles {
    u32 side = 1;        // elements
    u32 group_size = 1;  // work-items
    u32 width = 1;       // packs per row
};

// Launches one group per tile, with the kernel's last arguments.
template <class... A>
void launch_tiles(Stream& stream, const TransposeProblem& p, const Kernel& kernel,
                  const TransposeTiles& tiles, u32 rows, u32 columns, u32 band, const A&... last) {
    const u32 down = tiles_in(p.shape.rows, rows), across = tiles_in(p.shape.columns, columns);
    launch(stream, kernel, LaunchShape::linear(u64{down} * across, tiles.group_size), p.in, p.out,
           p.shape.rows, p.shape.columns, p.shape.in_pitch, p.shape.out_pitch, down, across,
           std::min(band, down), last...);
}

// Launches one group per pair of tiles, with the kernel's last arguments.
template <class... A>
void launch_pairs(Stream& stream, const TransposeProblem& p, const Kernel& kernel,
                  const TransposeTiles& tiles, const A&... last) {
    const u64 side = divide_up(p.shape.rows, tiles.side);
    launch(stream, kernel, LaunchShape::linear(side * (side + 1) / 2, tiles.group_size), p.out, p.shape.rows,
           p.shape.in_pitch, static_cast<u32>(side), last...);
}

// Copies, and returns true, if the matrix is one row or column whose elements are contiguous in in and out.
bool transpose_by_copy(Stream& stream, const TransposeProblem& p);

// Groups of many work-items.
SupportsOf<TransposeProblem> supports_transpose_vectorized, supports_transpose_tiled,
    supports_transpose_naive;
RunOf<TransposeProblem> run_transpose_vectorized, run_transpose_tiled_padded, run_transpose_tiled,
    run_transpose_naive;

// One work-item per group.
RunOf<TransposeProblem> run_transpose_blocked_items;

// C++.
RunOf<TransposeProblem> run_transpose_blocked_host, run_transpose_tiled_host, run_transpose_naive_host,
    run_transpose_serial_host;

}  // namespace concord::detail
