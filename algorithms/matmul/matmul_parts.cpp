// Host side of products whose order splits k into parts.

#include "matmul_parts.hpp"

#include "matmul_sources.hpp"
#include "matmul_variants.hpp"

#include <concord/internal/shape.hpp>

#include <bit>

namespace concord::detail {
namespace {

constexpr u64 usual_scratch = u64{64} << 20;  // for the parts of as many products as fit, at least of one

// Adds the parts of the products of `whole`.
void sum_parts(Stream& stream, const View& planes, const MatmulProblem& whole, u64 parts) {
    Device& device = stream.device();
    constexpr u32 group_size = 256;
    // A few results per work-item, and several work-items per element.
    const u32 all = static_cast<u32>(std::bit_ceil(parts)), lanes = std::clamp(all / 4, 1U, 32U);
    const auto kernel = matmul_kernel(
        device, whole.type(), kernel_sources::matmul_parts(), "matmul_sum_parts", group_size,
        {{"GROUP", group_size}, {"LANES", lanes}, {"RUN", all / lanes}}, matmul_host(whole.type()).sum_parts);
    const u64 elements = whole.shape.m * whole.shape.n * whole.shape.batch,
              each = device.traits().serial_groups ? host::sum_parts_elements : group_size / lanes;
    with_product(whole, [&](const ValueBytes& product) {
        launch(stream, *kernel,
               LaunchShape::linear(divide_up(elements, each), group_size_of(device, group_size)), planes,
               whole.c, product, static_cast<u32>(parts), elements);
    });
}

}  // namespace

void run_in_parts(Stream& stream, const MatmulProblem& p,
                  const std::function<void(const MatmulProblem& parts)>& run) {
    const MatmulShape& s = p.shape;
    const u64 length = canonical_part(s.m, s.n, s.k), parts = divide_up(s.k, length), plane = s.m * s.n;
    const u64 most = std::clamp<u64>(usual_scratch / p.size() / (plane * parts), 1, s.batch);
    const auto scratch = stream.scratch(most * parts * plane * p.size());
    for (u64 first = 0; first < s.batch; first += most) {
        MatmulProblem whole = p;
        const auto skip = [&](View& view, u64 stride) {
            view = view.part(first * stride, view.count - first * stride);
        };
        skip(whole.a, s.a_stride);
        skip(whole.b, s.b_stride);
        skip(whole.c, s.c_stride);
        whole.shape.batch = std::min(most, s.batch - first);
        MatmulProblem in_parts = whole;
        in_parts.c = {scratch.get(), 0, whole.shape.batch * parts * plane, p.type()};
        in_parts.scale = {};
        in_parts.shape.k = length;
        in_parts.shape.parts = parts;
        in_parts.shape.missing = parts * length - s.k;
        in_parts.shape.batch = whole.shape.batch * parts;
        in_parts.shape.c_pitch = s.n;
        in_parts.shape.c_stride = plane;
        run(in_parts);
        sum_parts(stream, in_parts.c, whole, parts);
    }
}

}  // namespace concord::detail
