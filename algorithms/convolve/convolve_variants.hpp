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

inline constexpr Tunable convolve_strip_rows{.name = "convolve.strip",
                                             .summary = "sliding: rows per work-item",
                                             .used_by = {TunableUser::cuda, TunableUser::opencl},
                                             .values = {8, 12, 16, 24, 32, 48, 64, 128}};
inline constexpr Tunable convolve_groups_a_unit{
    .name = "convolve.groups",
    .summary = "sliding: maximum number of groups per thread",
    .used_by = {TunableUser::opencl_single_item, TunableUser::host},
    .values = {2, 4, 8, 16, 32, 64}};
inline constexpr Tunable convolve_group_work{
    .name = "convolve.group_work",
    .summary = "sliding: minimum work per group, in units of 1024 taps",
    .used_by = {TunableUser::opencl_single_item, TunableUser::host},
    .values = {128, 256, 512, 1024, 2048, 4096}};

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
Support supports_convolve_sliding(const Device& device, const ConvolveProblem& p);
void run_convolve_sliding_groups(Stream& stream, const ConvolveProblem& p);
Support supports_convolve_tiled_halo(const Device& device, const ConvolveProblem& p);
void run_convolve_tiled_halo(Stream& stream, const ConvolveProblem& p);
Support supports_convolve_constant_mask(const Device& device, const ConvolveProblem& p);
void run_convolve_constant_mask(Stream& stream, const ConvolveProblem& p);
Support supports_convolve_naive(const Device& device, const ConvolveProblem& p);
void run_convolve_naive(Stream& stream, const ConvolveProblem& p);

// One work-item per group.
void run_convolve_sliding_items(Stream& stream, const ConvolveProblem& p);

// C++.
void run_convolve_sliding_host(Stream& stream, const ConvolveProblem& p);
void run_convolve_naive_host(Stream& stream, const ConvolveProblem& p);
void run_convolve_serial_host(Stream& stream, const ConvolveProblem& p);

}  // namespace concord::detail
