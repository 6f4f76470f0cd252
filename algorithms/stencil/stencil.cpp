#include "stencil_table.hpp"

#include <concord/map.hpp>

#include <bit>
#include <string>

namespace concord {

namespace texts {
extern const KernelText common_cu, stencil_steps_cu, stencil_cu, stencil_steps_cl, stencil_cl,
    stencil_wide_cl;
}

StarCoefficients::StarCoefficients(std::span<const f64> values) {
    if (values.size() < 2 || values.size() > most)
        throw Error(ErrorCode::invalid_argument, "stencil",
                    std::to_string(values.size()) + " coefficients: a star of radius 1 to 8 has 2 to 9");
    std::copy(values.begin(), values.end(), values_.begin());
    radius_ = static_cast<u32>(values.size()) - 1;
}

namespace detail {
namespace {

// A call as the kernels see it.
struct StencilProblem {
    View in, out;
    StencilShape shape;
    StarCoefficients star;
    u64 steps = 1;

    Type type() const { return in.type; }
    u32 size() const { return size_of(in.type); }
    u32 radius() const { return star.radius(); }
};

// --- Kernels --------------------------------------------------------------------------------------------------------

enum class StencilText { steps, streaming, wide };

const KernelSource& source(StencilText text) {
    using namespace texts;
    static const KernelSource steps{"stencil_steps", {stencil_steps_cu}, {stencil_steps_cl}};
    static const KernelSource streaming{"stencil", {common_cu, stencil_cu}, {stencil_cl}};
    static const KernelSource wide{"stencil_wide", {}, {stencil_wide_cl}};
    return text == StencilText::steps ? steps : text == StencilText::streaming ? streaming : wide;
}

// The points of a group of many lanes, and of one of its lanes.
struct Tile {
    u32 lanes = 1;
    u32 lanes_x = 1;  // of a row
    u32 pack = 1;     // points of a lane, along x
    u32 rows = 1;     // and along y

