#include "compact_variants.hpp"

#include <concord/internal/input.hpp>
#include <concord/internal/launch.hpp>
#include <concord/internal/operands.hpp>

namespace concord {

namespace detail {
namespace {

// --- The table -------------------------------------------------------------------------------------------------------

Support supports_fused(const Device& device, const CompactProblem& p) {
    const Support apart = supports_apart(p);
    return apart ? supports_problem(device, p) : apart;
}

Support supports_fused_groups(const Device& device, const CompactProblem& p) {
    const Support apart = supports_apart(p);
    return apart ? supports_problem_in<compact_group>(device, p) : apart;
}

constexpr auto table = table_of<CompactProblem>({
    {.variant =
         {.name = "lookback",
          .summary = "one pass: each tile is ranked in its group, decoupled look-back gives its offset",
          .order = OperationOrder::canonical,
          .source =
              "D. Merrill, M. Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, 2016"},
     .groups = {run_compact_lookback, supports_compact_lookback, suits_compact_lookback},
     .computes_input = true},
    {.variant = {.name = "fused",
                 .summary = "count, scan, write: three launches; flags stay in registers",
                 .order = OperationOrder::canonical,
                 .source = "D. Merrill, A. Grimshaw, Parallel Scan for Stream Architectures, 2009"},
     .groups = {run_compact_fused, supports_fused_groups},
     .single_items = {run_compact_fused_wide, supports_fused},
     .host = {run_compact_fused_host, supports_fused, suits_compact_fused_host},
     .computes_input = true},
    // Faster than `fused` in one group, and in more groups if every thread has a core, but then far slower if a thread
    // is descheduled during its turn.
    {.variant =
         {.name = "two_pass",
          .summary =
              "one pass: each thread compresses a tile into private memory, then stores it in tile order",
          .order = OperationOrder::canonical,
          .source = "Concord; after D. Merrill, M. Garland, 2016"},
     .host = {run_compact_two_pass, supports_problem},
     .computes_input = true},
    {.variant = {.name = "scan_scatter",
                 .summary = "flags, their exclusive scan, scatter; one launch each",
                 .order = OperationOrder::canonical,
                 .source = "G. Blelloch, Prefix Sums and Their Applications, 1990"},
     .groups = {run_compact_scan_scatter, supports_compact_scan_scatter},
     .single_items = {run_compact_scan_scatter, supports_compact_scan_scatter},
     .host = {run_compact_scan_scatter_host, supports_compact_scan_scatter}},
    {.variant = {.name = "serial",
                 .summary = "one loop on one thread",
                 .order = OperationOrder::canonical,
                 .source = "textbook"},
     .host = {run_compact_serial, supports_problem},
     .computes_input = true},
});

constexpr auto variants = variants_of(table);
constexpr const Tunable* tunables[] = {&compact_waves,    &compact_groups,   &compact_group_kib,
                                       &compact_resident, &compact_tile_kib, &compact_stream_kib};

// Keeps all of f32. A second group starts at twice the input per group.
void calibrate(Calibration& calibration) {
    auto keep = [&](u64 bytes) {
        const u64 n = bytes / sizeof(f32);
        concord::compact(calibration.stream(), calibration.operand(0, Type::f32, n),
                         calibration.operand(1, Type::f32, n), calibration.operand(2, Type::u64, 1),
                         Keep::less(f32{1}));
    };
    calibration.add_threshold(compact_group_kib, keep, {}, 2048);
    calibration.add_threshold(compact_stream_kib, [&](u64 bytes) { keep(bytes / 2); });
}

void check(const char* call, Stream& stream, const CompactProblem& p, const Input& in) {
    check_input(call, "in", stream, in);
    check_output(call, "out", stream, p.out);
    check_output(call, "count", stream, p.count);
    auto refuse = [call](const std::string& what) { throw Error(ErrorCode::invalid_argument, call, what); };
    check_same_type(call, {{"in", p.in.type}, {"out", p.out.type}});
    if (p.out.count < p.in.count)
        refuse("out is too short, got " + std::to_string(p.out.count) + " elements for " +
               std::to_string(p.in.count) + " of in; pass at least as many");
    if (p.count.type != Type::u64 || p.count.count != 1)
        refuse("count must be one u64, got " + std::to_string(p.count.count) + " elements of " +
               std::string(name_of(p.count.type)));
    // An element of an expression is not read at the index that is written.
    check_input_overlap(call, {"out", p.out}, "in", in,
                        p.partition || p.expression ? InPlace::no : InPlace::yes);
    check_input_overlap(call, {"count", p.count}, "in", in);
    check_overlap(call, {"count", p.count}, {"out", p.out});
}

// `auto` would give the reason of the first variant, which may be another one.
void check_in_place(const Device& device, const CompactProblem& p) {
    for (const Row<CompactProblem>& row : table) {
        if (supports_dialect(device, row.variant) && row.supports(device, p)) return;
    }
    throw Error(
        ErrorCode::unsupported, "compact",
        "no variant supports in-place operation on " + device.info().selector + "; pass a distinct output");
}

// Whether the kernels of the row compute the input. CPUs store what is read twice, because computing it twice takes
// longer. Flags are computed twice.
bool computes_input(const Row<CompactProblem>& row, const Device& device, const CompactProblem& p) {
    if (!row.computes_input || p.selects || device.traits().launch == LaunchModel::groups)
        return row.computes_input;
    const bool reads_twice = p.partition || row.groups.run == run_compact_fused;
    return !reads_twice;
}

}  // namespace

std::shared_ptr<Kernel> compact_kernel(Device& device, const CompactProblem& p, const KernelSource& source,
                                       const char* entry, u32 group_size, CompactNeeds needs,
                                       const Constants& constants) {
    // A kernel that does not call the predicate is compiled once, with a built-in predicate.
    const Type type = needs == CompactNeeds::predicate ? p.type()
                      : needs == CompactNeeds::size    ? bits_of_size(size_of(p.in.type))
                                                       : Type::u32;
    const Operator& op =
        needs == CompactNeeds::predicate ? p.op : compact_builtin(KeepRule::nonzero, type).op;
    const std::string as_type = "as_" + std::string(opencl_name(type)) + "(x)";
    KernelSpec spec{.source = &source,
                    .entry = entry,
                    .constants = {{"T", type},
                                  {"B", bits_of_size(size_of(type))},
                                  {"AS_T(x)", std::string_view(as_type)},
                                  {"SIZE", size_of(type)},
                                  {"GROUP", group_size},
                                  {"PACK", compact_pack_bytes / size_of(type)}},
                    .op = &op,
                    .max_group_size = group_size};
    spec.constants.append(constants);
    // Kernels that call the predicate read the input.
    if (needs == CompactNeeds::predicate) spec.source = &with_input(source, p.input());
    return device.kernel(spec);
}

host::BlockFunction compact_block_function(const Device& device, const CompactProblem& p) {
    const HostIsa isa = device.traits().host_isa;
    return {.entry = p.host->entry(isa), .isa = isa};
}

namespace {

void refuse_in_place(const char* call, const Input& in, const View& out) {
    if (in.view.buffer != nullptr && overlap(in.view, out))
        throw Error(ErrorCode::invalid_argument, call,
                    "out may not overlap in with a count on the device; pass a distinct output");
}

// By flags: those of the predicate, of the elements that are used. The input is read for both.
Enqueued compact_counted(Stream& stream, const CompactProblem& p, const char* call, const Options& options) {
    Input in = p.input();
    refuse_in_place(call, in, p.out);
    std::optional<InputInMemory> stored;
    if (!may_compute_all(in, 8)) {
        // partition moves all elements.
        const View used = p.partition ? View() : p.live;
        in = Input(stored.emplace(stream, call, in, p.out, options, InPlace::no, Store::now, used).view());
    }
    const Input flags(
        transform_node(p.op, p.values.bytes, {.kernel = *p.host, .is_flags = true}, {node_of(in)}));
    const Enqueued done = compact(stream, in, flags, p.out, p.count,
                                  p.partition ? Others::behind : Others::dropped, options, p.live);
    return stored ? stored->with_order(done) : done;
}

}  // namespace

Enqueued compact(Stream& stream, const CompactProblem& p, const Options& options) {
    const char* call = p.partition ? "partition" : "compact";
    if (p.live.buffer != nullptr) return compact_counted(stream, p, call, options);
    const Input in = p.input();
    check(call, stream, p, in);
    if (p.in_place() && options.variant == "auto") check_in_place(stream.device(), p);
    // Tables name variants for ranges.
    const Row<CompactProblem>& row =
        in.node ? choose(call, table, stream.device(), p, options)
                : choose_tuned(call, table, stream.device(), p, point_of(p), options);
    if (p.in.count == 0) {
        const u64 none = 0;
        stream.fill(*p.count.buffer, p.count.offset, sizeof none, &none, sizeof none);
    } else if (in.node && !computes_input(row, stream.device(), p)) {
        std::shared_ptr<Buffer> room;
        row.run(stream, p.on(materialized(stream, in, room)));
    } else {
        row.run(stream, p);
    }
    return enqueued(stream, row, p);
}

namespace {

const char* name_of_call(Others others) {
    return others == Others::behind ? "partition" : "compact";
}

// Throws invalid_argument unless the rule supports elements of the type.
void check_keep(std::string_view call, const Keep& keep, Type type) {
    const auto refuse = [&](const std::string& wants, std::string_view got) {
        throw Error(
            ErrorCode::invalid_argument, call,
            "rule '" + std::string(name_of(keep.rule)) + "' requires " + wants + ", got " + std::string(got));
    };
    if (is_float(type) && (keep.rule == KeepRule::even || keep.rule == KeepRule::odd))
        refuse("integers", name_of(type));
    if (has_operand(keep.rule) && keep.operand_type != type)
        refuse("an operand of " + std::string(name_of(type)),
               keep.operand_type ? name_of(*keep.operand_type) : "none");
}

// The bound values of a rule for elements of the type.
std::span<const std::byte> values_of(const Keep& keep, Type type) {
    return std::span(keep.operand).first(has_operand(keep.rule) ? std::max(size_of(type), 4u) : 4u);
}

}  // namespace

Enqueued compact(Stream& stream, const Input& input, const View& out, const View& count, const Keep& keep,
                 Others others, const Options& options, const View& live) {
    check_no_struct(name_of_call(others), "in", input.view);
    check_same_type(name_of_call(others), {{"in", input.view.type}, {"out", out.type}});
    const Input in = without_bool(input);
    const Type type = in.view.type;
    check_keep(name_of_call(others), keep, type);
    const auto [op, host] = compact_builtin(keep.rule, type);
    return compact(stream,
                   {.in = in.view,
                    .out = without_bool(out),
                    .count = count,
                    .op = op,
                    .values = {values_of(keep, type)},
                    .host = host,
                    .partition = others == Others::behind,
                    .expression = in.node,
                    .live = live},
                   options);
}

Enqueued compact(Stream& stream, const Input& input, const Input& some_flags, const View& out,
                 const View& count, Others others, const Options& options, const View& live) {
    const char* const call = name_of_call(others);
    check_no_struct(call, "in", input.view);
    check_same_type(call, {{"in", input.view.type}, {"out", out.type}});
    Input in = without_bool(input), flags = some_flags;
    std::optional<InputInMemory> stored, stored_flags;
    if (live.buffer != nullptr) {
        refuse_in_place(call, in, out);
        // Their sizes, before one of them is stored.
        select_node(call, in, flags);
        // partition moves all elements.
        const View used = others == Others::behind ? View() : live;
        if (!may_compute_all(in, 8))
            in = Input(stored.emplace(stream, call, in, out, options, InPlace::no, Store::now, used).view());
        if (!may_compute_all(flags, 10))
            flags =
                Input(stored_flags.emplace(stream, call, flags, out, options, InPlace::no, Store::now, live)
                          .view());
        flags = Input(below_node(node_of(flags), 0, live));
    }
    const Input selected(select_node(call, in, flags));
    const KeepRule unused = KeepRule::nonzero;
    const auto [op, host] = compact_builtin(unused, in.view.type);
    Enqueued done = compact(stream,
                            {.in = selected.view,
                             .out = without_bool(out),
                             .count = count,
                             .op = op,
                             .values = {values_of(unused, in.view.type)},
                             .host = host,
                             .partition = others == Others::behind,
                             .expression = selected.node,
                             .selects = true},
                            options);
    for (const auto* input : {&stored, &stored_flags}) {
        if (*input) done = (*input)->with_order(done);
    }
    return done;
}

ExpressionPointer kept_node(const Input& input, const Keep& keep) {
    check_no_struct("count_if", "in", input.view);
    const Input in = without_bool(input);
    const Type type = in.view.type;
    check_keep("count_if", keep, type);
    const auto [op, host] = compact_builtin(keep.rule, type);
    return convert_node(Type::u64, transform_node(op, values_of(keep, type),
                                                  {.kernel = *host, .is_flags = true}, {node_of(in)}));
}

}  // namespace detail

constinit const Algorithm compact_algorithm{
    .name = "compact",
    .summary = "out = the elements of in for which a predicate holds, in order",
    .variants = detail::variants,
    .tunables = detail::tunables,
    .calibrate = detail::calibrate};

Enqueued compact(Stream& stream, const View& in, const View& out, const View& count, const Keep& keep,
                 const Options& options) {
    return detail::compact(stream, detail::Input(in), out, count, keep, detail::Others::dropped, options);
}

Enqueued partition(Stream& stream, const View& in, const View& out, const View& count, const Keep& keep,
                   const Options& options) {
    return detail::compact(stream, detail::Input(in), out, count, keep, detail::Others::behind, options);
}

}  // namespace concord
