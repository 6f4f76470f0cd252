// Host side of `packed`.

#include "matmul_packed.hpp"

#include "matmul_table.hpp"

namespace concord::detail {
namespace {

// --- CPU ----------------------------------------------------------------------------------------------------------

// Kernels and register tile (rows of a strip, columns of a panel) for the machine's instruction set.
struct PackedHost {
    HostKernel pack, packed;
    u64 rows, columns;
};

template <class T>
PackedHost packed_host() {
    using Plain = detail::host::PlainRegisters<T>;
#if defined(__x86_64__)
    using Avx2 = detail::host::Avx2Registers<T>;
    using Avx512 = detail::host::Avx512Registers<T>;
    // Each instruction set has its own kernel.
    auto of = []<auto PLAIN, auto AVX2, auto AVX512>() {
        HostKernel kernel = host_kernel<PLAIN>();
        kernel.avx2 = HostEntry<AVX2>::avx2;
        kernel.avx512 = HostEntry<AVX512>::avx512;
        return kernel;
    };
    const HostKernel pack =
        of.template operator()<&detail::host::matmul_pack<Plain, T>, &detail::host::matmul_pack<Avx2, T>,
                               &detail::host::matmul_pack<Avx512, T>>();
    const HostKernel packed =
        of.template operator()<&detail::host::matmul_packed<Plain, T>, &detail::host::matmul_packed<Avx2, T>,
                               &detail::host::matmul_packed<Avx512, T>>();
    if (host_isa() == HostIsa::avx512)
        return {pack, packed, Avx512::rows, detail::host::panel_columns<Avx512>};
    if (host_isa() == HostIsa::avx2) return {pack, packed, Avx2::rows, detail::host::panel_columns<Avx2>};
#else
    const HostKernel pack = host_kernel<&detail::host::matmul_pack<Plain, T>>();
    const HostKernel packed = host_kernel<&detail::host::matmul_packed<Plain, T>>();
#endif
    return {pack, packed, Plain::rows, detail::host::panel_columns<Plain>};
}

constexpr u64 pack_bytes = u64{64} << 10;  // target output of a group of the packing kernel

// Strips and panels per group: as many as fit the caches, fewer if threads would have no work.
detail::host::PackedPlan plan_of(const Device& device, const MatmulProblem& p, const PackedHost& kernels) {
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
    plan.panels = std::min(across, tuned(device, matmul_most_panels, point_of(p), 16));
    auto groups = [&] { return divide_up(down, plan.strips) * divide_up(across, plan.panels) * s.batch; };
    const u64 wanted = device.traits().units * tuned(device, matmul_groups_a_unit, point_of(p), 8);
    while (groups() < wanted && plan.panels > 2)
        plan.panels = divide_up(plan.panels, 2);
    while (groups() < wanted && plan.strips > 2)
        plan.strips = divide_up(plan.strips, 2);
    plan.groups_down = divide_up(down, plan.strips);
    plan.groups_across = divide_up(across, plan.panels);
    return plan;
}

void run_on_host(Stream& stream, const MatmulProblem& p, const PackedHost& kernels) {
    Device& device = stream.device();
    const MatmulShape& s = p.shape;
    const detail::host::PackedPlan plan = plan_of(device, p, kernels);
    const u64 strips = divide_up(s.m, kernels.rows) * s.batch,
              panels = divide_up(s.n, kernels.columns) * s.batch;
    auto scratch = [&](u64 count) { return stream.scratch(std::max<u64>(1, count) * p.size()); };
    const u64 of_strips = strips * s.k * kernels.rows, of_panels = panels * s.k * kernels.columns;
    const auto strips_at = scratch(of_strips), panels_at = scratch(of_panels);
    const View strips_view{strips_at.get(), 0, of_strips, p.type()},
        panels_view{panels_at.get(), 0, of_panels, p.type()};
    // Storage for partial chains if C must be kept until the end.
    const bool parts = p.scale.beta != 0 && s.k > plan.block_depth;
    const u64 of_parts = parts ? s.batch * s.m * s.n : 0;
    const auto parts_at = parts ? scratch(of_parts) : panels_at;
    const View parts_view{parts_at.get(), 0, of_parts, p.type()};
    const auto pack =
        matmul_kernel(device, p.type(), MatmulSource::packed, "matmul_pack", 1, {}, kernels.pack);
    const auto packed =
        matmul_kernel(device, p.type(), MatmulSource::packed, "matmul_packed", 1, {}, kernels.packed);
    const u64 depth = std::max<u64>(1, pack_bytes / (kernels.columns * p.size()));
    with_product(p, [&](const ValueBytes& product) {
        launch(stream, *pack, LaunchShape::linear((strips + panels) * divide_up(s.k, depth), 1), p.a, p.b,
               strips_view, panels_view, product, s.batch, depth);
        const u64 groups = plan.groups_down * plan.groups_across * s.batch;
        launch(stream, *packed, LaunchShape::linear(groups, 1), strips_view, panels_view, p.c, parts_view,
               product, ValueBytes{std::as_bytes(std::span(&plan, 1))});
    });
}

// --- OpenCL on a CPU ----------------------------------------------------------------------------------------------

void run_wide(Stream& stream, const MatmulProblem& p) {
    Device& device = stream.device();
    const MatmulShape& s = p.shape;
    constexpr u64 rows = 8, columns_bytes = 128;
    const u64 columns = columns_bytes / p.size(), across = divide_up(s.n, columns) * s.batch;
    const u64 of_panels = across * columns * s.k;
    const auto panels_at = stream.scratch(std::max<u64>(1, of_panels) * p.size());
    const View panels{panels_at.get(), 0, of_panels, p.type()};
    const auto pack = matmul_kernel(device, p.type(), MatmulSource::packed, "matmul_pack", 1, {}, {});
    const auto packed = matmul_kernel(device, p.type(), MatmulSource::packed, "matmul_packed", 1, {}, {});
    // As many rows of A per group as leave work for all threads.
    const u64 wanted = device.traits().units * tuned(device, matmul_groups_a_unit, point_of(p), 8),
              depth = 512;
    const u64 down = std::clamp<u64>(divide_up(wanted, across), 1, divide_up(s.m, rows));
    const u64 strip = divide_up(divide_up(s.m, down), rows) * rows;
    with_product(p, [&](const ValueBytes& product) {
        launch(stream, *pack, LaunchShape::linear(across * divide_up(s.k, depth), 1), p.b, panels, product,
               depth);
        launch(stream, *packed, LaunchShape::linear(across * divide_up(s.m, strip), 1), p.a, panels, p.c,
               product, strip);
    });
}

}  // namespace

Support supports_matmul_packed(const Device& device, const MatmulProblem& p) {
    if (device.traits().many_items)
        return Support::no("requires one work-item per group; " + device.info().selector +
                           " runs groups of many");
    return supports_type(device, p.type());
}

void run_matmul_packed(Stream& stream, const MatmulProblem& p) {
    if (stream.device().traits().compiles_source) return run_wide(stream, p);
    run_on_host(stream, p, p.type() == Type::f32 ? packed_host<f32>() : packed_host<f64>());
}

}  // namespace concord::detail
