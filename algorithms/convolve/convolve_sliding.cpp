// Launches of `sliding`.

#include "convolve_launch.hpp"
#include "convolve_sources.hpp"

#include <concord/internal/launch.hpp>

#include <bit>

namespace concord {

namespace detail {
namespace {

// --- sliding, many work-items per group ---------------------------------------------------------------------------

constexpr u32 sliding_group_size = 128;
constexpr u32 sliding_row = 32;  // work-items side by side: a warp

// Tuning of the kernel for a mask's shape.
struct Sliding {
    u32 pack;     // columns per work-item
    u32 ahead;    // rows loaded ahead of use, limited by registers
    u32 unroll;   // rows per loop iteration; ahead + 1 avoids moving the rows loaded ahead
    u32 checked;  // 1: skips taps whose sums belong to other strips, which pays for masks of many rows only
};

Sliding sliding_of(const ConvolveProblem& p) {
    const u64 taps = p.mask.taps();
    const u32 pack = 16 / size_of(p.type());
    const u32 ahead = taps <= 49 ? 2 : taps <= 255 ? 1 : 0;
    return {.pack = pack,
            .ahead = ahead,
            .unroll = taps <= 49 ? ahead + 1 : 1,
            .checked = p.mask.rows > 7 ? 1U : 0U};
}

std::shared_ptr<Kernel> sliding_kernel(Device& device, const ConvolveProblem& p, const Sliding& k) {
    const bool by_value = fits_parameters(device, p);
    const bool aligned = has_aligned_packs(p.in, p.shape.in_pitch, k.pack);
    KernelSpec spec{.source = &kernel_sources::convolve_sliding(),
                    .entry = "convolve_sliding",
                    .constants = type_constants(p),
                    .max_group_size = sliding_group_size};
    spec.constants.append(mask_constants(p, by_value ? MaskIn::value : MaskIn::constant));
    spec.constants.append(Constants{{"I_SIZE", size_of(p.in.type)},
                                    {"MASK_ROWS", p.mask.rows},
                                    {"MASK_COLUMNS", p.mask.columns},
                                    {"PACK", k.pack},
                                    {"AHEAD", k.ahead},
                                    {"UNROLL", k.unroll},
                                    {"CHECKED", k.checked},
                                    {"IN_ALIGNED", aligned},
                                    {"GROUP", sliding_group_size}});
    return device.kernel(spec);
}

// Rows of a work-item's strip. Neighbouring short strips find their shared rows in the cache. Tall strips avoid many
// waves of groups. Among the permitted heights, takes the one that processes the fewest rows in all waves.
u64 strip_height(const Device& device, const Kernel& kernel, const ConvolveProblem& p, u64 across,
                 u64 strips) {
    constexpr u64 least = 8, tall = 128, many_waves = 30;
    const i64 resident = kernel.attributes().groups_per_unit;
    const u64 wave = u64{device.traits().units} * (resident > 0 ? static_cast<u64>(resident) : 4);
    u64 most = std::max<u64>(2 * least, 2 * p.mask.rows);
    if (across * divide_up(p.shape.rows, most * strips) > many_waves * wave) most = tall;
    u64 best = least, best_cost = ~u64{0};
    for (u64 height = least; height <= most; ++height) {
        const u64 waves = divide_up(across * divide_up(p.shape.rows, height * strips), wave);
        const u64 cost = waves * (height + p.mask.rows - 1);
        if (cost > best_cost) continue;
        best = height;
        best_cost = cost;
    }
    return tuned(device, convolve_strip_rows, point_of(p), best);
}

// --- sliding, one work-item per group -----------------------------------------------------------------------------

// Bands of whole strips; an image of few rows is also cut into spans of whole chunks. Small images are one group,
// because starting a thread costs more than the work. Larger ones have several groups per thread.
detail::host::ConvolvePlan sliding_plan(const Device& device, const ConvolveProblem& p) {
    detail::host::ConvolvePlan plan = host_plan(p);
    const DeviceTraits& traits = device.traits();
    const u64 elements = p.shape.rows * p.shape.columns;
    const u64 min_work = tuned(device, convolve_group_work, point_of(p), 2 * min_group_kib(traits)) << 10,
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

void run_convolve_sliding_groups(Stream& stream, const ConvolveProblem& p) {
    Device& device = stream.device();
    const ConvolveShape& s = p.shape;
    const Sliding k = sliding_of(p);
    const auto kernel = sliding_kernel(device, p, k);
    const u64 warps = divide_up(s.columns, u64{sliding_row} * k.pack);
    constexpr u32 group_warps = sliding_group_size / sliding_row;
    const u32 wide_shift = static_cast<u32>(std::bit_width(std::min<u64>(warps, group_warps))) - 1;
    const u64 across = divide_up(warps, u64{1} << wide_shift), strips = group_warps >> wide_shift;
    const u64 height = strip_height(device, *kernel, p, across, strips),
              down = divide_up(s.rows, height * strips);
    auto launch_with = [&](const auto& mask) {
        launch(stream, *kernel, LaunchShape::linear(across * down, sliding_group_size), p.in, p.out, mask,
               s.rows, s.columns, s.in_pitch, s.out_pitch, static_cast<u32>(across), static_cast<u32>(height),
               wide_shift, p.clamps(), u32{has_aligned_packs(p.out, s.out_pitch, k.pack)});
    };
    if (fits_parameters(device, p)) return launch_with(bytes_of(p.mask));
    launch_with(MaskCopy(stream, p.mask).view);
}

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

Support supports_convolve_sliding(const Device& device, const ConvolveProblem& p) {
    if (Support type = supports_type(device, p.type()); !type) return type;
    if (Support group = supports_group(device, sliding_group_size); !group) return group;
    return supports_tiles(p, 1, sliding_row);
}

}  // namespace detail
}  // namespace concord
