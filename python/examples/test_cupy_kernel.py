"""A CuPy RawKernel held against Concord: inclusive sums of u32, in one block."""

import pytest

import concord as cc
from concord.testing import assert_same_bits

cupy = pytest.importorskip("cupy", exc_type=ImportError)
if not cupy.cuda.is_available():
    pytest.skip("needs a GPU", allow_module_level=True)

KERNEL = cupy.RawKernel(r"""
extern "C" __global__ void block_scan(const unsigned* in, unsigned* out, int n) {
    __shared__ unsigned sums[1024];
    const int i = threadIdx.x;
    sums[i] = i < n ? in[i] : 0;
    __syncthreads();
    for (int step = 1; step < 1024; step *= 2) {
        const unsigned before = i >= step ? sums[i - step] : 0;
        __syncthreads();
        sums[i] += before;
        __syncthreads();
    }
    if (i < n) out[i] = sums[i];
}
""", "block_scan")


@pytest.mark.parametrize("n", (1, 31, 1000, 1024))
def test_block_scan(n):
    x = cupy.random.randint(0, 1 << 30, n, dtype="u4")
    out = cupy.empty_like(x)
    KERNEL((1,), (1024,), (x, out, n))
    assert_same_bits(out, cc.scan(x))
