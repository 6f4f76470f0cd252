#pragma once
// Internal to convolve: the validated call, tunables, and the functions of its variants.

#include <concord/convolve.hpp>
#include <concord/host_kernel.hpp>
#include <concord/internal/row.hpp>
#include <concord/tuning.hpp>

namespace concord::detail {

// Shape and memory layout of the image and the result.
struct ConvolveShape {
    u64 rows, columns;
    ConvolveBorder border;
    u64 in_pitch, out_pitch;
};

// A validated call: the views cover the image exactly, all pitches are set.
struct ConvolveProblem {
    View in, out;
    ConvolveMask mask;
    ConvolveShape shape;

    Type type() const { return mask.type; }  // element type of the arithmetic
    u32 clamps() const { return shape.border == ConvolveBorder::clamp ? 1 : 0; }
};

inline constexpr Tunable convolve_tile_rows{
    "convolve.tile_rows", "register_tiled: rows per tile", on_gpus, {8, 16, 32, 64}};
inline constexpr Tunable convolve_strip_rows{
    "convolve.strip", "sliding: rows per work-item", on_gpus, {8, 12, 16, 24, 32, 48, 64, 128}};
inline constexpr Tunable convolve_groups_a_unit{
    "convolve.groups", "sliding: maximum number of groups per thread", on_cpus, {2, 4, 8, 16, 32, 64}};
inline constexpr Tunable convolve_group_work{"convolve.group_work",
                                             "sliding: minimum work per group, in units of 1024 taps",
                                             on_cpus,
                                             {128, 256, 512, 1024, 2048, 4096}};

inline TuningPoint point_of(const ConvolveProblem& p) {
    return {p.in.type, p.shape.rows * p.shape.columns, p.mask.taps()};
}

// Factors of a mask of rank one: mask(j, i) = column[j] * row[i].
template <class T>
struct ConvolveFactors {
    std::vector<T> column, row;
};
// Returns the factors; nothing if the mask does not have rank one, see convolve_separates().
template <class T>
std::optional<ConvolveFactors<T>> convolve_factors(const ConvolveMask& mask);

// Host kernels for one image type. `serial` runs `naive` as one group.
struct ConvolveHost {
    HostKernel naive, sliding;
};
const ConvolveHost& convolve_host(Type image);

// Groups of many work-items.
SupportsOf<ConvolveProblem> supports_convolve_register_tiled, supports_convolve_sliding,
    supports_convolve_tiled_halo, supports_convolve_constant_mask, supports_convolve_naive;
RunOf<ConvolveProblem> run_convolve_register_tiled, run_convolve_sliding_groups, run_convolve_tiled_halo,
    run_convolve_constant_mask, run_convolve_naive;

// One work-item per group.
RunOf<ConvolveProblem> run_convolve_sliding_items;

// C++.
RunOf<ConvolveProblem> run_convolve_sliding_host, run_convolve_naive_host, run_convolve_serial_host;

}  // namespace concord::detail
