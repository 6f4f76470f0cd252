// Reduce over axes.

#include "reduce_sources.hpp"
#include "reduce_variants.hpp"

#include <concord/internal/builtin_operator.hpp>
#include <concord/internal/calibration.hpp>
#include <concord/internal/input.hpp>
#include <concord/internal/launch.hpp>
#include <concord/reduce_axes.hpp>

#include <algorithm>
#include <bit>

namespace concord {

namespace detail {
namespace {

// Loops over the groups of a grid take the rest.
constexpr u64 max_groups = u64{1} << 22;
constexpr u32 loads_in_flight = 8;
// CPUs. Adjacent lines of more bytes side by side are reduced by columns; bytes side by side of a node of the tree.
// OpenCL has less local memory.
struct CpuLimits {
    u64 side_bytes, node_bytes;
};
constexpr CpuLimits host_limits{1024, 4096}, wide_limits{128, 2048};
constexpr u64 wide_room = 16384;  // bytes that both need
// Elements of the columns of short rows, and the length of the longest ones.
constexpr u64 short_elements = 1024, short_length = 64;

u64 round_up(u64 n, u64 step) {
    return divide_up(n, step) * step;
}

u64 magnitude(i64 stride) {
    return stride < 0 ? u64{0} - static_cast<u64>(stride) : static_cast<u64>(stride);
}

// One axis with its strides in elements; `out` of kept axes only.
struct Axis {
    u64 extent;
    i64 in, out;
};
struct AxisList {
    std::array<Axis, ReduceLines::max_axes> axis{};
    u32 count = 0;

    void add(const Axis& a) { axis[count++] = a; }
    Axis& back() { return axis[count - 1]; }
    // Joins neighbouring axes that are one axis in memory. At least one axis is left.
    void merge() {
        u32 last = 0;  // axes so far, the last one open
        for (u32 k = 0; k < count; ++k) {
            const Axis a = axis[k];
            if (a.extent == 1) continue;
            if (last > 0) {
                Axis& before = axis[last - 1];
                const auto is_one = [&](i64 outer, i64 inner) {
                    return static_cast<u64>(outer) == static_cast<u64>(inner) * a.extent;
                };
                if (is_one(before.in, a.in) && is_one(before.out, a.out)) {
                    before = {before.extent * a.extent, a.in, a.out};
                    continue;
                }
            }
            axis[last++] = a;
        }
        count = last;
        if (count == 0) add({1, 1, 1});
    }
};

// A level: lines of a buffer, and where their results go.
struct Level {
    AxisList kept, reduced;
    u64 lines = 1, n = 1, in_at = 0, out_at = 0;
    View in;

    explicit Level(const ReduceLinesProblem& p)
        : in_at(p.in.origin()), out_at(p.out.origin()), in(p.in.range()) {
        u32 result = 0, next = 0;
        for (u32 k = 0; k < p.in.rank(); ++k) {
            Axis axis{p.in.extent(k), p.in.stride(k), 0};
            if (next < p.axes.size() && p.axes[next] == k) {
                ++next;
                n *= axis.extent;
                reduced.add(axis);
                continue;
            }
            axis.out = p.out.stride(result++);
            lines *= axis.extent;
            // The order of lines is free: lines ascend in memory.
            if (axis.in < 0 && axis.extent > 0) {
                in_at += (axis.extent - 1) * static_cast<u64>(axis.in);
                out_at += (axis.extent - 1) * static_cast<u64>(axis.out);
                axis.in = static_cast<i64>(magnitude(axis.in));
                axis.out = static_cast<i64>(u64{0} - static_cast<u64>(axis.out));
            }
            kept.add(axis);
        }
        kept.merge();
        std::sort(kept.axis.begin(), kept.axis.begin() + kept.count, [](const Axis& a, const Axis& b) {
            // Repeated lines are outermost.
            return magnitude(a.in) - 1 > magnitude(b.in) - 1;
        });
        kept.merge();
        reduced.merge();
    }
    // The lines of a level's results, `chunks` for each line.
    Level(const Level& below, const View& sums, u64 chunks)
        : kept(below.kept), lines(below.lines), n(chunks), out_at(below.out_at), in(sums) {
        u64 stride = chunks;
        for (u32 k = kept.count; k-- > 0; stride *= kept.axis[k].extent)
            kept.axis[k].in = static_cast<i64>(stride);
        kept.merge();
        reduced.add({chunks, 1, 0});
    }

