#pragma once
// Products of f64 matrices on tensor cores in canonical order, and the self-test that guards them.

#include <concord/matmul.hpp>

#include <vector>

namespace concord::detail {

// The operands of the self-test, row-major: random values, many magnitudes, sums that cancel, and products that
// underflow to denormals and to -0.
struct MatmulSelfTest {
    static constexpr u64 m = 40, n = 40, k = 71;
    std::vector<f64> a, b;

    // `swap` exchanges terms l and l ^ swap of every sum. Tests use it to plant a wrong order.
    explicit MatmulSelfTest(u64 swap = 0);
};

// Whether tensor cores give the same bits as chains of fused multiply-adds in canonical order. Multiplies the operands
// of the self-test on a stream of its own and compares the result with that of `naive`. Blocks. The device must have
// f64_matrix_units. `swap`: order of the terms on the tensor cores, see above.
bool f64_matrix_units_are_exact(Device& device, u64 swap = 0);

// The product of f64 matrices by `register_tiled` without tensor cores, on any device that supports that variant. Tests
// call it on devices whose tensor cores hide it.
void matmul_without_matrix_units(Stream& stream, const VolumeView& a, const VolumeView& b,
                                 const VolumeView& c, const MatmulScale& scale);

}  // namespace concord::detail
