// Launches of `sliding`.

#include "convolve_launch.hpp"
#include "convolve_sources.hpp"

#include <concord/internal/launch.hpp>

namespace concord {

namespace detail {
namespace {

// Bands of whole strips; an image of few rows is also cut into spans of whole chunks. Small images are one group,
// because starting a thread costs more than the work. Larger ones have several groups per thread.
detail::host::ConvolvePlan sliding_plan(const Device& device, const ConvolveProblem& p) {
    detail::host::ConvolvePlan plan = host_plan(p);
    const DeviceTraits& traits = device.traits();
    const u64 elements = p.shape.rows * p.shape.columns;
    const u64 min_work = tuned(device, convolve_group_work, point_of(p), 2 * least_group_kib(traits)) << 10,
              most = traits.units * tuned(device, convolve_groups_a_unit, point_of(p), 16);
    const u64 work = elements * (p.mask.taps() + 8);  // a result costs about as much as 8 taps in addition
    const u64 groups = std::clamp<u64>(work / min_work, 1, most);
    const u64 strips = divide_up(plan.rows, detail::host::convolve_tall),
              chunks = divide_up(plan.columns, detail::host::convolve_chunk);
    const u64 down = std::min(groups, strips);
    plan.band = divide_up(strips, down) * detail::host::convolve_tall;
    plan.span = divide_up(chunks, std::min(chunks, divide_up(groups, down))) * detail::host::convolve_chunk;
    plan.across = divide_up(plan.columns, plan.span);
    plan.non_temporal = elements * (size_of(p.in.type) + size_of(p.out.type)) > traits.cache ? 1 : 0;
    return plan;
}

u64 stage_bytes(const ConvolveProblem& p) {
    return visit_float(p.type(), []<class T>(TypeTag<T>) { return sizeof(detail::host::ConvolveStage<T>); });
}

}  // namespace

void run_convolve_sliding_items(Stream& stream, const ConvolveProblem& p) {
    Device& device = stream.device();
    const detail::host::ConvolvePlan plan = sliding_plan(device, p);
    const bool small = p.mask.taps() <= 25;
    const u64 elements = 64 / size_of(p.type());  // per vector
    const u64 scratch = detail::host::convolve_chunk + convolve_longest_side +
                        detail::host::convolve_max_rows * (elements + convolve_longest_side + 1);
    const bool bytes = p.in.type == Type::u8;
    const std::string width = std::to_string(elements), vector = std::string(opencl_name(p.type())) + width,
                      cells = std::string(opencl_name(p.in.type)) + width,
                      convert = bytes ? "convert_" + vector : "";
    KernelSpec spec{.source = &kernel_sources::convolve_wide(),
                    .entry = "convolve_sliding_wide",
                    .constants = type_constants(p),
                    .max_group_size = 1};
    spec.constants.append(Constants{{"VECTOR", std::string_view(vector)},
                                    {"CELLS", std::string_view(cells)},
                                    {"CONVERT", std::string_view(convert)},
                                    {"LANES", elements},
                                    {"SCRATCH", scratch},
                                    {"MASK_ROWS", small ? p.mask.rows : 0},
                                    {"MASK_COLUMNS", small ? p.mask.columns : 0}});
    const auto kernel = device.kernel(spec);
    const MaskCopy mask(stream, p.mask);
    const u64 groups = divide_up(plan.rows, plan.band) * plan.across, size = size_of(p.in.type);
    const auto scratch_buffer = stream.scratch(groups * scratch * size);
    launch(stream, *kernel, LaunchShape::linear(groups, 1), p.in, p.out, mask.view,
           View{scratch_buffer.get(), 0, groups * scratch, p.in.type}, plan.rows, plan.columns, plan.in_pitch,
           plan.out_pitch, plan.band, plan.span, plan.across, plan.mask_rows, plan.mask_columns, plan.clamps,
           plan.non_temporal);
}

void run_convolve_sliding_host(Stream& stream, const ConvolveProblem& p) {
    Device& device = stream.device();
    const auto kernel = host_kernel_of(device, "convolve_sliding", convolve_host(p.in.type).sliding);
    launch_host(stream, p, *kernel, sliding_plan(device, p), stage_bytes(p));
}

}  // namespace detail
}  // namespace concord
