// Scan over one axis of an array.

#include "scan_sources.hpp"
#include "scan_variants.hpp"

#include <concord/internal/builtin_operator.hpp>
#include <concord/internal/launch.hpp>
#include <concord/internal/nd_lines.hpp>
#include <concord/scan_axes.hpp>

#include <algorithm>
#include <bit>

namespace concord {

namespace detail {
namespace {

constexpr u64 fan = detail::host::scan_fan;
constexpr u64 min_chunk = fan * fan * fan;
constexpr u64 max_groups = u64{1} << 22;  // loops over the groups of a grid take the rest

// The operands and the operator of a launch.
struct Lines {
    NdLines<2> shape;
    View in, out;
    const ScanLinesProblem& problem;
    u32 exclusive;

    Type type() const { return in.type; }
    bool is_dense() const { return shape.step[0] == 1 && shape.step[1] == 1; }
    bool adjacent() const { return shape.stride[0][shape.kept - 1] == 1 && shape.extent[shape.kept - 1] > 1; }
};

// The length of the chunks: nodes of the tree, so that there are about `wanted` units of them. A unit is a chunk of
// `side` lines.
u64 chunk_of(const Lines& l, u64 side, u64 wanted) {
    const u64 parts = divide_up(l.shape.lines, side);
    if (parts >= wanted || l.shape.n <= min_chunk) return std::max<u64>(l.shape.n, 1);
    u64 chunk = min_chunk;
    while (chunk < l.shape.n && parts * divide_up(l.shape.n, chunk * fan) >= wanted)
        chunk *= fan;
    return chunk;
}

// Runs the lines in chunks. enqueue(lines, carries, chunk, chunks, totals) launches a kernel.
template <class F>
void run_chunks(Stream& stream, const Lines& l, u64 side, u64 wanted, F&& enqueue) {
    const u64 chunk = chunk_of(l, side, wanted), chunks = std::max<u64>(1, divide_up(l.shape.n, chunk));
    if (chunks == 1) return enqueue(l, l.out, chunk, chunks, false);
    const u64 count = l.shape.lines * chunks;
    const auto buffer = stream.scratch(count * size_of(l.type()));
    const View carries{buffer.get(), 0, count, l.type()};
    Lines totals = l;
    totals.out = carries;
    enqueue(totals, carries, chunk, chunks, true);
    // The carries are the exclusive scans of the totals of each line.
    Lines above{.shape = {.lines = l.shape.lines, .n = chunks, .kept = 1},
                .in = carries,
                .out = carries,
                .problem = l.problem,
                .exclusive = 1};
    above.shape.extent[0] = l.shape.lines;
    for (u32 o = 0; o < 2; ++o) {
        above.shape.stride[o][0] = static_cast<i64>(chunks);
        above.shape.step[o] = 1;
    }
    run_chunks(stream, above, side, wanted, enqueue);
    enqueue(l, carries, chunk, chunks, false);
}

// Few long lines of adjacent elements are scanned one after another by the kernels for ranges; on CPUs also many,
// because several threads share each.
bool suits_flat(const Device& device, const Lines& l) {
    if (!l.is_dense()) return false;
    if (device.traits().launch == LaunchModel::host) return l.shape.n > detail::host::scan_tile;
    const u64 long_bytes = device.traits().launch == LaunchModel::groups ? u64{1} << 23 : u64{1} << 18;
    return l.shape.n * size_of(l.type()) >= long_bytes &&
           (l.shape.lines <= 4 || l.shape.lines <= device.traits().units);
}
void run_flat(Stream& stream, const Lines& l) {
    const auto line_of = [&](const View& range, u32 operand, u64 line) {
        View view = range;
        view.offset += static_cast<u64>(l.shape.line_at(operand, line)) * size_of(range.type);
        view.count = l.shape.n;
        return view;
    };
    for (u64 line = 0; line < l.shape.lines; ++line)
        scan(stream, l.problem.flat.on(line_of(l.in, 0, line), line_of(l.out, 1, line)), {});
}

void run_groups(Stream& stream, const Lines& l, u32 group) {
    const DeviceTraits& traits = stream.device().traits();
    // Few values, so that few kernels are compiled.
    const u32 across = group == 1 || l.shape.n <= fan ? 1 : l.shape.n <= 4 * fan ? 4 : 16;
    const u32 side = group / across;
    // A tile, the totals of its blocks, and where its lines begin.
    const u64 local = (u64{side} * (fan * across + 1) + group) * size_of(l.problem.type()) + u64{16} * side;
    const bool staged = group > 1 && l.is_dense() && !l.adjacent() && l.shape.n > 1 &&
                        supports_local_memory(stream.device(), local);
    run_chunks(stream, l, side, u64{4} * traits.units,
               [&](const Lines& part, const View& carries, u64 chunk, u64 chunks, bool totals) {
                   const auto kernel = scan_kernel(
                       stream.device(), l.problem.flat, kernel_sources::scan_lines(), "scan_lines", group,
                       {{"SIDE", side}, {"ACROSS", across}, {"STAGED", staged ? 1U : 0U}, {"OPERANDS", 2U}});
                   const u64 units = divide_up(part.shape.lines, side) * chunks;
                   launch(stream, *kernel, LaunchShape::linear(std::min(units, max_groups), group), part.in,
                          carries, part.out, bytes_of(part.shape), chunk, chunks, part.exclusive, u32{totals},
                          l.problem.flat.identity, l.problem.flat.values);
               });
}

// Units per group: one group for few elements, because waking a thread costs more; then some groups per thread.
u64 units_per_group(const Device& device, const Lines& l, u64 units) {
    const u64 bytes = l.shape.lines * l.shape.n * size_of(l.type());
    return divide_up(units, std::min({units, std::max<u64>(1, bytes >> 17), u64{8} * device.traits().units}));
}

void run_host(Stream& stream, const Lines& l) {
    Device& device = stream.device();
    constexpr u64 short_length = 512;  // a line's vectors are then longer than the line
    if (l.is_dense() && l.shape.n >= short_length) {
        const u64 run = units_per_group(device, l, l.shape.lines);
        launch(stream, *host_kernel_of(device, "scan_rows", *l.problem.rows),
               LaunchShape::linear(divide_up(l.shape.lines, run), 1), l.in, l.out, bytes_of(l.shape), run,
               l.exclusive, l.problem.flat.identity, l.problem.flat.values);
        return;
    }
    const auto kernel = host_kernel_of(device, "scan_lines", *l.problem.host);
    const u64 side = 512 / size_of(l.type());
    run_chunks(stream, l, side, device.traits().units,
               [&](const Lines& part, const View& carries, u64 chunk, u64 chunks, bool totals) {
                   const u64 units = divide_up(part.shape.lines, side) * chunks,
                             run = units_per_group(device, part, units);
                   launch(stream, *kernel, LaunchShape::linear(divide_up(units, run), 1), part.in, carries,
                          part.out, bytes_of(part.shape), chunk, chunks, run, part.exclusive, u32{totals},
                          l.problem.flat.identity, l.problem.flat.values);
               });
}

void run_lines(Stream& stream, const ScanLinesProblem& p) {
    const Lines l{.shape = lines_along<2>(static_cast<u32>(p.axis), {&p.in, &p.out}),
                  .in = p.in.range(),
                  .out = p.out.range(),
                  .problem = p,
                  .exclusive = p.flat.exclusive()};
    if (suits_flat(stream.device(), l)) return run_flat(stream, l);
    switch (stream.device().traits().launch) {
        case LaunchModel::groups:
            return run_groups(stream, l, scan_group);
        case LaunchModel::single_items:
            return run_groups(stream, l, 1);
        case LaunchModel::host:
            return run_host(stream, l);
    }
}

constexpr auto table =
    table_of<ScanLinesProblem>({{.variant = {.name = "lines",
                                             .summary = "groups scan neighbouring lines side by side",
                                             .order = OperationOrder::canonical,
                                             .source = "Concord; tree after J. Sklansky, 1960"},
                                 .groups = {run_lines, supports_problem_in<scan_group>},
                                 .single_items = {run_lines, supports_problem},
                                 .host = {run_lines, supports_problem}}});

}  // namespace

Enqueued scan_lines(Stream& stream, const ScanLinesProblem& problem, const Options& options) {
    check_operand("scan", "in", stream, problem.in.range());
    check_output("scan", "out", stream, problem.out.range());
    ScanLinesProblem p = problem;
    p.axis = axis_of("scan", problem.axis, p.in.rank());
    check_same_type("scan", {{"in", p.in.type()}, {"out", p.out.type()}});
    check_lines("scan", {"in", p.in}, {"out", p.out});
    check_variant_of_axes(scan_algorithm, stream.device(), options, table[0].variant.name);
    const Row<ScanLinesProblem>& row = choose("scan", table, stream.device(), p, options);
    if (p.out.size() > 0) row.run(stream, p);
    return enqueued(stream, row, p);
}

}  // namespace detail

Enqueued scan(Stream& stream, const NdView& in, const NdView& out, ReduceOp op, i64 axis, ScanKind kind,
              const Options& options) {
    detail::check_elements("scan", "in", in.range());
    return detail::scan_lines(stream,
                              {.in = in,
                               .out = out,
                               .axis = axis,
                               .flat = detail::scan_problem(in.range(), out.range(), op, kind),
                               .host = &detail::scan_lines_builtin(op, in.type()),
                               .rows = &detail::scan_rows_builtin(in.type())},
                              options);
}

}  // namespace concord
