#include "transpose_variants.hpp"

#include <concord/internal/operands.hpp>
#include <concord/internal/shape.hpp>
#include <concord/map.hpp>

#include <string>

namespace concord {
namespace detail {

std::shared_ptr<Kernel> transpose_kernel(Device& device, const TransposeProblem& p,
                                         const KernelSource& source, const char* entry, u32 group_size,
                                         const Constants& constants) {
    const u32 size = p.size();
    KernelSpec spec{.source = &source,
                    .entry = entry,
                    .constants = {{"B", p.type()},
                                  {"SIZE", size},
                                  {"PACK", transpose_pack_bytes / size},
                                  {"GROUP", group_size}},
                    .max_group_size = group_size};
    spec.constants.append(constants);
    return device.kernel(spec);
}

bool transpose_by_copy(Stream& stream, const TransposeProblem& p) {
    const TransposeShape& s = p.shape;
    const bool is_row = s.rows == 1 && (s.out_pitch == 1 || s.columns == 1),
               is_column = s.columns == 1 && (s.in_pitch == 1 || s.rows == 1);
    if (p.in_place || (!is_row && !is_column)) return false;
    const u64 n = s.rows * s.columns;
    map(stream, p.in.part(0, n), p.out.part(0, n), MapFunction::copy);
    return true;
}

namespace {

Support accepts_naive(const Variant& /*variant*/, const TransposeProblem& p) {
    if (p.in_place) return Support::no("does not support in-place operation; pass a distinct output");
    return {};
}

constexpr char ruetsch[] = "G. Ruetsch, P. Micikevicius, Optimizing Matrix Transpose in CUDA, 2009";

constexpr Implementation<TransposeProblem> tiled_padded{.run = run_transpose_tiled_padded,
                                                        .supports = supports_transpose_tiled};
constexpr Implementation<TransposeProblem> tiled{.run = run_transpose_tiled,
                                                 .supports = supports_transpose_tiled};
constexpr Implementation<TransposeProblem> naive{.run = run_transpose_naive,
                                                 .supports = supports_transpose_naive};

constexpr auto table = table_of<TransposeProblem>({
    {.variant = {.name = "blocked",
                 .summary =
                     "tiles of whole cache lines, blocks transposed in registers, non-temporal stores; one "
                     "work-item per group",
                 .order = OperationOrder::canonical,
                 .source = "J. O. Eklundh, A Fast Computer Method for Matrix Transposing, 1972"},
     .single_items = {.run = run_transpose_blocked_items},
     .host = {.run = run_transpose_blocked_host}},
    {.variant =
         {.name = "vectorized",
          .summary =
              "16-byte loads and stores, blocks transposed in registers, swizzled tiles; strips for thin "
              "matrices",
          .order = OperationOrder::canonical,
          .source = ruetsch},
     .groups = {.run = run_transpose_vectorized, .supports = supports_transpose_vectorized}},
    {.variant = {.name = "tiled_padded",
                 .summary = "tiled with padded rows in local memory: no bank conflicts",
                 .order = OperationOrder::canonical,
                 .source = ruetsch},
     .groups = tiled_padded,
     .single_items = tiled_padded},
    {.variant = {.name = "tiled",
                 .summary = "a tile passes through local memory, so loads and stores both go along rows",
                 .order = OperationOrder::canonical,
                 .source = ruetsch},
     .groups = tiled,
     .single_items = tiled,
     .host = {.run = run_transpose_tiled_host}},
    {.variant = {.name = "naive",
                 .summary = "one element per work-item: reads along rows, writes along columns",
                 .order = OperationOrder::canonical,
                 .source = "textbook"},
     .groups = naive,
     .single_items = naive,
     .host = {.run = run_transpose_naive_host},
     .accepts = accepts_naive},
    {.variant = {.name = "serial",
                 .summary = "one loop on one thread",
                 .order = OperationOrder::canonical,
                 .source = "textbook"},
     .host = {.run = run_transpose_serial_host}},
});

constexpr auto variants = variants_of(table);
constexpr const Tunable* tunables[] = {&transpose_band, &transpose_groups_a_unit, &transpose_group_kib,
                                       &transpose_tile_side};

// --- The call --------------------------------------------------------------------------------------------------------

[[noreturn]] void refuse(const std::string& what) {
    throw Error(ErrorCode::invalid_argument, "transpose", what);
}

TransposeProblem problem_of(Stream& stream, const MatrixView& in, const MatrixView& out) {
    check_stored("transpose", "in", stream, in.range);
    check_stored("transpose", "out", stream, out.range);
    check_writable("transpose", "out", out.range);
    check_same_type("transpose", {{"in", in.range.type}, {"out", out.range.type}});
    if (out.rows != in.columns || out.columns != in.rows)
        refuse("out must be " + size_name({in.columns, in.rows}) + " for in of " +
               size_name({in.rows, in.columns}) + ", got " + size_name({out.rows, out.columns}));
    const auto layout_name = [](Layout layout) {
        return std::string(layout == Layout::row_major ? "row-major" : "column-major");
    };
    if (in.layout != out.layout)
        refuse("in and out must have the same layout, got " + layout_name(in.layout) + " and " +
               layout_name(out.layout) + "; with different layouts a transpose is a copy");
    const MatrixView from = checked_matrix("transpose", "in", in),
                     to = checked_matrix("transpose", "out", out);
    // A column-major matrix has the elements of its row-major transpose.
    const bool is_row_major = in.layout == Layout::row_major;
    TransposeProblem p{.in = from.range,
                       .out = to.range,
                       .shape = {.rows = is_row_major ? in.rows : in.columns,
                                 .columns = is_row_major ? in.columns : in.rows,
                                 .in_pitch = from.pitch,
                                 .out_pitch = to.pitch}};
    if (overlap(from, to)) {
        check_overlap("transpose", {"out", p.out}, {"in", p.in}, InPlace::yes);
        if (in.rows != in.columns)
            refuse("in-place operation requires a square matrix, got " + size_name({in.rows, in.columns}) +
                   "; pass a distinct output");
        if (p.shape.in_pitch != p.shape.out_pitch)
            refuse("in-place operation requires equal pitches, got " + std::to_string(p.shape.in_pitch) +
                   " and " + std::to_string(p.shape.out_pitch) + "; pass a distinct output");
        p.in_place = true;
    }
    p.in.type = p.out.type = bits_of(in.range.type);  // elements move as bits
    return p;
}

}  // namespace
}  // namespace detail

constinit const Algorithm transpose_algorithm{
    .name = "transpose",
    .summary = "out[c, r] = in[r, c]",
    .variants = detail::variants,
    .tunables = detail::tunables,
    .tuning_label = "oblong"};  // 1: one side is more than four times the other

Enqueued transpose(Stream& stream, const MatrixView& in, const MatrixView& out, const Options& options) {
    const detail::TransposeProblem p = detail::problem_of(stream, in, out);
    const detail::Row<detail::TransposeProblem>& row =
        detail::choose_tuned("transpose", detail::table, stream.device(), p, detail::point_of(p), options);
    if (p.in.count > 0) row.run(stream, p);
    return detail::enqueued(stream, row, p);
}

}  // namespace concord
