// Host side of products whose order splits k into parts.

#include "matmul_parts.hpp"

#include "matmul_sources.hpp"
#include "matmul_variants.hpp"

#include <concord/internal/shape.hpp>

#include <bit>

namespace concord::detail {
namespace {

// Adds the parts of the products of `whole`.
void sum_parts(Stream& stream, const View& planes, const MatmulProblem& whole, u64 parts) {
    Device& device = stream.device();
    const u32 group_size = std::min(256U, std::bit_floor(device.traits().max_group_size));
    // A few results per work-item, and several work-items per element.
    const u32 all = static_cast<u32>(std::bit_ceil(parts)),
              lanes = std::clamp(all / 4, 1U, std::min(32U, group_size));
    const auto kernel = matmul_kernel(
        device, whole.type(), kernel_sources::matmul_parts(), "matmul_sum_parts", group_size,
        {{"GROUP", group_size}, {"LANES", lanes}, {"RUN", all / lanes}}, matmul_host(whole.type()).sum_parts);
    const u64 elements = whole.shape.m * whole.shape.n * whole.shape.batch,
              each =
                  device.traits().launch == LaunchModel::host ? host::sum_parts_elements : group_size / lanes;
    with_product(whole, [&](const ValueBytes& product) {
        launch(stream, *kernel,
               LaunchShape::linear(divide_up(elements, each), group_size_of(device, group_size)), planes,
               whole.c, product, static_cast<u32>(parts), elements);
    });
}

}  // namespace

MatmulProblem parts_of(const MatmulProblem& whole) {
    const MatmulShape& s = whole.shape;
    const u64 length = canonical_part(s.m, s.n, s.k), parts = divide_up(s.k, length);
    MatmulProblem p = whole;
    p.scale = {};
    p.shape.k = length;
    p.shape.parts = parts;
    p.shape.missing = parts * length - s.k;
    p.shape.batch = s.batch * parts;
    p.shape.c_pitch = s.n;
    p.shape.c_stride = s.m * s.n;
    return p;
}

void run_in_parts(Stream& stream, const MatmulProblem& p, const Row<MatmulProblem>& row) {
    const MatmulShape& s = p.shape;
    const u64 parts = parts_of(p).shape.parts, results = s.m * s.n * parts;  // of one product
    const u64 most = std::clamp<u64>(usual_scratch / p.size() / results, 1, s.batch);
    const auto scratch = stream.scratch(most * results * p.size());
    for_slices(p, most, [&](const MatmulProblem& slice) {
        MatmulProblem in_parts = parts_of(slice);
        in_parts.c = {scratch.get(), 0, slice.shape.batch * results, p.type()};
        row.run(stream, in_parts);
        sum_parts(stream, in_parts.c, slice, parts);
    });
}

}  // namespace concord::detail
