// Launches of the textbook variants.

#include "convolve_launch.hpp"
#include "convolve_sources.hpp"

namespace concord {

namespace detail {
namespace {

constexpr u32 tile_columns = 32, tile_rows = 8;
constexpr u64 host_group = u64{1} << 14;  // results per group on the CPU

std::shared_ptr<Kernel> steps_kernel(Device& device, const ConvolveProblem& p, const char* entry,
                                     MaskIn where) {
    KernelSpec spec{.source = &kernel_sources::convolve_steps(),
                    .entry = entry,
                    .constants = type_constants(p),
                    .max_group_size = tile_columns * tile_rows};
    spec.constants.append(mask_constants(p, where));
    spec.constants.append(Constants{{"TILE_COLUMNS", tile_columns}, {"TILE_ROWS", tile_rows}});
    return device.kernel(spec);
}

template <class Mask>
void launch_tiles(Stream& stream, const ConvolveProblem& p, const Kernel& kernel, const Mask& mask,
                  u64 local = 0) {
    const ConvolveShape& s = p.shape;
    const u64 across = divide_up(s.columns, tile_columns), down = divide_up(s.rows, tile_rows);
    launch(stream, kernel, LaunchShape::linear(across * down, tile_columns * tile_rows, local), p.in, p.out,
           mask, s.rows, s.columns, s.in_pitch, s.out_pitch, static_cast<u32>(across),
           static_cast<u32>(p.mask.rows), static_cast<u32>(p.mask.columns), p.clamps());
}

u64 tile_bytes(const ConvolveProblem& p) {
    return (tile_columns + p.mask.columns - 1) * (tile_rows + p.mask.rows - 1) * size_of(p.type());
}

}  // namespace

void run_convolve_serial_host(Stream& stream, const ConvolveProblem& p) {
    const auto kernel = host_kernel_of(stream.device(), "convolve_naive", convolve_host(p.in.type).naive);
    launch_host(stream, p, *kernel, host_plan(p));
}

void run_convolve_naive_host(Stream& stream, const ConvolveProblem& p) {
    const auto kernel = host_kernel_of(stream.device(), "convolve_naive", convolve_host(p.in.type).naive);
    detail::host::ConvolvePlan plan = host_plan(p);
    plan.band = std::max<u64>(1, host_group / plan.columns);
    launch_host(stream, p, *kernel, plan);
}

void run_convolve_naive(Stream& stream, const ConvolveProblem& p) {
    const auto kernel = steps_kernel(stream.device(), p, "convolve_direct", MaskIn::global);
    launch_tiles(stream, p, *kernel, MaskCopy(stream, p.mask).view);
}

void run_convolve_constant_mask(Stream& stream, const ConvolveProblem& p) {
    Device& device = stream.device();
    const MaskIn where = device.traits().constant_buffers ? MaskIn::constant : MaskIn::value;
    const auto kernel = steps_kernel(device, p, "convolve_direct", where);
    if (where == MaskIn::value) return launch_tiles(stream, p, *kernel, bytes_of(p.mask));
    launch_tiles(stream, p, *kernel, MaskCopy(stream, p.mask).view);
}

void run_convolve_tiled_halo(Stream& stream, const ConvolveProblem& p) {
    const auto kernel = steps_kernel(stream.device(), p, "convolve_tiled_halo", MaskIn::global);
    launch_tiles(stream, p, *kernel, MaskCopy(stream, p.mask).view, tile_bytes(p));
}

Support supports_convolve_naive(const Device& device, const ConvolveProblem& p) {
    if (Support type = supports_type(device, p.type()); !type) return type;
    if (Support group = supports_group(device, tile_columns * tile_rows); !group) return group;
    return supports_tiles(p, tile_rows, tile_columns);
}

Support supports_convolve_constant_mask(const Device& device, const ConvolveProblem& p) {
    if (!device.traits().constant_buffers && !fits_parameters(device, p))
        return Support::no("requires a mask of at most {} bytes among the kernel's parameters, got {}",
                           parameter_space(device), p.mask.bytes());
    return supports_convolve_naive(device, p);
}

Support supports_convolve_tiled_halo(const Device& device, const ConvolveProblem& p) {
    if (Support local = supports_local_memory(device, tile_bytes(p)); !local) return local;
    return supports_convolve_naive(device, p);
}

}  // namespace detail
}  // namespace concord
