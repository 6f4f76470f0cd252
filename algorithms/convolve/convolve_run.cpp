// The variants' launches.

#include "convolve_host.hpp"
#include "convolve_table.hpp"

#include <bit>
#include <string>

namespace concord {

namespace texts {
extern const KernelText common_cu, convolve_steps_cu, convolve_cu, convolve_steps_cl, convolve_cl,
    convolve_wide_cl;
}

namespace detail {
namespace {

// --- Kernels --------------------------------------------------------------------------------------------------------

const KernelSource& steps_source() {
    static const KernelSource source{
        "convolve_steps", {texts::convolve_steps_cu}, {texts::convolve_steps_cl}};
    return source;
}
const KernelSource& sliding_source() {
    static const KernelSource source{
        "convolve", {texts::common_cu, texts::convolve_cu}, {texts::convolve_cl}};
    return source;
}
const KernelSource& wide_source() {
    static const KernelSource source{"convolve_wide", {}, {texts::convolve_wide_cl}};
    return source;
}

bool is_host(const Device& device) {
    return device.traits().dialect == Dialect::host;
}

// The types of a problem in a kernel's id, and as constants of its text.
u64 type_key(const ConvolveProblem& p) {
    return static_cast<u64>(p.in.type);
}
std::vector<Constant> type_constants(const ConvolveProblem& p) {
    return {{"I", std::string(name_of(p.in.type))}, {"T", std::string(name_of(p.type()))}};
}

using Define = std::pair<const char*, u64>;
void define(KernelSpec& spec, std::initializer_list<Define> all) {
    for (const auto& [name, value] : all)
        spec.constants.push_back({name, std::to_string(value)});
}

// --- Masks ----------------------------------------------------------------------------------------------------------

// Bytes of a mask that go beside a kernel's other arguments: CUDA's parameters are 4 KiB at least, OpenCL's 1 KiB.
u64 parameter_room(const Device& device) {
    return device.traits().dialect == Dialect::cuda ? 3968 : 912;
}

bool goes_by_value(const Device& device, const ConvolveProblem& p) {
    return p.mask.bytes() <= parameter_room(device);
}

ValueBytes bytes_of(const ConvolveMask& mask) {
    return {std::span(static_cast<const std::byte*>(mask.values), mask.bytes())};
}

// A copy of the mask on the device. The host's may be gone when the stream gets there.
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

// --- The textbook's -------------------------------------------------------------------------------------------------

constexpr u32 tile_columns = 32, tile_rows = 8;
constexpr u64 host_group = u64{1} << 14;  // elements of a group on the CPU

host::ConvolvePlan host_plan(const ConvolveProblem& p) {
    const ConvolveShape& s = p.shape;
    host::ConvolvePlan plan;
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

std::shared_ptr<Kernel> host_kernel_of(Device& device, const ConvolveProblem& p, const KernelSource& source,
                                       const char* entry, HostKernel ConvolveHost::*kernel) {
    const KernelId id{&source, entry, type_key(p)};
    return device.kernel(id, [&] {
        KernelSpec spec;
        spec.source = &source;
        spec.entry = entry;
        spec.host = convolve_host(p.in.type).*kernel;
        return spec;
    });
}

void launch_host(Stream& stream, const ConvolveProblem& p, const Kernel& kernel,
                 const host::ConvolvePlan& plan, u64 local = 0) {
    const MaskCopy mask(stream, p.mask);
    const u64 groups = divide_up(plan.rows, plan.band) * plan.across;
    launch(stream, kernel, LaunchShape::linear(groups, 1, local), p.in, mask.view, p.out,
           ValueBytes{std::as_bytes(std::span(&plan, 1))});
}

// How the mask comes to a textbook kernel.
enum class MaskIn { global, constant };

std::shared_ptr<Kernel> steps_kernel(Device& device, const ConvolveProblem& p, const char* entry,
                                     MaskIn where) {
    const bool cuda = device.traits().dialect == Dialect::cuda, constant = where == MaskIn::constant;
    const u64 taps = constant && cuda ? p.mask.taps() : 1;
    const KernelId id{&steps_source(), entry, type_key(p), taps, u64{constant}};
    return device.kernel(id, [&] {
        KernelSpec spec;
        spec.source = &steps_source();
        spec.entry = entry;
        spec.constants = type_constants(p);
        const char* type = cuda       ? constant ? "MaskValues" : "const T*"
                           : constant ? "__constant T*"
                                      : "__global const T*";
        spec.constants.push_back({"MASK", type});
        define(spec, {{"TAPS", taps}, {"TILE_COLUMNS", tile_columns}, {"TILE_ROWS", tile_rows}});
        spec.max_lanes = tile_columns * tile_rows;
        return spec;
    });
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

// Whether groups of so many rows and columns can be counted in 32 bits, as kernels do.
Support supports_tiles(const ConvolveProblem& p, u64 rows, u64 columns) {
    const u64 down = divide_up(p.shape.rows, rows), across = divide_up(p.shape.columns, columns);
    constexpr u64 most = ~u32{0} >> 1;
    u64 tiles = 0;
    if (!__builtin_mul_overflow(down, across, &tiles) && tiles <= most) return {};
    return Support::no(std::to_string(down) + " x " + std::to_string(across) +
                       " tiles are more than it counts");
}

u64 tile_bytes(const ConvolveProblem& p) {
    return (tile_columns + p.mask.columns - 1) * (tile_rows + p.mask.rows - 1) * size_of(p.type());
}

// --- sliding, groups of many lanes ----------------------------------------------------------------------------------

constexpr u32 sliding_lanes = 128;
constexpr u32 sliding_row = 32;  // lanes side by side: a warp

// The kernel for a mask's shape.
struct Sliding {
    u32 pack;    // columns of a lane
    u32 ahead;   // rows that are loaded before they are needed: as far as registers last
    u32 unroll;  // rows of the loop's body, so that what was loaded ahead need not be moved
    u32 checked;  // whether a sum's taps in vain are left out; they cost more than they bring where a row has few
};

Sliding sliding_of(const ConvolveProblem& p) {
    const u64 taps = p.mask.taps();
    const u32 pack = 16 / size_of(p.type());
    const u32 ahead = taps <= 49 ? 2 : taps <= 255 ? 1 : 0;
    return {pack, ahead, taps <= 49 ? ahead + 1 : 1, p.mask.rows > 7 ? 1U : 0U};
}

// Rows of a lane's strip: long ones repeat little of their neighbours' work, short ones give all units work.
u64 strip_height(const Device& device, const ConvolveProblem& p, const Sliding& k) {
    constexpr u64 least = 8, most = 64, lanes_a_unit = 512;  // as registers allow
    const u64 across = divide_up(p.shape.columns, u64{sliding_row} * k.pack) * sliding_row;
    const u64 wanted = u64{device.traits().units} * lanes_a_unit;
    const u64 down = divide_up(wanted, across);
    return std::clamp(divide_up(p.shape.rows, down), least, most);
}

std::shared_ptr<Kernel> sliding_kernel(Device& device, const ConvolveProblem& p, const Sliding& k) {
    const bool cuda = device.traits().dialect == Dialect::cuda, by_value = goes_by_value(device, p);
    const KernelId id{&sliding_source(), "convolve_sliding", type_key(p), p.mask.rows << 32 | p.mask.columns};
    return device.kernel(id, [&] {
        KernelSpec spec;
        spec.source = &sliding_source();
        spec.entry = "convolve_sliding";
        spec.constants = type_constants(p);
        if (cuda) spec.constants.push_back({"MASK", by_value ? "MaskValues" : "const T*"});
        define(spec, {{"BY_VALUE", by_value ? 1U : 0U},
                      {"I_SIZE", size_of(p.in.type)},
                      {"MASK_ROWS", p.mask.rows},
                      {"MASK_COLUMNS", p.mask.columns},
                      {"PACK", k.pack},
                      {"AHEAD", k.ahead},
                      {"UNROLL", k.unroll},
                      {"CHECKED", k.checked},
                      {"GROUP", sliding_lanes}});
        spec.max_lanes = sliding_lanes;
        return spec;
    });
}

// Whether packs of a view's rows are aligned, wherever a row begins.
u32 has_aligned_packs(const View& view, u64 pitch, u32 pack) {
    return view.offset % (pack * size_of(view.type)) == 0 && pitch % pack == 0 ? 1 : 0;
}

void run_sliding_lanes(Stream& stream, const ConvolveProblem& p) {
    Device& device = stream.device();
    const ConvolveShape& s = p.shape;
    const Sliding k = sliding_of(p);
    const auto kernel = sliding_kernel(device, p, k);
    const u64 warps = divide_up(s.columns, u64{sliding_row} * k.pack), height = strip_height(device, p, k);
    constexpr u32 group_warps = sliding_lanes / sliding_row;
    const u32 wide_shift = static_cast<u32>(std::bit_width(std::min<u64>(warps, group_warps))) - 1;
    const u64 across = divide_up(warps, u64{1} << wide_shift),
              down = divide_up(s.rows, height * (group_warps >> wide_shift));
    auto launch_with = [&](const auto& mask) {
        launch(stream, *kernel, LaunchShape::linear(across * down, sliding_lanes), p.in, p.out, mask, s.rows,
               s.columns, s.in_pitch, s.out_pitch, static_cast<u32>(across), static_cast<u32>(height),
               wide_shift, p.clamps(), has_aligned_packs(p.in, s.in_pitch, k.pack),
               has_aligned_packs(p.out, s.out_pitch, k.pack));
    };
    if (goes_by_value(device, p)) return launch_with(bytes_of(p.mask));
    launch_with(MaskCopy(stream, p.mask).view);
}

// --- sliding, groups of one lane ------------------------------------------------------------------------------------

// Bands of whole strips; of an image of few rows, spans of whole chunks side by side. One group while the work is small
// (waking a thread costs more), then some for each thread.
host::ConvolvePlan sliding_plan(const Device& device, const ConvolveProblem& p) {
    host::ConvolvePlan plan = host_plan(p);
    const DeviceTraits& traits = device.traits();
    const u64 elements = p.shape.rows * p.shape.columns;
    constexpr u64 least_work = u64{1} << 20;  // taps and elements
    const u64 work = elements * (p.mask.taps() + 8);
    const u64 groups = std::clamp<u64>(work / least_work, 1, u64{traits.units} * 16);
    const u64 strips = divide_up(plan.rows, host::convolve_tall),
              chunks = divide_up(plan.columns, host::convolve_chunk);
    const u64 down = std::min(groups, strips);
    plan.band = divide_up(strips, down) * host::convolve_tall;
    plan.span = divide_up(chunks, std::min(chunks, divide_up(groups, down))) * host::convolve_chunk;
    plan.across = divide_up(plan.columns, plan.span);
    plan.past_cache = elements * (size_of(p.in.type) + size_of(p.out.type)) > traits.cache ? 1 : 0;
    return plan;
}

u64 stage_bytes(const ConvolveProblem& p) {
    return p.in.type == Type::u8    ? sizeof(host::ConvolveStage<u8, f32>)
           : p.in.type == Type::f32 ? sizeof(host::ConvolveStage<f32, f32>)
                                    : sizeof(host::ConvolveStage<f64, f64>);
}

void run_sliding_wide(Stream& stream, const ConvolveProblem& p) {
    Device& device = stream.device();
    const host::ConvolvePlan plan = sliding_plan(device, p);
    const bool small = p.mask.taps() <= 25;
    const u64 lanes = 64 / size_of(p.type());
    const u64 scratch = host::convolve_chunk + host::convolve_most_side +
                        host::convolve_most_rows * (lanes + host::convolve_most_side + 1);
    const KernelId id{&wide_source(), "convolve_sliding_wide", type_key(p),
                      small ? p.mask.rows << 32 | p.mask.columns : 0};
    const auto kernel = device.kernel(id, [&] {
        KernelSpec spec;
        spec.source = &wide_source();
        spec.entry = "convolve_sliding_wide";
        spec.constants = type_constants(p);
        const std::string width = std::to_string(lanes),
                          vector = (p.type() == Type::f64 ? "double" : "float") + width;
        const bool bytes = p.in.type == Type::u8;
        spec.constants.push_back({"VECTOR", vector});
        spec.constants.push_back({"CELLS", bytes ? "uchar" + width : vector});
        spec.constants.push_back({"CONVERT", bytes ? "convert_" + vector : ""});
        define(spec, {{"LANES", lanes},
                      {"SCRATCH", scratch},
                      {"MASK_ROWS", small ? p.mask.rows : 0},
                      {"MASK_COLUMNS", small ? p.mask.columns : 0}});
        spec.max_lanes = 1;
        return spec;
    });
    const MaskCopy mask(stream, p.mask);
    const u64 groups = divide_up(plan.rows, plan.band) * plan.across, size = size_of(p.in.type);
    const auto room = stream.scratch(groups * scratch * size);
    launch(stream, *kernel, LaunchShape::linear(groups, 1), p.in, p.out, mask.view,
           View{room.get(), 0, groups * scratch, p.in.type}, plan.rows, plan.columns, plan.in_pitch,
           plan.out_pitch, plan.band, plan.span, plan.across, plan.mask_rows, plan.mask_columns, plan.clamps,
           plan.past_cache);
}

// --- separable ------------------------------------------------------------------------------------------------------

// The rows' pass goes to scratch, without gaps.
template <class T>
void run_factors(Stream& stream, const ConvolveProblem& p) {
    const auto factors = convolve_factors<T>(p.mask);
    const ConvolveShape& s = p.shape;
    const Array<T> between(stream, s.rows * s.columns);
    ConvolveProblem rows = p, columns = p;
    rows.out = columns.in = between.view();
    rows.shape.out_pitch = columns.shape.in_pitch = s.columns;
    rows.mask = ConvolveMask(factors->row, 1, p.mask.columns);
    columns.mask = ConvolveMask(factors->column, p.mask.rows, 1);
    run_convolve_sliding(stream, rows);
    run_convolve_sliding(stream, columns);
}

}  // namespace

void run_convolve_serial(Stream& stream, const ConvolveProblem& p) {
    const auto kernel =
        host_kernel_of(stream.device(), p, steps_source(), "convolve_serial", &ConvolveHost::serial);
    launch_host(stream, p, *kernel, host_plan(p));
}

void run_convolve_naive(Stream& stream, const ConvolveProblem& p) {
    Device& device = stream.device();
    if (!is_host(device)) {
        const auto kernel = steps_kernel(device, p, "convolve_direct", MaskIn::global);
        return launch_tiles(stream, p, *kernel, MaskCopy(stream, p.mask).view);
    }
    const auto kernel = host_kernel_of(device, p, steps_source(), "convolve_naive", &ConvolveHost::naive);
    host::ConvolvePlan plan = host_plan(p);
    plan.band = std::max<u64>(1, host_group / plan.columns);
    launch_host(stream, p, *kernel, plan);
}

void run_convolve_constant_mask(Stream& stream, const ConvolveProblem& p) {
    Device& device = stream.device();
    const auto kernel = steps_kernel(device, p, "convolve_direct", MaskIn::constant);
    if (device.traits().dialect == Dialect::cuda) return launch_tiles(stream, p, *kernel, bytes_of(p.mask));
    launch_tiles(stream, p, *kernel, MaskCopy(stream, p.mask).view);
}

void run_convolve_tiled_halo(Stream& stream, const ConvolveProblem& p) {
    const auto kernel = steps_kernel(stream.device(), p, "convolve_tiled_halo", MaskIn::global);
    launch_tiles(stream, p, *kernel, MaskCopy(stream, p.mask).view, tile_bytes(p));
}

void run_convolve_sliding(Stream& stream, const ConvolveProblem& p) {
    Device& device = stream.device();
    if (!is_host(device))
        return device.traits().many_lanes ? run_sliding_lanes(stream, p) : run_sliding_wide(stream, p);
    const auto kernel =
        host_kernel_of(device, p, sliding_source(), "convolve_sliding", &ConvolveHost::sliding);
    launch_host(stream, p, *kernel, sliding_plan(device, p), stage_bytes(p));
}

void run_convolve_separable(Stream& stream, const ConvolveProblem& p) {
    return p.type() == Type::f32 ? run_factors<f32>(stream, p) : run_factors<f64>(stream, p);
}

Support supports_convolve_serial(const Device&, const ConvolveProblem&) {
    return {};
}

Support supports_convolve_naive(const Device& device, const ConvolveProblem& p) {
    if (Support type = supports_type(device, p.type()); !type || is_host(device)) return type;
    if (Support group = supports_group(device, tile_columns * tile_rows); !group) return group;
    return supports_tiles(p, tile_rows, tile_columns);
}

Support supports_convolve_constant_mask(const Device& device, const ConvolveProblem& p) {
    if (device.traits().dialect == Dialect::cuda && !goes_by_value(device, p))
        return Support::no("a mask of " + std::to_string(p.mask.bytes()) + " bytes is more than the " +
                           std::to_string(parameter_room(device)) + " that its parameters hold");
    return supports_convolve_naive(device, p);
}

Support supports_convolve_tiled_halo(const Device& device, const ConvolveProblem& p) {
    if (device.traits().local_memory < tile_bytes(p))
        return Support::no("a tile of " + std::to_string(tile_bytes(p)) +
                           " bytes is more than the local memory of " + device.info().selector + ", " +
                           std::to_string(device.traits().local_memory));
    return supports_convolve_naive(device, p);
}

Support supports_convolve_sliding(const Device& device, const ConvolveProblem& p) {
    if (Support type = supports_type(device, p.type()); !type || !device.traits().many_lanes) return type;
    if (Support group = supports_group(device, sliding_lanes); !group) return group;
    return supports_tiles(p, 1, sliding_row);
}

Support supports_convolve_separable(const Device& device, const ConvolveProblem& p) {
    if (!convolve_separates(p.mask)) return Support::no("the mask is not of rank one");
    return supports_convolve_sliding(device, p);
}

}  // namespace detail
}  // namespace concord
