#include "convolve_variants.hpp"

#include <concord/internal/shape.hpp>

#include <string>

namespace concord {
namespace detail {
namespace {

// Staging pays off only if a group's results share it. On few results `constant_mask` is faster if the mask is a
// parameter of the launch, and fits.
bool suits_tiles(const Device& device, const ConvolveProblem& p) {
    constexpr u64 few = u64{1} << 13;
    return device.traits().constant_buffers || p.shape.rows * p.shape.columns > few ||
           !supports_convolve_constant_mask(device, p);
}

// Blocks of results pay where a result has many taps. With few, sliding needs no barriers and reads ahead.
bool suits_blocks(const Device& device, const ConvolveProblem& p) {
    return p.mask.taps() > 9 && suits_tiles(device, p);
}

constexpr char volkov[] = "V. Volkov, Better performance at lower occupancy, GTC 2010";
constexpr char kirk[] = "D. Kirk, W. Hwu, Programming Massively Parallel Processors, 2010, ch. 8";

constexpr Row<ConvolveProblem> register_tiled{
    .variant = {.name = "register_tiled",
                .summary = "tiles with halo cells in local memory, a block of results per work-item in "
                           "registers; unrolled for the mask's shape",
                .order = OperationOrder::canonical,
                .source = volkov},
    .groups = {.run = run_convolve_register_tiled,
               .supports = supports_convolve_register_tiled,
               .suits = suits_blocks}};

constexpr Row<ConvolveProblem> sliding{
    .variant = {.name = "sliding",
                .summary =
                    "a window of results slides down the image in registers; taps unrolled for the mask's "
                    "shape (CPU: rows of vectors)",
                .order = OperationOrder::canonical,
                .source = volkov},
    .groups = {.run = run_convolve_sliding_groups,
               .supports = supports_convolve_sliding,
               .suits = suits_tiles},
    .single_items = {.run = run_convolve_sliding_items, .supports = supports_problem},
    .host = {.run = run_convolve_sliding_host, .supports = supports_problem}};

// One pass along rows, which writes to scratch without padding, and one along columns.
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
    sliding.run(stream, rows);
    sliding.run(stream, columns);
}

constexpr Implementation<ConvolveProblem> separable{
    .run =
        [](Stream& stream, const ConvolveProblem& p) {
            visit_float(p.type(), [&]<class T>(TypeTag<T>) { run_factors<T>(stream, p); });
        },
    .supports =
        [](const Device& device, const ConvolveProblem& p) {
            if (!convolve_separates(p.mask)) return Support::no("requires a mask of rank one");
            return sliding.supports(device, p);
        }};
constexpr Implementation<ConvolveProblem> constant_mask{.run = run_convolve_constant_mask,
                                                        .supports = supports_convolve_constant_mask};
constexpr Implementation<ConvolveProblem> naive{.run = run_convolve_naive,
                                                .supports = supports_convolve_naive};

constexpr auto table = table_of<ConvolveProblem>({
    register_tiled,
    sliding,
    {.variant = {.name = "tiled_halo",
                 .summary = "tiles with halo cells in local memory, one result per work-item",
                 .order = OperationOrder::canonical,
                 .source = kirk},
     .groups = {.run = run_convolve_tiled_halo,
                .supports = supports_convolve_tiled_halo,
                .suits = suits_tiles},
     .single_items = {.run = run_convolve_tiled_halo, .supports = supports_convolve_tiled_halo}},
    {.variant = {.name = "constant_mask",
                 .summary = "one result per work-item, the mask in constant memory",
                 .order = OperationOrder::canonical,
                 .source = kirk},
     .groups = constant_mask,
     .single_items = constant_mask},
    {.variant = {.name = "naive",
                 .summary = "one result per work-item, image and mask in global memory",
                 .order = OperationOrder::canonical,
                 .source = "textbook"},
     .groups = naive,
     .single_items = naive,
     .host = {.run = run_convolve_naive_host, .supports = supports_problem}},
    {.variant = {.name = "serial",
                 .summary = "one loop on one thread",
                 .order = OperationOrder::canonical,
                 .source = "textbook"},
     .host = {.run = run_convolve_serial_host}},
    {.variant = {.name = "separable",
                 .summary = "masks of rank one only: one pass along rows, one along columns; never chosen by "
                            "auto",
                 .order = OperationOrder::variant_specific,
                 .source = "textbook"},
     .groups = separable,
     .single_items = separable,
     .host = separable},
});

constexpr auto variants = variants_of(table);
constexpr const Tunable* tunables[] = {&convolve_tile_rows, &convolve_strip_rows, &convolve_groups_a_unit,
                                       &convolve_group_work};

[[noreturn]] void refuse(const std::string& what) {
    throw Error(ErrorCode::invalid_argument, "convolve", what);
}

ConvolveProblem problem_of(Stream& stream, const MatrixView& image, const ConvolveMask& mask,
                           const MatrixView& result, ConvolveBorder border) {
    const View &in = image.range, &out = result.range;
    check_operand("convolve", "in", stream, in);
    check_output("convolve", "out", stream, out);
    auto named = [](Type type) { return std::string(name_of(type)); };
    if (in.type != Type::u8 && !is_float(in.type))
        refuse("image must be u8, f32 or f64, got " + named(in.type));
    const Type arithmetic = in.type == Type::u8 ? Type::f32 : accumulator_of(in.type);
    auto check_type = [&](const char* name, Type type) {
        if (type != arithmetic)
            refuse(std::string(name) + " must be " + named(arithmetic) + " for an image of " +
                   named(in.type) + ", got " + named(type));
    };
    check_type("mask", mask.type);
    check_type("out", out.type);
    auto is_side = [](u64 side) { return side % 2 != 0 && side <= convolve_longest_side; };
    if (!is_side(mask.rows) || !is_side(mask.columns))
        refuse("mask sides must be odd numbers from 1 to " + std::to_string(convolve_longest_side) +
               ", got " + size_name({mask.rows, mask.columns}));
    if (mask.values == nullptr) refuse("mask values must not be null");
    if (image.rows != result.rows || image.columns != result.columns)
        refuse("out must have the shape of in, " + size_name({image.rows, image.columns}) + ", got " +
               size_name({result.rows, result.columns}));
    if (image.layout != Layout::row_major || result.layout != Layout::row_major)
        throw Error(
            ErrorCode::unsupported, "convolve",
            "column-major layout not supported; pass transposed() of in and out, and the transposed mask");
    const MatrixView from = checked_matrix("convolve", "in", image),
                     to = checked_matrix("convolve", "out", result);
    if (overlap(to, from)) check_overlap("convolve", {"out", to.range}, {"in", from.range});
    return {.in = from.range,
            .out = to.range,
            .mask = mask,
            .shape = {.rows = image.rows,
                      .columns = image.columns,
                      .border = border,
                      .in_pitch = from.pitch,
                      .out_pitch = to.pitch}};
}

}  // namespace
}  // namespace detail

constinit const Algorithm convolve_algorithm{
    .name = "convolve",
    .summary = "out[y, x] = sum over j, i of mask[j, i] * in[y + j - ry, x + i - rx]",
    .variants = detail::variants,
    .tunables = detail::tunables,
    .tuning_label = "taps"};

Enqueued convolve(Stream& stream, const MatrixView& in, const ConvolveMask& mask, const MatrixView& out,
                  ConvolveBorder border, const Options& options) {
    const detail::ConvolveProblem p = detail::problem_of(stream, in, mask, out, border);
    const detail::Row<detail::ConvolveProblem>& row =
        detail::choose_tuned("convolve", detail::table, stream.device(), p, detail::point_of(p), options);
    if (p.in.count > 0) row.run(stream, p);
    return detail::enqueued(stream, row, p);
}

}  // namespace concord
