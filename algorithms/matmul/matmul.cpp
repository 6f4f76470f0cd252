#include "matmul_table.hpp"

#include <concord/internal/shape.hpp>

#include <string>

namespace concord {

namespace detail::kernel_sources {
extern const SourceFile common_cu, common_cl, tile_order_cu, tile_order_cl, async_copy_cu, matmul_tile_cu,
    matmul_steps_cu, matmul_copy_cu, matmul_cu, matmul_lines_cu, matmul_mma_cu, matmul_tf32_cu,
    matmul_tile_cl, matmul_steps_cl, matmul_cl, matmul_mma_cl, matmul_wide_cl;
}

namespace detail {
namespace {

const KernelSource& source_of(MatmulSource source) {
    using namespace kernel_sources;
    static const KernelSource steps{"matmul_steps",
                                    {tile_order_cu, matmul_tile_cu, matmul_steps_cu},
                                    {common_cl, tile_order_cl, matmul_tile_cl, matmul_steps_cl}};
    static const KernelSource register_tiled{
        "matmul",
        {common_cu, tile_order_cu, async_copy_cu, matmul_tile_cu, matmul_copy_cu, matmul_cu},
        {common_cl, tile_order_cl, matmul_tile_cl, matmul_cl}};
    static const KernelSource mma{"matmul_mma",
                                  {common_cu, tile_order_cu, matmul_tile_cu, matmul_lines_cu, matmul_mma_cu},
                                  {common_cl, tile_order_cl, matmul_tile_cl, matmul_mma_cl}};
    static const KernelSource packed{
        "matmul_wide", {}, {common_cl, tile_order_cl, matmul_tile_cl, matmul_wide_cl}};
    static const KernelSource tf32{
        "matmul_tf32",
        {common_cu, tile_order_cu, async_copy_cu, matmul_tile_cu, matmul_copy_cu, matmul_tf32_cu},
        {}};
    switch (source) {
        case MatmulSource::steps:
            return steps;
        case MatmulSource::mma:
            return mma;
        case MatmulSource::packed:
            return packed;
        case MatmulSource::tf32:
            return tf32;
        case MatmulSource::register_tiled:
            break;
    }
    return register_tiled;
}

}  // namespace

std::shared_ptr<Kernel> matmul_kernel(Device& device, Type type, MatmulSource source, const char* entry,
                                      u32 group_size, const Constants& constants, HostKernel host) {
    KernelSpec spec{.source = &source_of(source),
                    .entry = entry,
                    .constants = {{"T", type},
                                  {"SIZE", size_of(type)},
                                  {"V", type == Type::f32 ? "float4" : "double4"},
                                  {"P", type == Type::f32 ? "float4" : "double2"},
                                  {"WIDE", type == Type::f32 ? "float16" : "double8"}},
                    .host = host,
                    .max_group_size = group_size};
    spec.constants.append(constants);
    return device.kernel(spec);
}

namespace {

// --- The table ------------------------------------------------------------------------------------------------------

Support supports_any(const Device&, const MatmulProblem&) {
    return {};
}

struct MatmulRow {
    Variant variant;
    Required<Support(const Device&, const MatmulProblem&)> supports;
    Required<void(Stream&, const MatmulProblem&)> run;
    bool (*suits)(const Device&, const MatmulProblem&) = nullptr;
};

// Packing does not pay if C has few elements.
bool suits_packed(const Device& /*device*/, const MatmulProblem& p) {
    return p.shape.m >= thin || p.shape.n >= thin;
}

// Tiles in local memory need many rows and columns. Host kernels skip rows outside of C.
bool suits_tiled(const Device& device, const MatmulProblem& p) {
    return !is_thin(p) || (device.traits().serial_groups && p.shape.n >= thin);
}

bool suits_blocks(const Device& /*device*/, const MatmulProblem& p) {
    return std::max(p.shape.m, p.shape.n) >= detail::host::matmul_block;
}

// In units of roundoff, for a result of k products. Each of the 3 k additions rounds towards zero, with an error of
// up to 2 units. A product loses 3 * 2^-22, which is 12 units. 4 more cover the remaining roundings.
constexpr u64 tf32x3_chain(u64 k) {
    return 6 * k + 16;
}

constexpr char volkov[] = "V. Volkov, J. Demmel, Benchmarking GPUs to Tune Dense Linear Algebra, 2008";

constexpr MatmulRow table[] = {
    {.variant = {.name = "direct",
                 .summary = "small products: a tile of C in vector registers, operands from the caches",
                 .dialects = {Dialect::host},
                 .order = OperationOrder::canonical,
                 .source = "A. Heinecke, G. Henry, M. Hutchinson, H. Pabst, LIBXSMM, 2016"},
     .supports = supports_matmul_direct,
     .run = run_matmul_direct,
     .suits = suits_matmul_direct},
    {.variant = {.name = "packed",
                 .summary = "operands packed into panels, a tile of C in vector registers, k in cache-sized "
                            "blocks; one work-item per group",
                 .dialects = {Dialect::opencl, Dialect::host},
                 .order = OperationOrder::canonical,
                 .source =
                     "K. Goto, R. van de Geijn, Anatomy of High-Performance Matrix Multiplication, 2008"},
     .supports = supports_matmul_packed,
     .run = run_matmul_packed,
     .suits = suits_packed},
    {.variant = {.name = "register_tiled",
                 .summary =
                     "tiles of up to 128 x 256 elements in local memory, up to 16 x 8 elements per "
                     "work-item in registers, pipelined copies; f64 on tensor cores if they pass a self-test",
                 .dialects = {Dialect::cuda, Dialect::opencl},
                 .order = OperationOrder::canonical,
                 .source = volkov},
     .supports = supports_matmul_register_tiled,
     .run = run_matmul_register_tiled},
    {.variant = {.name = "blocks_tiled",
                 .summary = "tiles in local memory, 4 x 4 elements per work-item in registers",
                 .dialects = {Dialect::cuda, Dialect::opencl, Dialect::host},
                 .order = OperationOrder::canonical,
                 .source = volkov},
     .supports = supports_matmul_steps,
     .run = run_matmul_blocks_tiled,
     .suits = suits_tiled},
    {.variant = {.name = "tiled",
                 .summary = "tiles in local memory, one element per work-item",
                 .dialects = {Dialect::cuda, Dialect::opencl, Dialect::host},
                 .order = OperationOrder::canonical,
                 .source = "textbook"},
     .supports = supports_matmul_steps,
     .run = run_matmul_tiled,
     .suits = suits_tiled},
    {.variant = {.name = "blocks",
                 .summary = "4 x 4 elements per work-item in registers, operands from global memory",
                 .dialects = {Dialect::cuda, Dialect::opencl, Dialect::host},
                 .order = OperationOrder::canonical,
                 .source = volkov},
     .supports = supports_matmul_steps,
     .run = run_matmul_blocks,
     .suits = suits_blocks},
    {.variant = {.name = "naive",
                 .summary = "one element per work-item, operands from global memory",
                 .dialects = {Dialect::cuda, Dialect::opencl, Dialect::host},
                 .order = OperationOrder::canonical,
                 .source = "textbook"},
     .supports = supports_matmul_steps,
     .run = run_matmul_naive},
    {.variant = {.name = "serial",
                 .summary = "three nested loops on one thread",
                 .dialects = {Dialect::host},
                 .order = OperationOrder::canonical,
                 .source = "textbook"},
     .supports = supports_any,
     .run = run_matmul_serial},
    {.variant = {.name = "tf32x3",
                 .summary =
                     "tensor cores, every f32 split into two TF32 values of 11 bits; own error bound, never "
                     "chosen by auto",
                 .dialects = {Dialect::cuda},
                 .order = OperationOrder::unspecified,
                 .longest_chain = tf32x3_chain,
                 .source =
                     "H. Ootomo, R. Yokota, Recovering Single Precision Accuracy from Tensor Cores, 2022"},
     .supports = supports_matmul_tf32x3,
     .run = run_matmul_tf32x3},
};

constexpr auto variants = variants_of(table);
constexpr const Tunable* tunables[] = {&matmul_tile_index,  &matmul_panel_kib,     &matmul_strips_kib,
                                       &matmul_most_panels, &matmul_groups_a_unit, &matmul_direct_work};

// --- The call -------------------------------------------------------------------------------------------------------

[[noreturn]] void refuse(const std::string& what) {
    throw Error(ErrorCode::invalid_argument, "matmul", what);
}

// Matrices of a batch of inputs may share elements; those of outputs may not.
enum class Role { input, output };

// The range from the first element to the last that a batch of matrices occupies. Fills in the default pitch and
// stride.
View extent(const char* name, Role role, const View& view, u64 rows, u64 columns, u64 batch, u64& pitch,
            u64& stride) {
    auto what = [&] {
        return std::string(name) + " of " + std::to_string(rows) + " x " + std::to_string(columns);
    };
    if (pitch == 0) pitch = columns;
    if (pitch < columns)
        refuse(what() + " needs a pitch of at least " + std::to_string(columns) + ", got " +
               std::to_string(pitch));
    auto pitches = [&] { return pitch == columns ? "" : " with a pitch of " + std::to_string(pitch); };
    const CheckedSize one = matrix_extent(rows, columns, pitch), dense = CheckedSize(rows) * pitch;
    if (!one.fits(most_bytes) || (stride == MatmulShape::dense && !dense.fits()))
        refuse(what() + pitches() + " exceeds 2^60 elements");
    if (stride == MatmulShape::dense) stride = dense.value();
    // What leads nowhere. Kernels may add it all the same.
    if (rows <= 1 || columns == 0) pitch = columns;
    if (one.fits(0) || batch <= 1) stride = 0;
    if (one.fits(0) || batch == 0) return view.part(0, 0);
    if (role == Role::output && batch > 1 && !one.fits(stride))
        refuse(what() + pitches() + " needs a stride of at least " + std::to_string(one.value()) + ", got " +
               std::to_string(stride));
    const CheckedSize count = CheckedSize(batch - 1) * stride + one;
    if (!count.fits(most_bytes))
        refuse(what() + ": " + std::to_string(batch) + " matrices with a stride of " +
               std::to_string(stride) + " exceed 2^60 elements");
    if (!count.fits(view.count))
        refuse(std::string(name) + " of " + (batch == 1 ? "" : std::to_string(batch) + " matrices of ") +
               std::to_string(rows) + " x " + std::to_string(columns) + pitches() + " needs " +
               std::to_string(count.value()) + " elements, got a range of " + std::to_string(view.count));
    return view.part(0, count.value());
}

MatmulProblem problem_of(Stream& stream, const View& a, const View& b, const View& c,
                         const MatmulShape& shape, const MatmulScale& scale) {
    check_operand("matmul", "a", stream, a);
    check_operand("matmul", "b", stream, b);
    check_operand("matmul", "c", stream, c);
    check_same_type("matmul", {{"a", a.type}, {"b", b.type}, {"c", c.type}});
    if (!is_float(c.type)) refuse("matrices must be f32 or f64, got " + std::string(name_of(c.type)));
    MatmulProblem p{a, b, c, shape, scale};
    MatmulShape& s = p.shape;
    p.a = extent("a", Role::input, a, s.transpose_a ? s.k : s.m, s.transpose_a ? s.m : s.k, s.batch,
                 s.a_pitch, s.a_stride);
    p.b = extent("b", Role::input, b, s.transpose_b ? s.n : s.k, s.transpose_b ? s.k : s.n, s.batch,
                 s.b_pitch, s.b_stride);
    p.c = extent("c", Role::output, c, s.m, s.n, s.batch, s.c_pitch, s.c_stride);
    if (s.k == 0) p.a = p.b = p.c.part(0, 0);
    check_overlap("matmul", {"c", p.c}, {"a", p.a});
    check_overlap("matmul", {"c", p.c}, {"b", p.b});
    return p;
}

}  // namespace
}  // namespace detail

constinit const Algorithm matmul_algorithm{
    .name = "matmul",
    .summary = "C = alpha op(A) op(B) + beta C",
    .variants = detail::variants,
    .tunables = detail::tunables,
    // 2 if m or n is less than 8; 1 for a batch, and if one of m, n, k is more than four times another; else 0.
    .tuning_label = "oblong"};

Enqueued matmul(Stream& stream, const View& a, const View& b, const View& c, const MatmulShape& shape,
                const MatmulScale& scale, const Options& options) {
    const detail::MatmulProblem p = detail::problem_of(stream, a, b, c, shape, scale);
    const detail::MatmulRow& row =
        detail::choose_tuned("matmul", detail::table, stream.device(), p, detail::point_of(p), options);
    if (p.c.count > 0) row.run(stream, p);
    return detail::enqueued(stream, row, p);
}

}  // namespace concord
