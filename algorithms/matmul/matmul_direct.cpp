// Host side of `direct`.

#include "matmul_direct.hpp"

#include "matmul_variants.hpp"

#include <concord/detail/checked_size.hpp>
#include <concord/internal/shape.hpp>

namespace concord::detail {
namespace {

u64 round_up(u64 n, u64 multiple) {
    return divide_up(n, multiple) * multiple;
}

// Bytes of the copy of op(B) for `columns` columns; 0 if B is not transposed.
CheckedSize copy_bytes(const MatmulProblem& p, u64 columns) {
    return p.b_column() == 1 ? CheckedSize(0) : CheckedSize(columns) * p.shape.k * p.size();
}

// One group for little work, because waking threads costs more. Then whole products, or parts of a product along its
// longer side.
detail::host::DirectPlan plan_of(const Device& device, const MatmulProblem& p, const DirectHost& host) {
    const MatmulShape& s = p.shape;
    const u64 min_work = tuned(device, matmul_direct_work, point_of(p), 512) << 10,
              most = device.traits().units * tuned(device, matmul_groups_a_unit, point_of(p), 8);
    // Saturates: the number of groups is bounded anyway.
    const CheckedSize work = CheckedSize(s.m) * s.n * std::max<u64>(s.k, 1) * s.batch;
    const u64 groups = std::clamp<u64>(work.fits(min_work * most) ? work.value() / min_work : most, 1, most);
    detail::host::DirectPlan plan{.products = divide_up(s.batch, std::min(groups, s.batch)),
                                  .rows = s.m,
                                  .columns = s.n,
                                  .down = 1,
                                  .across = 1};
    const u64 pieces = divide_up(groups, s.batch);
    if (pieces > 1 && s.m >= s.n) {
        plan.rows = round_up(divide_up(s.m, pieces), host.rows);
        plan.down = divide_up(s.m, plan.rows);
    } else if (pieces > 1) {
        plan.columns = round_up(divide_up(s.n, pieces), host.columns);
        plan.across = divide_up(s.n, plan.columns);
    }
    return plan;
}

}  // namespace

Support supports_matmul_direct(const Device& device, const MatmulProblem& p) {
    if (Support type = supports_type(device, p.type()); !type) return type;
    if (copy_bytes(p, p.shape.n).fits(device.traits().local_memory)) return {};
    return Support::no("copies a transposed B to {} bytes of local memory", device.traits().local_memory);
}

// Packing pays if packed operands are used often, and if the operands of a product exceed half a thread's
// share of the caches.
bool suits_matmul_direct(const Device& device, const MatmulProblem& p) {
    const MatmulShape& s = p.shape;
    if (s.m < thin) return true;
    return ((CheckedSize(s.m) + s.n) * s.k * p.size())
        .fits(device.traits().cache / device.traits().units / 2);
}

void run_matmul_direct(Stream& stream, const MatmulProblem& p) {
    Device& device = stream.device();
    const HostIsa isa = device.traits().host_isa;
    const DirectHost host = direct_host(p.type(), isa);
    const detail::host::DirectPlan plan = plan_of(device, p, host);
    const auto kernel = host_kernel_of(device, "matmul_direct", host.kernel);
    const u64 groups = plan.down * plan.across * divide_up(p.shape.batch, plan.products);
    with_product(p, [&](const ValueBytes& product) {
        launch(stream, *kernel, LaunchShape::linear(groups, 1, copy_bytes(p, plan.columns).value()), p.a, p.b,
               p.c, product, p.shape.batch, ValueBytes{std::as_bytes(std::span(&plan, 1))});
    });
}

}  // namespace concord::detail
