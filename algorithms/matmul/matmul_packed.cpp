// Host side of `packed`.

#include "matmul_packed.hpp"

#include "matmul_sources.hpp"
#include "matmul_variants.hpp"

#include <concord/detail/checked_size.hpp>

namespace concord::detail {
namespace {

// --- Scratch --------------------------------------------------------------------------------------------------------

// The packed copies of one part of a product, in elements. 0 rows per strip: A is not packed.
struct PackedSize {
    PackedSize(const MatmulShape& s, u64 rows, u64 columns)
        : strips(rows == 0 ? 0 : CheckedSize(divide_up(s.m, rows)) * rows * s.k),
          panels(CheckedSize(divide_up(s.n, columns)) * columns * s.k),
          operands(CheckedSize(rows == 0 ? 0 : s.m) * s.k + CheckedSize(s.n) * s.k) {}

    CheckedSize strips, panels;
    CheckedSize operands;  // what is packed, without padding
};

Support supports_padding(const MatmulProblem& p, const PackedSize& size) {
    const u64 bytes_of_all = p.shape.parts * p.size();
    const CheckedSize bytes = (size.strips + size.panels) * bytes_of_all;
    if (bytes.fits(usual_scratch) || bytes.fits((size.operands * 2 * bytes_of_all).value())) return {};
    return Support::no(
        "the padded operands of a product of {} x {} x {} would exceed 64 MiB and twice their size",
        p.shape.m, p.shape.n, p.shape.depth());
}

// The number of planes of a slice, for scratch memory of `elements` per plane.
u64 slice_of(const MatmulProblem& p, u64 elements) {
    const u64 parts = p.shape.parts;
    return std::clamp<u64>(usual_scratch / p.size() / std::max<u64>(1, elements * parts), 1,
                           p.shape.batch / parts) *
           parts;
}

// --- CPU ----------------------------------------------------------------------------------------------------------

constexpr u64 pack_bytes = u64{64} << 10;  // target output of a group of the packing kernel

// Strips and panels per group for a slice of `batch` products: as many as fit the caches, fewer if threads would have
// no work.
detail::host::PackedPlan plan_of(const Device& device, const MatmulProblem& p, u64 batch,
                                 const PackedHost& kernels) {
    const MatmulShape& s = p.shape;
    const u64 down = divide_up(s.m, kernels.rows), across = divide_up(s.n, kernels.columns);
    detail::host::PackedPlan plan{};
    // A block of a panel fills the L1 cache, or slightly more. A group's blocks of strips fill part of L2.
    const u64 panel_bytes = tuned(device, matmul_panel_kib, point_of(p), 48) << 10,
              strips_bytes = tuned(device, matmul_strips_kib, point_of(p), 128) << 10;
    plan.block_depth = panel_bytes / (kernels.columns * p.size());
    // Blocks of equal length: the last one is not much shorter than the others.
    plan.block_depth = std::max<u64>(1, divide_up(s.k, std::max<u64>(1, divide_up(s.k, plan.block_depth))));
    plan.strips = std::max<u64>(1, strips_bytes / (plan.block_depth * kernels.rows * p.size()));
    plan.strips = std::min(down, plan.strips);
    plan.panels = std::min(across, tuned(device, matmul_max_panels, point_of(p), 16));
    auto groups = [&] { return divide_up(down, plan.strips) * divide_up(across, plan.panels) * batch; };
    const u64 wanted = device.traits().units * tuned(device, matmul_groups_a_unit, point_of(p), 8);
    while (groups() < wanted && plan.panels > 2)
        plan.panels = divide_up(plan.panels, 2);
    while (groups() < wanted && plan.strips > 2)
        plan.strips = divide_up(plan.strips, 2);
    plan.groups_down = divide_up(down, plan.strips);
    plan.groups_across = divide_up(across, plan.panels);
    return plan;
}

}  // namespace

Support supports_matmul_packed_host(const Device& device, const MatmulProblem& p) {
    if (Support type = supports_type(device, p.type()); !type) return type;
    const PackedHost kernels = packed_host(p.type(), device.traits().host_isa);
    return supports_padding(p, {p.shape, kernels.rows, kernels.columns});
}

void run_matmul_packed_host(Stream& stream, const MatmulProblem& p) {
    Device& device = stream.device();
    const PackedHost kernels = packed_host(p.type(), device.traits().host_isa);
    const PackedSize size(p.shape, kernels.rows, kernels.columns);
    // Storage for partial chains if C must be kept until the end.
    const bool has_partial = p.scale.beta != 0 && p.shape.k > plan_of(device, p, 1, kernels).block_depth;
    const u64 strips_of_one = size.strips.value(), panels_of_one = size.panels.value(),
              partial_of_one = has_partial ? p.shape.m * p.shape.n : 0;
    const u64 slice = slice_of(p, strips_of_one + panels_of_one + partial_of_one);
    auto scratch = [&](u64 count) { return stream.scratch(std::max<u64>(1, count) * p.size()); };
    const auto strips_at = scratch(slice * strips_of_one), panels_at = scratch(slice * panels_of_one),
               partial_at = has_partial ? scratch(slice * partial_of_one) : panels_at;
    const View strips_view{strips_at.get(), 0, slice * strips_of_one, p.type()},
        panels_view{panels_at.get(), 0, slice * panels_of_one, p.type()},
        partial_view{partial_at.get(), 0, slice * partial_of_one, p.type()};
    const auto pack = host_kernel_of(device, "matmul_pack", kernels.pack);
    const auto packed = host_kernel_of(device, "matmul_packed", kernels.packed);
    const u64 depth = std::max<u64>(1, pack_bytes / (kernels.columns * p.size()));
    for_slices(p, slice, [&](const MatmulProblem& part) {
        const MatmulShape& s = part.shape;
        const detail::host::PackedPlan plan = plan_of(device, p, s.batch, kernels);
        const u64 strips = divide_up(s.m, kernels.rows), panels = divide_up(s.n, kernels.columns);
        with_product(part, [&](const ValueBytes& product) {
            const u64 pieces = (strips + panels) * s.batch * divide_up(s.k, depth);
            launch(stream, *pack, LaunchShape::linear(pieces, 1), part.a, part.b, strips_view, panels_view,
                   product, s.batch, depth);
            const u64 groups = plan.groups_down * plan.groups_across * s.batch;
            launch(stream, *packed, LaunchShape::linear(groups, 1), strips_view, panels_view, part.c,
                   partial_view, product, ValueBytes{std::as_bytes(std::span(&plan, 1))});
        });
    });
}

// --- One work-item per group ---------------------------------------------------------------------------------------

namespace {
constexpr u64 strip_rows = 8, panel_bytes = 128;  // rows of a strip of A, bytes of a row of a panel
}

Support supports_matmul_packed_items(const Device& device, const MatmulProblem& p) {
    if (Support type = supports_type(device, p.type()); !type) return type;
    return supports_padding(p, {p.shape, 0, panel_bytes / p.size()});
}

void run_matmul_packed_items(Stream& stream, const MatmulProblem& p) {
    Device& device = stream.device();
    const u64 columns = panel_bytes / p.size(),
              panels_of_one = PackedSize(p.shape, 0, columns).panels.value(),
              slice = slice_of(p, panels_of_one);
    const auto panels_at = stream.scratch(std::max<u64>(1, slice * panels_of_one) * p.size());
    const View panels{panels_at.get(), 0, slice * panels_of_one, p.type()};
    const auto pack =
        matmul_kernel(device, p.type(), kernel_sources::matmul_wide(), "matmul_pack", 1, {}, {});
    const auto packed =
        matmul_kernel(device, p.type(), kernel_sources::matmul_wide(), "matmul_packed", 1, {}, {});
    const u64 wanted = device.traits().units * tuned(device, matmul_groups_a_unit, point_of(p), 8);
    for_slices(p, slice, [&](const MatmulProblem& part) {
        const MatmulShape& s = part.shape;
        const u64 across = divide_up(s.n, columns) * s.batch, depth = 512;
        // As many rows of A per group as leave work for all threads.
        const u64 down = std::clamp<u64>(divide_up(wanted, across), 1, divide_up(s.m, strip_rows));
        const u64 strip = divide_up(divide_up(s.m, down), strip_rows) * strip_rows;
        with_product(part, [&](const ValueBytes& product) {
            launch(stream, *pack, LaunchShape::linear(across * divide_up(s.k, depth), 1), part.b, panels,
                   product, depth);
            launch(stream, *packed, LaunchShape::linear(across * divide_up(s.m, strip), 1), part.a, panels,
                   part.c, product, strip);
        });
    });
}

}  // namespace concord::detail