    u32 width() const { return lanes_x * pack; }
    u32 height() const { return lanes / lanes_x * rows; }
};

constexpr u32 wide_row = 1024;  // most points of a row that a CPU has at work

std::shared_ptr<Kernel> stencil_kernel(Device& device, const StencilProblem& p, StencilText text,
                                       const char* entry, const Tile& tile, HostKernel StencilHost::*host) {
    const KernelId id{&source(text), entry, static_cast<u64>(p.type()), p.radius(),
                      u64{tile.lanes} << 32 | tile.pack << 8 | tile.rows};
    return device.kernel(id, [&] {
        KernelSpec spec;
        spec.source = &source(text);
        spec.entry = entry;
        auto define = [&](const char* name, u64 value) {
            spec.constants.push_back({name, std::to_string(value)});
        };
        spec.constants = {{"T", std::string(name_of(p.type()))}};
        define("RADIUS", p.radius());
        switch (text) {
            case StencilText::steps:
                define("LANES_X", tile.lanes_x);
                define("GROUP", tile.lanes);
                break;
            case StencilText::streaming:
                define("LANES_X", tile.lanes_x);
                define("GROUP", tile.lanes);
                define("PACK", tile.pack);
                define("ROWS", tile.rows);
                break;
            case StencilText::wide:
                define("SIZE", p.size());
                define("ROW", wide_row);
                break;
        }
        spec.host = stencil_host(p.type()).*host;
        spec.max_lanes = tile.lanes;
        return spec;
    });
}

// Calls f with the coefficients as kernels take them, in the volume's type: as many as there are, or all nine for the host
// dialect, where they are the last argument.
template <class F>
void with_star(const StencilProblem& p, bool host, F f) {
    visit(p.type(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        if constexpr (std::is_floating_point_v<T>) {
            host::Star<T> star{};
            for (u32 r = 0; r <= p.radius(); ++r)
                star.c[r] = static_cast<T>(p.star[r]);
            f(ValueBytes{std::as_bytes(std::span(star.c, host ? StarCoefficients::most : p.radius() + 1))});
        }
    });
}

host::StencilVolume volume_of(const StencilProblem& p) {
    return {p.shape.depth, p.shape.rows, p.shape.columns, p.radius()};
}

template <class T>
ValueBytes bytes_of(const T& value) {
    return {std::as_bytes(std::span(&value, 1))};
}

// --- Steps ----------------------------------------------------------------------------------------------------------

// Calls sweep(from, to, steps) until all steps are enqueued, `at_once` in one sweep. Two volumes take turns, so that the
// last sweep's is out; the other one is scratch.
template <class Sweep>
void each_sweep(Stream& stream, const StencilProblem& p, u64 at_once, Sweep sweep) {
    const u64 sweeps = divide_up(p.steps, at_once);
    std::shared_ptr<Buffer> buffer;
    View other = p.out;
    if (sweeps > 1) {
        buffer = stream.scratch(p.out.bytes());
        other.buffer = buffer.get();
        other.offset = 0;
    }
    View from = p.in;
    u64 left = p.steps;
    for (u64 k = sweeps; k > 0; --k) {
        const View& to = k % 2 != 0 ? p.out : other;
        const u64 steps = std::min(at_once, left);
        sweep(from, to, steps);
        left -= steps;
        from = to;
    }
}

// --- Groups of many lanes -------------------------------------------------------------------------------------------

// Groups can be counted in 32 bits, as kernels do.
Support supports_groups(const StencilProblem& p, const Tile& tile, u64 depth) {
    constexpr u64 most = ~u32{0} >> 1;
    const u64 across = divide_up(p.shape.columns, tile.width()),
              down = divide_up(p.shape.rows, tile.height());
    u64 groups = 0;
    if (!__builtin_mul_overflow(across, down, &groups) && !__builtin_mul_overflow(groups, depth, &groups) &&
        groups <= most)
        return {};
    return Support::no(std::to_string(depth) + " x " + std::to_string(down) + " x " + std::to_string(across) +
                       " tiles are more than it counts");
}

u32 tiles_in(u64 length, u64 side) {
    return static_cast<u32>(divide_up(length, side));
}

// --- The textbook's -------------------------------------------------------------------------------------------------

constexpr Tile step_tile{256, 32, 1, 1};
constexpr u64 host_group = u64{1} << 14;  // points of a group on the CPU

void run_serial(Stream& stream, const StencilProblem& p) {
    const auto kernel =
        stencil_kernel(stream.device(), p, StencilText::steps, "stencil_serial", {}, &StencilHost::serial);
    const host::StencilVolume volume = volume_of(p);
    with_star(p, true, [&](const ValueBytes& star) {
        each_sweep(stream, p, 1, [&](const View& from, const View& to, u64) {
            launch(stream, *kernel, LaunchShape::linear(1, 1), from, to, bytes_of(volume), star);
        });
    });
}

// A launch of the textbook's kernels for groups of many lanes: a group for each tile of each plane.
void run_planes(Stream& stream, const StencilProblem& p, const Kernel& kernel) {
    const StencilShape& s = p.shape;
    const u32 across = tiles_in(s.columns, step_tile.width()), down = tiles_in(s.rows, step_tile.height());
    with_star(p, false, [&](const ValueBytes& star) {
        each_sweep(stream, p, 1, [&](const View& from, const View& to, u64) {
            launch(stream, kernel, LaunchShape::linear(u64{across} * down * s.depth, step_tile.lanes), from,
                   to, s.depth, s.rows, s.columns, down, across, star);
        });
    });
}

void run_naive(Stream& stream, const StencilProblem& p) {
    const auto kernel = stencil_kernel(stream.device(), p, StencilText::steps, "stencil_naive", step_tile,
                                       &StencilHost::naive);
    if (stream.device().traits().dialect != Dialect::host) return run_planes(stream, p, *kernel);
    const host::StencilVolume volume = volume_of(p);
    const u64 strip = std::max<u64>(1, host_group / p.shape.columns);
    with_star(p, true, [&](const ValueBytes& star) {
        each_sweep(stream, p, 1, [&](const View& from, const View& to, u64) {
            launch(stream, *kernel, LaunchShape::linear(divide_up(p.shape.depth * p.shape.rows, strip), 1),
                   from, to, bytes_of(volume), strip, star);
        });
    });
}

void run_tiled(Stream& stream, const StencilProblem& p) {
    const auto kernel = stencil_kernel(stream.device(), p, StencilText::steps, "stencil_tiled", step_tile,
                                       &StencilHost::tiled);
    if (stream.device().traits().dialect != Dialect::host) return run_planes(stream, p, *kernel);
    constexpr u64 side = 32, planes = host_group / (side * side);
    const host::StencilVolume volume = volume_of(p);
    const u64 across = divide_up(p.shape.columns, side), down = divide_up(p.shape.rows, side);
    with_star(p, true, [&](const ValueBytes& star) {
        each_sweep(stream, p, 1, [&](const View& from, const View& to, u64) {
            launch(stream, *kernel, LaunchShape::linear(across * down * divide_up(p.shape.depth, planes), 1),
                   from, to, bytes_of(volume), across, down, planes, star);
        });
    });
}

// --- streaming ------------------------------------------------------------------------------------------------------

constexpr u32 pack_bytes = 16;
// Groups that a unit holds at once, as the kernel asks for in CUDA C++.
constexpr u32 resident_groups = 2;

// Packs of 16 bytes where all rows begin at a multiple of that. A lane's queue along z is what fills its registers: two
// rows of packs up to a radius of 4.
Tile streaming_tile(const StencilProblem& p) {
    const u32 pack = pack_bytes / p.size();
    const bool aligned =
        p.in.offset % pack_bytes == 0 && p.out.offset % pack_bytes == 0 && p.shape.columns % pack == 0;
    if (!aligned) return {256, 32, 1, 4 / (p.size() / 4)};
    return {256, 16, pack, p.radius() <= 4 ? 2U : 1U};
}

// Planes of a group. Each group also reads R planes below and above its own; so there are few of them, as long as they fill
// the device: what is compared is how many planes pass in all waves of groups.
u64 planes_of_group(const Device& device, const StencilProblem& p, u64 tiles) {
    const u64 resident = u64{device.traits().units} * resident_groups, depth = p.shape.depth;
    constexpr u64 most_pieces = 256;
    u64 best = depth, best_cost = ~u64{0};
    for (u64 pieces = 1; pieces <= std::min(depth, most_pieces); ++pieces) {
        const u64 planes = divide_up(depth, pieces);
        const u64 waves = divide_up(tiles * divide_up(depth, planes), resident);
        const u64 cost = waves * (planes + 2 * p.radius());
        if (cost >= best_cost) continue;
        best = planes;
        best_cost = cost;
    }
    return best;
}

void run_streaming(Stream& stream, const StencilProblem& p) {
    const StencilShape& s = p.shape;
    const Tile tile = streaming_tile(p);
    const auto kernel = stencil_kernel(stream.device(), p, StencilText::streaming, "stencil_streaming", tile,
                                       &StencilHost::none);
    const u32 across = tiles_in(s.columns, tile.width()), down = tiles_in(s.rows, tile.height());
    const u64 tiles = u64{across} * down, planes = planes_of_group(stream.device(), p, tiles);
    with_star(p, false, [&](const ValueBytes& star) {
        each_sweep(stream, p, 1, [&](const View& from, const View& to, u64) {
            launch(stream, *kernel, LaunchShape::linear(tiles * divide_up(s.depth, planes), tile.lanes), from,
                   to, s.depth, s.rows, s.columns, down, across, planes, star);
        });
    });
}

// --- blocked --------------------------------------------------------------------------------------------------------

// A tile's rows for `steps` steps at once, of which the planes that are at work take no more than `bytes`; 0: not even one.
// Steps ahead of the last compute some rows above and below it.
u64 fitting_rows(const StencilProblem& p, u64 width, u64 steps, u64 bytes) {
    const u64 radius = p.radius(), plane = (2 * radius + 1) * width * p.size();
    const u64 rows = bytes / plane, more = radius * steps * (steps - 1) + 2 * radius;
    return rows > more ? (rows - more) / steps : 0;
}

u64 thread_cache(const Device& device) {
    return device.traits().cache / std::max(1U, device.traits().units);
}

// How many steps to take at once: as many as cost an eighth more work at most. Their planes may take twice a thread's own
// cache: what is in a shared one behind it still comes sooner than memory.
u64 steps_at_once(const Device& device, const StencilProblem& p) {
    constexpr u64 most = 4;
    u64 steps = 1;
    for (u64 k = 2; k <= most; ++k) {
        const u64 rows =
            fitting_rows(p, std::min<u64>(p.shape.columns, wide_row), k, 2 * thread_cache(device));
        if (8 * p.radius() * (k - 1) <= rows) steps = k;
    }
    return std::min(steps, p.steps);
}

// Tiles of whole rows, as far as these go; as many of them as keep the planes of all steps in the thread's cache; of the
// whole depth, unless threads would lack work.
host::StencilTiling tiling_of(const Device& device, const StencilProblem& p, u64 steps) {
    const StencilShape& s = p.shape;
    const u64 radius = p.radius(), ring = 2 * radius + 1, ahead = radius * (steps - 1);
    constexpr u64 least_rows = 8;
    host::StencilTiling t;
    t.steps = steps;
    t.columns = std::min<u64>(s.columns, wide_row);
    t.across = divide_up(s.columns, t.columns);
    const u64 width = std::min(s.columns, t.columns + 2 * ahead);
    t.pitch = divide_up(width + 2 * host::stencil_margin, host::stencil_margin) * host::stencil_margin;
    const u64 rows = fitting_rows(p, width, steps, (steps == 1 ? 1 : 2) * thread_cache(device));
    t.down = divide_up(s.rows, std::max(rows, least_rows));
    t.rows = divide_up(s.rows, t.down);
    t.down = divide_up(s.rows, t.rows);
    t.plane_rows = std::min(s.rows, t.rows + 2 * ahead);
    t.slot = steps == 1 ? 0 : (steps - 1) * ring * t.plane_rows * t.pitch + 2 * host::stencil_margin;
    // One group while the work is small, for waking a thread costs more; then some for each thread, of planes enough that
    // those between two groups, which both read, cost little.
    constexpr u64 least_points = u64{1} << 16;
    const u64 tiles = t.across * t.down, points = t.rows * t.columns;
    const u64 wanted = divide_up(u64{device.traits().units} * (device.traits().units > 1 ? 4 : 1), tiles);
    t.depth = std::max({divide_up(s.depth, wanted), 8 * radius * steps, divide_up(least_points, points)});
    t.depth = std::min(s.depth, t.depth);
    return t;
}

void run_blocked_host(Stream& stream, const StencilProblem& p) {
    Device& device = stream.device();
    const auto kernel =
        stencil_kernel(device, p, StencilText::wide, "stencil_blocked", {}, &StencilHost::blocked);
    const host::StencilVolume volume = volume_of(p);
    const u64 past_cache = 2 * p.out.bytes() > device.traits().cache ? 1 : 0;
    const u64 at_once = 2 * p.out.bytes() > thread_cache(device) ? steps_at_once(device, p) : 1;
    std::shared_ptr<Buffer> rings;
    with_star(p, true, [&](const ValueBytes& star) {
        each_sweep(stream, p, at_once, [&](const View& from, const View& to, u64 steps) {
            host::StencilTiling t = tiling_of(device, p, steps);
            t.past_cache = past_cache;
            const u64 groups = t.across * t.down * divide_up(p.shape.depth, t.depth);
            const u64 bytes = groups * t.slot * p.size();
            if (bytes > 0 && (!rings || rings->size() < bytes)) rings = stream.scratch(bytes);
            const View scratch = bytes > 0 ? View{rings.get(), 0, groups * t.slot, p.type()} : to;
            launch(stream, *kernel, LaunchShape::linear(groups, 1, 3 * t.pitch * p.size()), from, to, scratch,
                   bytes_of(volume), bytes_of(t), star);
        });
    });
}

void run_blocked(Stream& stream, const StencilProblem& p) {
    Device& device = stream.device();
    if (device.traits().dialect == Dialect::host) return run_blocked_host(stream, p);
    const auto kernel =
        stencil_kernel(device, p, StencilText::wide, "stencil_blocked", {}, &StencilHost::none);
    const StencilShape& s = p.shape;
    const host::StencilTiling t = tiling_of(device, p, 1);
    const u32 past_cache = 2 * p.out.bytes() > device.traits().cache ? 1 : 0;
    // What is read where there is no row.
    const Array<u8> zeros(stream, u64{wide_row} * p.size());
    const u64 zero = 0;
    stream.fill(*zeros.buffer(), 0, zeros.size(), &zero, 8);
    const View row{zeros.buffer().get(), 0, wide_row, p.type()};
    with_star(p, false, [&](const ValueBytes& star) {
        each_sweep(stream, p, 1, [&](const View& from, const View& to, u64) {
            launch(stream, *kernel, LaunchShape::linear(t.across * t.down * divide_up(s.depth, t.depth), 1),
                   from, to, row, s.depth, s.rows, s.columns, t.depth, t.rows, t.columns, t.down, t.across,
                   past_cache, star);
        });
    });
}

// --- The table ------------------------------------------------------------------------------------------------------

Support supports_any(const Device& device, const StencilProblem& p) {
    return supports_type(device, p.type());
}

Support supports_planes(const Device& device, const StencilProblem& p) {
    if (Support type = supports_type(device, p.type()); !type) return type;
    if (Support group = supports_group(device, step_tile.lanes); !group) return group;
    return device.traits().dialect == Dialect::host ? Support{}
                                                    : supports_groups(p, step_tile, p.shape.depth);
}

Support supports_streaming(const Device& device, const StencilProblem& p) {
    if (!device.traits().many_lanes)
        return Support::no("it is for groups of many lanes; groups of one suit " + device.info().selector);
    if (Support type = supports_type(device, p.type()); !type) return type;
    const Tile tile = streaming_tile(p);
    if (Support group = supports_group(device, tile.lanes); !group) return group;
    return supports_groups(p, tile, 256);
}

Support supports_blocked(const Device& device, const StencilProblem& p) {
    if (device.traits().many_lanes)
        return Support::no("it is for groups of one lane; groups of many suit " + device.info().selector);
    return supports_type(device, p.type());
}

struct StencilVariant : Variant {
    Required<Support(const Device&, const StencilProblem&)> supports;
    Required<void(Stream&, const StencilProblem&)> run;
};

constexpr char micikevicius[] = "P. Micikevicius, 3D Finite Difference Computation on GPUs using CUDA, 2009";

constexpr StencilVariant table[] = {
    {{"blocked", "tiles whose planes stay in cache, whole rows in vectors; on the CPU several steps at once",
      false, true, true, Order::canonical,
      "A. Nguyen et al., 3.5-D Blocking Optimization for Stencil Computations, 2010"},
     supports_blocked,
     run_blocked},
    {{"streaming", "tiles pass along z: a queue in registers, the plane in local memory, packs of 16 bytes",
      true, true, false, Order::canonical, micikevicius},
     supports_streaming,
     run_streaming},
    {{"tiled", "a tile of a plane with its halo in local memory", true, true, true, Order::canonical,
      micikevicius},
     supports_planes,
     run_tiled},
    {{"naive", "one point a work-item, all neighbours from global memory", true, true, true, Order::canonical,
      "textbook"},
     supports_planes,
     run_naive},
    {{"serial", "one loop on one thread", false, false, true, Order::canonical, "textbook"},
     supports_any,
     run_serial},
};

// --- The call -------------------------------------------------------------------------------------------------------

[[noreturn]] void refuse(const std::string& what) {
    throw Error(ErrorCode::invalid_argument, "stencil", what);
}

// The part of a view that the volume takes.
View extent(const char* name, const View& view, const StencilShape& s) {
    const std::string what = std::string(name) + ", " + std::to_string(s.depth) + " x " +
                             std::to_string(s.rows) + " x " + std::to_string(s.columns);
    u64 count = 0;
    if (s.depth == 0 || s.rows == 0 || s.columns == 0) return view.part(0, 0);
    if (__builtin_mul_overflow(s.depth, s.rows, &count) || __builtin_mul_overflow(count, s.columns, &count))
        refuse(what + ": its points overflow 64-bit sizes");
    if (count > view.count)
        refuse(what + ", takes " + std::to_string(count) + " elements, its range has " +
               std::to_string(view.count));
    return view.part(0, count);
}

StencilProblem problem_of(Stream& stream, const View& in, const View& out, const StencilShape& shape,
                          const StarCoefficients& star, u64 steps) {
    check_operand("stencil", "in", stream, in);
    check_operand("stencil", "out", stream, out);
    if (!is_float(in.type)) refuse("in is " + std::string(name_of(in.type)) + "; f32 and f64 have stencils");
    if (in.type != out.type)
        refuse("in is " + std::string(name_of(in.type)) + ", out " + std::string(name_of(out.type)));
    const View from = extent("in", in, shape), to = extent("out", out, shape);
    if (overlap(from, to))
        refuse("out, at byte " + std::to_string(out.offset) + ", overlaps in, at byte " +
               std::to_string(in.offset) + " of the same buffer");
    return {from, to, shape, star, steps};
}

}  // namespace
}  // namespace detail

std::vector<const Variant*> stencil_variants() {
    std::vector<const Variant*> list;
    for (const detail::StencilVariant& row : detail::table)
        list.push_back(&row);
    return list;
}

Run stencil(Stream& stream, const View& in, const View& out, const StencilShape& shape,
            const StarCoefficients& star, u64 steps, const Options& options) {
    const detail::StencilProblem p = detail::problem_of(stream, in, out, shape, star, steps);
    const detail::StencilVariant& row = detail::choose("stencil", detail::table, stream.device(), p, options);
    if (p.in.count > 0 && steps > 0) row.run(stream, p);
    if (p.in.count > 0 && steps == 0) map(stream, p.in, p.out, MapFunction::copy);
    return {row.name, &stream.device()};
}

}  // namespace concord
