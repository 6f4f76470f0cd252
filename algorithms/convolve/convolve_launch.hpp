#pragma once
// Shared by the launch functions of convolve's variants.

#include "convolve_host.hpp"
#include "convolve_variants.hpp"

#include <concord/internal/launch.hpp>
#include <concord/internal/shape.hpp>

#include <string>

namespace concord::detail {

// The types of a call as constants of its kernel source.
inline Constants type_constants(const ConvolveProblem& p) {
    return {{"I", p.in.type}, {"T", p.type()}};
}

// --- Masks ----------------------------------------------------------------------------------------------------------

// Where a kernel reads the mask from; `value` is a kernel parameter.
enum class MaskIn { global, constant, value };

// The same as constants of a kernel source; see convolve_mask.cu.
inline Constants mask_constants(const ConvolveProblem& p, MaskIn where) {
    const bool by_value = where == MaskIn::value;
    return {{"BY_VALUE", by_value},
            {"CONSTANT_MASK", where == MaskIn::constant},
            {"TAPS", by_value ? p.mask.taps() : 1}};
}

// Bytes available for a mask among a kernel's parameters.
inline u64 parameter_space(const Device& device) {
    constexpr u64 other_arguments = 112;
    return device.traits().parameter_bytes - other_arguments;
}

inline bool fits_parameters(const Device& device, const ConvolveProblem& p) {
    return p.mask.bytes() <= parameter_space(device);
}

inline ValueBytes bytes_of(const ConvolveMask& mask) {
    return {std::span(static_cast<const std::byte*>(mask.values), mask.bytes())};
}

// A copy of the mask on the device. The caller may release the mask before the stream reads it.
struct MaskCopy {
    MaskCopy(Stream& stream, const ConvolveMask& mask)
        : host(stream.device().allocate_host(mask.bytes())), device(stream.scratch(mask.bytes())) {
        std::memcpy(host->host_pointer(), mask.values, mask.bytes());
        stream.copy(*device, 0, *host, 0, mask.bytes());
        view = {device.get(), 0, mask.taps(), mask.type};
    }
    std::shared_ptr<Buffer> host, device;
    View view;
};

// --- Launches -------------------------------------------------------------------------------------------------------

// Whether every row of a view begins at an aligned pack.
inline bool has_aligned_packs(const View& view, u64 pitch, u32 pack) {
    return view.offset % (pack * size_of(view.type)) == 0 && pitch % pack == 0;
}

inline detail::host::ConvolvePlan host_plan(const ConvolveProblem& p) {
    const ConvolveShape& s = p.shape;
    detail::host::ConvolvePlan plan;
    plan.rows = plan.band = s.rows;
    plan.columns = plan.span = s.columns;
    plan.in_pitch = s.in_pitch;
    plan.out_pitch = s.out_pitch;
    plan.across = 1;
    plan.mask_rows = static_cast<u32>(p.mask.rows);
    plan.mask_columns = static_cast<u32>(p.mask.columns);
    plan.clamps = p.clamps();
    return plan;
}

inline void launch_host(Stream& stream, const ConvolveProblem& p, const Kernel& kernel,
                        const detail::host::ConvolvePlan& plan, u64 local = 0) {
    const MaskCopy mask(stream, p.mask);
    const u64 groups = divide_up(plan.rows, plan.band) * plan.across;
    launch(stream, kernel, LaunchShape::linear(groups, 1, local), p.in, mask.view, p.out,
           ValueBytes{std::as_bytes(std::span(&plan, 1))});
}

// Whether the number of groups of `rows` x `columns` results is within the limit of a launch.
inline Support supports_tiles(const ConvolveProblem& p, u64 rows, u64 columns) {
    return supports_group_count({divide_up(p.shape.rows, rows), divide_up(p.shape.columns, columns)});
}

}  // namespace concord::detail