    bool is_dense() const { return reduced.count == 1 && (reduced.axis[0].in == 1 || n <= 1); }
    u64 chunk() const { return canonical_chunk(n); }
    u64 chunks() const { return std::max<u64>(1, divide_up(n, chunk())); }

    // As kernels take it. sums: whether the results are those of chunks, in the order of the lines.
    ReduceLines shape(bool sums) const {
        ReduceLines s{.lines = lines,
                      .n = n,
                      .chunk = chunk(),
                      .chunks = chunks(),
                      .in_at = in_at,
                      .out_at = sums ? 0 : out_at,
                      .kept = kept.count,
                      .axes = reduced.count};
        for (u32 k = 0; k < kept.count; ++k) {
            s.extent[k] = kept.axis[k].extent;
            s.in[k] = kept.axis[k].in;
            s.out[k] = kept.axis[k].out;
        }
        for (u32 k = 0; k < reduced.count; ++k) {
            s.extent[kept.count + k] = reduced.axis[k].extent;
            s.in[kept.count + k] = reduced.axis[k].in;
        }
        u64 stride = s.chunks;
        for (u32 k = kept.count; sums && k-- > 0; stride *= kept.axis[k].extent)
            s.out[k] = static_cast<i64>(stride);
        return s;
    }
};

ValueBytes bytes_of(const ReduceLines& shape) {
    return {std::as_bytes(std::span(&shape, 1))};
}

// Runs all levels. run(level, in, shape, out) enqueues one.
template <class F>
void run_levels(Stream& stream, const ReduceLinesProblem& p, F&& run) {
    Level level(p);
    // An input without elements may have no buffer. Kernels do not read it.
    if (level.n == 0) level.in = p.out.range();
    std::shared_ptr<Buffer> from, to;
    for (Input in = p.input();; in = Input(level.in)) {
        const u64 chunks = level.chunks();
        if (level.n == 0) in = Input(level.in);
        if (chunks == 1) return run(level, in, level.shape(false), p.out.range());
        const u64 count = level.lines * chunks;
        to = stream.scratch(checked_bytes("reduce", count, size_of(p.type())));
        const View sums{to.get(), 0, count, p.type()};
        run(level, in, level.shape(true), sums);
        level = Level(level, sums, chunks);
        from = std::move(to);
    }
}

// --- Groups of many work-items --------------------------------------------------------------------------------------

// The kernel of a level in groups, and what a group processes.
struct GroupKernel {
    const KernelSource& source;
    const char* entry;
    u32 group;
    u64 units;  // groups that find work
    Constants constants;
};

// Adjacent lines that a work-item reduces together, in one access of at most 16 bytes.
u32 lines_per_pack(const Level& level, const ReduceLines& s, const Input& in, u32 size) {
    const u64 inner = s.kept - 1;
    if (in.node || s.in[inner] != 1) return 1;
    for (u32 pack = 16 / size; pack > 1; pack /= 2) {
        bool fits =
            s.extent[inner] % pack == 0 && s.in_at % pack == 0 && level.in.offset % (pack * size) == 0;
        for (u64 k = 0; k < s.kept + s.axes; ++k)
            fits = fits && (k == inner || magnitude(s.in[k]) % pack == 0);
        if (fits) return pack;
    }
    return 1;
}

GroupKernel group_kernel(const Device& device, const Level& level, const ReduceLines& s, const Input& in,
                         Type type) {
    constexpr u64 few = 32, tile_bytes = 16384, columns = 128;
    constexpr u32 team = 32, busy = 256;  // work-items per compute unit that hide the latency of memory
    const u32 size = size_of(type), group = reduce_group;
    // Expressions compute between their loads: many groups hide the latency of both. 0: any number of them.
    const u32 resident = in.node ? 3 : 1, in_flight = in.node ? 4 : loads_in_flight;
    const u64 padded = std::bit_ceil(std::max<u64>(level.n, 1));
    if (level.is_dense() && level.n > 1) {
        const u64 parts = std::max<u64>(1, group * padded * size / tile_bytes);
        if (s.chunks > 1 || parts > team)
            return {kernel_sources::reduce_rows(),
                    "reduce_rows",
                    group,
                    divide_up(s.lines * s.chunks, group / team),
                    {{"UNROLL", in_flight}, {"RESIDENT", resident}}};
        return {kernel_sources::reduce_short(),
                "reduce_short",
                group,
                divide_up(s.lines, group / parts),
                {{"WIDTH", padded}, {"PARTS", parts}, {"RESIDENT", size < 8 ? 4U : 0U}}};
    }
    // Work-items side by side read what is nearer in memory: neighbouring lines, or neighbouring elements of a line.
    const u64 distance = magnitude(s.in[s.kept - 1]), along = magnitude(s.in[s.kept + s.axes - 1]);
    const bool side_by_side = distance <= along && s.lines > 1;
    // Fewer neighbours do not fill a transaction of memory.
    const bool are_many = s.extent[s.kept - 1] * size >= 128;
    u32 pack = lines_per_pack(level, s, in, size);
    const auto is_busy = [&] { return s.lines / pack * s.chunks >= u64{busy} * device.traits().units; };
    while (pack > 1 && !is_busy())
        pack /= 2;
    if (level.n <= few || (side_by_side && are_many && is_busy()))
        return {kernel_sources::reduce_across(),
                "reduce_across",
                group,
                divide_up(s.lines / pack * s.chunks, group),
                {{"WIDTH", std::min(padded, columns)}, {"PACK", pack}, {"RESIDENT", resident}}};
    const u32 x = side_by_side ? static_cast<u32>(std::bit_ceil(std::min<u64>(s.lines, 32))) : 2;
    return {kernel_sources::reduce_columns(),
            "reduce_columns",
            group,
            divide_up(s.lines, x) * s.chunks,
            {{"SIDE", x}}};
}

void run_lines(Stream& stream, const ReduceLinesProblem& p) {
    run_levels(stream, p, [&](const Level& level, const Input& in, const ReduceLines& s, const View& out) {
        const GroupKernel k = group_kernel(stream.device(), level, s, in, p.type());
        Constants constants = k.constants;
        const Constant common[] = {{"T", p.type()},    {"SIZE", size_of(p.type())},
                                   {"GROUP", k.group}, {"KEPT", s.kept},
                                   {"AXES", s.axes},   {"CONCORD_LINES", 1}};
        for (const Constant& constant : common)
            constants.push_back(constant);
        const auto kernel = stream.device().kernel({.source = &with_input(k.source, in),
                                                    .entry = k.entry,
                                                    .constants = constants,
                                                    .op = &p.op,
                                                    .max_group_size = k.group});
        InputArguments(in).launch(stream, *kernel,
                                  LaunchShape::linear(std::min(k.units, max_groups), k.group), out,
                                  bytes_of(s), p.identity, p.values);
    });
}

// --- CPUs ------------------------------------------------------------------------------------------------------------

// How a group reduces lines.
struct CpuPlan {
    detail::host::ReduceForm form = detail::host::side_by_side;
    u64 width = 1;  // lines at a time
    u64 units = 0;  // chunks of that many lines
    u64 room = 0;   // elements of local memory
    u64 items = 0;  // those of an expression that are computed at a time
};

CpuPlan cpu_plan(const Device& device, const Level& level, const ReduceLines& s, u64 size) {
    using detail::host::order_width;
    using detail::host::used_columns;
    const CpuLimits limits = device.traits().launch == LaunchModel::host ? host_limits : wide_limits;
    const u64 inner = s.extent[s.kept - 1], rows = s.lines / inner * s.chunks,
              columns = used_columns(std::min(level.n, s.chunk));
    CpuPlan plan;
    if (level.is_dense() || inner == 1 || s.in[s.kept - 1] != 1) {
        if (level.n > 0 && level.n <= short_length) {
            plan = {.form = detail::host::short_rows, .width = short_elements / columns};
            plan.units = divide_up(s.lines, plan.width);
            plan.room = 2 * short_elements;
            plan.items = order_width;
            return plan;
        }
    } else if (inner * size <= limits.side_bytes) {
        plan.width = inner;
    } else {
        plan.form = detail::host::by_columns;
        // Whole cache lines, in parts of about equal length.
        const u64 line = 64 / size;
        u64 most = limits.node_bytes / size;
        while (most > 4 * line && rows * divide_up(inner, most) < u64{4} * device.traits().units)
            most /= 2;
        plan.width = round_up(divide_up(inner, divide_up(inner, most)), line);
    }
    plan.units = rows * divide_up(inner, plan.width);
    plan.room = (plan.form == detail::host::by_columns ? 8 : columns) * plan.width;
    plan.items = std::max(plan.room, order_width);
    return plan;
}

// Units per group: one group while the input is small, because waking a thread costs more. Then a few groups per
// thread.
u64 units_per_group(const Device& device, const Level& level, Type type, u64 units) {
    const DeviceTraits& traits = device.traits();
    const u64 count = level.lines * std::max<u64>(level.n, 1);
    const TuningPoint point{type, count};
    const u64 min_bytes = tuned(device, reduce_group_kib, point, min_group_kib(traits)) << 10,
              each = tuned(device, reduce_groups, point, 16);
    const u64 most = std::max<u64>(1, count * size_of(type) / min_bytes);
    return divide_up(units, std::min<u64>({units, most, traits.units * each}));
}

// kernel_of(in, shape, plan): the kernel.
template <class F>
void run_lines_on_cpu(Stream& stream, const ReduceLinesProblem& p, F&& kernel_of) {
    const Device& device = stream.device();
    const u32 size = size_of(p.type());
    const bool is_host = device.traits().launch == LaunchModel::host;
    run_levels(stream, p, [&](const Level& level, const Input& in, const ReduceLines& s, const View& out) {
        const CpuPlan plan = cpu_plan(device, level, s, size);
        const u64 run = units_per_group(device, level, p.type(), plan.units),
                  room = is_host ? plan.room + (in.node ? plan.items : 0) : 0;
        InputArguments(in).launch(
            stream, *kernel_of(in, s, plan), LaunchShape::linear(divide_up(plan.units, run), 1, room * size),
            out, bytes_of(s), plan.width, run, u32{plan.form}, plan.room, p.identity, p.values);
    });
}

void run_lines_wide(Stream& stream, const ReduceLinesProblem& p) {
    run_lines_on_cpu(stream, p, [&](const Input& in, const ReduceLines& s, const CpuPlan& plan) {
        return stream.device().kernel({.source = &with_input(kernel_sources::reduce_lines_wide(), in),
                                       .entry = "reduce_lines",
                                       .constants = {{"T", p.type()},
                                                     {"FORM", u32{plan.form}},
                                                     {"ROOM", wide_room / size_of(p.type())},
                                                     {"KEPT", s.kept},
                                                     {"AXES", s.axes}},
                                       .op = &p.op,
                                       .max_group_size = 1});
    });
}

void run_lines_host(Stream& stream, const ReduceLinesProblem& p) {
    const auto kernel = host_kernel_of(stream.device(), "reduce_lines", *p.host);
    run_lines_on_cpu(
        stream, p, [&](const Input&, const ReduceLines&, const CpuPlan&) -> const auto& { return kernel; });
}

// --- The call --------------------------------------------------------------------------------------------------------

constexpr auto table = table_of<ReduceLinesProblem>(
    {{.variant = {.name = "fixed",
                  .summary =
                      "one launch per level: a warp reduces a chunk of a line, or a group neighbouring lines",
                  .order = OperationOrder::canonical,
                  .longest_chain = canonical_depth,
                  .source = "Concord; tree after M. Harris, 2007"},
      .groups = {run_lines, supports_problem_in<reduce_group>},
      .single_items = {run_lines_wide, supports_problem},
      .host = {run_lines_host, supports_problem}}});

}  // namespace

NdExtents kept_extents(const NdView& in, const Axes& axes) {
    const Axes sorted = sorted_axes("reduce", axes, in.rank());
    NdExtents kept;
    for (u32 k = 0, next = 0; k < in.rank(); ++k) {
        if (next < sorted.size() && sorted[next] == k) {
            ++next;
        } else {
            kept.add(in.extent(k));
        }
    }
    return kept;
}

u64 element_count(const NdExtents& extents) {
    CheckedSize count = 1;
    for (const u64 extent : extents)
        count = count * extent;
    if (std::find(extents.begin(), extents.end(), u64{0}) != extents.end()) return 0;
    if (!count.fits(max_bytes))
        throw Error(ErrorCode::invalid_argument, "reduce",
                    "result of " + shape_name(extents) + " exceeds 2^60 elements");
    return count.value();
}

NdView range_as_output(const View& range, const NdExtents& extents) {
    const u64 count = element_count(extents);
    if (range.count != count)
        throw Error(ErrorCode::invalid_argument, "reduce",
                    "out must have " + std::to_string(count) + (count == 1 ? " element" : " elements") +
                        " (" + shape_name(extents) + "), got " + std::to_string(range.count));
    return {range, extents};
}

Enqueued reduce_lines(Stream& stream, const ReduceLinesProblem& problem, const Options& options) {
    check_input("reduce", "in", stream, problem.input());
    check_output("reduce", "out", stream, problem.out.range());
    ReduceLinesProblem p = problem;
    p.axes = sorted_axes("reduce", problem.axes, p.in.rank());
    const NdExtents kept = kept_extents(p.in, p.axes);
    if (!(p.out.extents() == kept))
        throw Error(ErrorCode::invalid_argument, "reduce",
                    "out must have the extents of the kept axes, " + shape_name(kept) + ", got " +
                        shape_name(p.out.extents()));
    if (!p.out.is_unique())
        throw Error(ErrorCode::invalid_argument, "reduce",
                    "indices of out may share elements; pass an array view whose strides keep them apart");
    check_same_type("reduce", {{"in", p.in.type()}, {"out", p.out.type()}});
    check_input_overlap("reduce", {"out", p.out.range()}, "in", p.input());
    const auto is_named = [&](const Variant* variant) { return variant->name == options.variant; };
    if (options.variant != table[0].variant.name &&
        std::any_of(reduce_algorithm.variants.begin(), reduce_algorithm.variants.end(), is_named))
        throw_unsupported_variant("reduce", options.variant, stream.device(),
                                  Support::no("does not support axes"), {table[0].variant.name});
    const Row<ReduceLinesProblem>& row = choose("reduce", table, stream.device(), p, options);
    if (p.out.size() > 0) row.run(stream, p);
    return enqueued(stream, row, p);
}

Enqueued reduce_lines(Stream& stream, const NdInput& in, const NdView& out, ReduceOp op, const Axes& axes,
                      const Options& options) {
    check_elements("reduce", "in", in.view.range());
    const Type type = in.view.type();
    return reduce_lines(stream,
                        {.in = in.view,
                         .out = out,
                         .axes = axes,
                         .op = builtin(op, type),
                         .values = builtin_values(op, type),
                         .identity = builtin_identity(op, type),
                         .host = &reduce_lines_builtin(op, type),
                         .expression = in.elements},
                        options);
}

}  // namespace detail

Enqueued reduce(Stream& stream, const NdView& in, const NdView& out, ReduceOp op, const Axes& axes,
                const Options& options) {
    return detail::reduce_lines(stream, {in}, out, op, axes, options);
}

}  // namespace concord
