#include "matmul_variants.hpp"

#include <concord/internal/shape.hpp>

#include <string>

namespace concord {

namespace detail {
std::shared_ptr<Kernel> matmul_kernel(Device& device, Type type, const KernelSource& source,
                                      const char* entry, u32 group_size, const Constants& constants,
                                      HostKernel host) {
    const std::string name(row_of(type).c);  // vectors of 4 elements, of 16 bytes and of 64 bytes
    const std::string four = name + "4", pack = name + std::to_string(16 / size_of(type)),
                      wide = name + std::to_string(64 / size_of(type));
    KernelSpec spec{.source = &source,
                    .entry = entry,
                    .constants = {{"T", type},
                                  {"SIZE", size_of(type)},
                                  {"V", std::string_view(four)},
                                  {"P", std::string_view(pack)},
                                  {"WIDE", std::string_view(wide)}},
                    .host = host,
                    .max_group_size = group_size};
    spec.constants.append(constants);
    return device.kernel(spec);
}

namespace {

// --- The table ------------------------------------------------------------------------------------------------------

// Packing does not pay if C has few elements.
bool suits_packed(const Device& /*device*/, const MatmulProblem& p) {
    return p.shape.m >= thin || p.shape.n >= thin;
}

// Tiles in local memory need many rows and columns.
bool suits_tiled(const Device& /*device*/, const MatmulProblem& p) {
    return !is_thin(p);
}

bool suits_blocks(const Device& /*device*/, const MatmulProblem& p) {
    return std::max(p.shape.m, p.shape.n) >= matmul_block;
}

// In units of roundoff, for a result of k products. Each of the 3 k additions rounds towards zero, with an error of
// up to 2 units. A product loses 3 * 2^-22, which is 12 units. 4 more cover the remaining roundings.
constexpr u64 tf32x3_chain(u64 k) {
    return 6 * k + 16;
}

constexpr char volkov[] = "V. Volkov, J. Demmel, Benchmarking GPUs to Tune Dense Linear Algebra, 2008";

constexpr Implementation<MatmulProblem> blocks_tiled{
    .run = run_matmul_blocks_tiled, .supports = supports_matmul_steps, .suits = suits_tiled};
constexpr Implementation<MatmulProblem> tiled{
    .run = run_matmul_tiled, .supports = supports_matmul_steps, .suits = suits_tiled};
constexpr Implementation<MatmulProblem> blocks{
    .run = run_matmul_blocks, .supports = supports_matmul_steps, .suits = suits_blocks};
constexpr Implementation<MatmulProblem> naive{.run = run_matmul_naive, .supports = supports_matmul_steps};

constexpr auto table = table_of<MatmulProblem>({
    {.variant = {.name = "direct",
                 .summary = "small products: a tile of C in vector registers, operands from the caches",
                 .order = OperationOrder::canonical,
                 .source = "A. Heinecke, G. Henry, M. Hutchinson, H. Pabst, LIBXSMM, 2016"},
     .host = {.run = run_matmul_direct, .supports = supports_matmul_direct, .suits = suits_matmul_direct}},
    {.variant = {.name = "packed",
                 .summary = "operands packed into panels, a tile of C in vector registers, k in cache-sized "
                            "blocks; one work-item per group",
                 .order = OperationOrder::canonical,
                 .source =
                     "K. Goto, R. van de Geijn, Anatomy of High-Performance Matrix Multiplication, 2008"},
     .single_items = {.run = run_matmul_packed_items,
                      .supports = supports_matmul_packed_items,
                      .suits = suits_packed},
     .host = {.run = run_matmul_packed_host, .supports = supports_matmul_packed_host, .suits = suits_packed}},
    {.variant = {.name = "register_tiled",
                 .summary =
                     "tiles of up to 128 x 256 elements in local memory, up to 16 x 8 elements per "
                     "work-item in registers, pipelined copies; f64 on tensor cores if they pass a self-test",
                 .order = OperationOrder::canonical,
                 .source = volkov},
     .groups = {.run = run_matmul_register_tiled, .supports = supports_matmul_register_tiled}},
    {.variant = {.name = "blocks_tiled",
                 .summary = "tiles in local memory, 4 x 4 elements per work-item in registers",
                 .order = OperationOrder::canonical,
                 .source = volkov},
     .groups = blocks_tiled,
     .single_items = blocks_tiled},
    {.variant = {.name = "tiled",
                 .summary = "tiles in local memory, one element per work-item",
                 .order = OperationOrder::canonical,
                 .source = "textbook"},
     .groups = tiled,
     .single_items = tiled},
    {.variant = {.name = "blocks",
                 .summary = "4 x 4 elements per work-item in registers, operands from global memory",
                 .order = OperationOrder::canonical,
                 .source = volkov},
     .groups = blocks,
     .single_items = blocks},
    {.variant = {.name = "naive",
                 .summary = "one element per work-item, operands from global memory",
                 .order = OperationOrder::canonical,
                 .source = "textbook"},
     .groups = naive,
     .single_items = naive},
    {.variant = {.name = "serial",
                 .summary = "three nested loops on one thread",
                 .order = OperationOrder::canonical,
                 .source = "textbook"},
     .host = {.run = run_matmul_serial}},
    {.variant = {.name = "tf32x3",
                 .summary =
                     "tensor cores, every f32 split into two TF32 values of 11 bits; own error bound, never "
                     "chosen by auto",
                 .dialects = {Dialect::cuda},
                 .order = OperationOrder::unspecified,
                 .longest_chain = tf32x3_chain,
                 .source =
                     "H. Ootomo, R. Yokota, Recovering Single Precision Accuracy from Tensor Cores, 2022"},
     .groups = {.run = run_matmul_tf32x3, .supports = supports_matmul_tf32x3}},
});

constexpr auto variants = variants_of(table);
constexpr const Tunable* tunables[] = {&matmul_tile_index, &matmul_panel_kib,     &matmul_strips_kib,
                                       &matmul_max_panels, &matmul_groups_a_unit, &matmul_direct_work};

// --- The call -------------------------------------------------------------------------------------------------------

[[noreturn]] void refuse(const std::string& what) {
    throw Error(ErrorCode::invalid_argument, "matmul", what);
}

std::string shape_of(const VolumeView& matrix) {
    return matrix.depth == 1 ? size_name({matrix.rows, matrix.columns})
                             : size_name({matrix.depth, matrix.rows, matrix.columns});
}

// Messages name an operand of one plane as a matrix.
VolumeView checked_operand(const char* name, const VolumeView& operand) {
    if (operand.depth != 1) return checked_volume("matmul", name, operand);
    return checked_matrix("matmul", name,
                          {operand.range, operand.rows, operand.columns, operand.pitch, operand.layout});
}

// Where an operand lies in a batch of products.
struct Place {
    View range;
    u64 pitch, stride;
};
Place place_of(const VolumeView& operand) {
    const bool is_row_major = operand.layout == Layout::row_major;
    const u64 lines = is_row_major ? operand.rows : operand.columns,
              length = is_row_major ? operand.columns : operand.rows;
    const bool is_empty = operand.range.count == 0;
    // Kernels may add a pitch or a stride that leads to no element.
    return {.range = operand.range,
            .pitch = lines <= 1 || length == 0 ? length : operand.pitch,
            .stride = is_empty || operand.depth <= 1 ? 0 : operand.plane_pitch};
}

void check_planes_of_result(const VolumeView& c) {
    const bool is_row_major = c.layout == Layout::row_major;
    const CheckedSize plane =
        matrix_extent(is_row_major ? c.rows : c.columns, is_row_major ? c.columns : c.rows, c.pitch);
    if (c.depth > 1 && !plane.fits(c.plane_pitch))
        refuse("c of " + shape_of(c) + " needs a plane pitch of at least " + std::to_string(plane.value()) +
               ", got " + std::to_string(c.plane_pitch));
}

}  // namespace

VolumeExtents product_extents(const VolumeView& a, const VolumeView& b) {
    if (a.columns != b.rows)
        refuse("a must have as many columns as b has rows, got a of " + shape_of(a) + " and b of " +
               shape_of(b));
    if (a.depth != b.depth && a.depth != 1 && b.depth != 1)
        refuse("a and b must have the same number of planes, or one, got a of " + shape_of(a) + " and b of " +
               shape_of(b));
    return {a.depth == 1 ? b.depth : a.depth, a.rows, b.columns};
}

MatmulProblem matmul_problem(Stream& stream, const VolumeView& a, const VolumeView& b, const VolumeView& c,
                             const MatmulScale& scale) {
    check_operand("matmul", "a", stream, a.range);
    check_operand("matmul", "b", stream, b.range);
    check_output("matmul", "c", stream, c.range);
    const Type type = c.range.type;
    check_same_type("matmul", {{"a", a.range.type}, {"b", b.range.type}, {"c", type}});
    if (!is_float(type)) refuse("matrices must be f32 or f64, got " + std::string(name_of(type)));
    const VolumeExtents expected = product_extents(a, b);
    const bool is_shared = a.depth == 1 && b.depth == 1;  // every product of the batch is the same
    if (c.rows != expected.rows || c.columns != expected.columns || (c.depth != expected.depth && !is_shared))
        refuse("c must be " + shape_of({{}, expected.depth, expected.rows, expected.columns}) + " for a of " +
               shape_of(a) + " and b of " + shape_of(b) + ", got " + shape_of(c));
    const VolumeView all_a = checked_operand("a", a), all_b = checked_operand("b", b),
                     all_c = checked_operand("c", c);
    check_planes_of_result(all_c);
    if (overlap(all_c, all_a)) check_overlap("matmul", {"c", all_c.range}, {"a", all_a.range});
    if (overlap(all_c, all_b)) check_overlap("matmul", {"c", all_c.range}, {"b", all_b.range});
    // The transpose of a product is the product of the transposes in reverse. Each element has the same chain.
    if (c.layout == Layout::column_major)
        return matmul_problem(stream, b.transposed(), a.transposed(), c.transposed(), scale);
    const Place in_a = place_of(all_a), in_b = place_of(all_b), in_c = place_of(all_c);
    MatmulProblem p{.a = in_a.range,
                    .b = in_b.range,
                    .c = in_c.range,
                    .shape = {.m = c.rows,
                              .n = c.columns,
                              .k = a.columns,
                              .transpose_a = a.layout == Layout::column_major,
                              .transpose_b = b.layout == Layout::column_major,
                              .a_pitch = in_a.pitch,
                              .b_pitch = in_b.pitch,
                              .c_pitch = in_c.pitch,
                              .batch = c.depth,
                              .a_stride = in_a.stride,
                              .b_stride = in_b.stride,
                              .c_stride = in_c.stride},
                    .scale = scale};
    if (p.shape.k == 0) p.a = p.b = p.c.part(0, 0);
    return p;
}

}  // namespace detail

constinit const Algorithm matmul_algorithm{
    .name = "matmul",
    .summary = "C = alpha A B + beta C",
    .variants = detail::variants,
    .tunables = detail::tunables,
    // 2 if m or n is less than 8; 1 for a batch, for several parts of k, and if one of m, n, k is more than four times
    // another; else 0.
    .tuning_label = "oblong"};

Enqueued matmul(Stream& stream, const VolumeView& a, const VolumeView& b, const VolumeView& c,
                const MatmulScale& scale, const Options& options) {
    const detail::MatmulProblem p = detail::matmul_problem(stream, a, b, c, scale);
    const bool in_parts = p.c.count > 0 && detail::is_split(p.shape);
    const detail::MatmulProblem chosen_for = in_parts ? detail::parts_of(p) : p;
    const detail::Row<detail::MatmulProblem>& row = detail::choose_tuned(
        "matmul", detail::table, stream.device(), chosen_for, detail::point_of(chosen_for), options);
    if (in_parts) {
        detail::run_in_parts(stream, p, row);
    } else if (p.c.count > 0) {
        row.run(stream, p);
    }
    return detail::enqueued(stream, row, p);
}

}  // namespace concord
