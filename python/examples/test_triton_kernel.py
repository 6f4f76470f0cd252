"""A Triton kernel held against Concord: an element-wise product and sum without contraction differs in the last bit."""

import pytest

import concord as cc
from concord.testing import assert_same_bits, assert_within

torch = pytest.importorskip("torch", exc_type=ImportError)
triton = pytest.importorskip("triton", exc_type=ImportError)
import triton.language as tl

if not torch.cuda.is_available():
    pytest.skip("needs a GPU", allow_module_level=True)

AXPY = cc.function("float axpy(float x, float y, float a) { return a * x + y; }")
FMA = cc.function("float axpy_fma(float x, float y, float a) { return fma(a, x, y); }")


@triton.jit
def axpy(x, y, out, a, n, block: tl.constexpr):
    at = tl.program_id(0) * block + tl.arange(0, block)
    inside = at < n
    tl.store(out + at, a * tl.load(x + at, inside) + tl.load(y + at, inside), inside)


def test_axpy():
    n, a = 100_003, 1.1
    x, y = torch.randn(n, device="cuda"), torch.randn(n, device="cuda")
    out = torch.empty_like(x)
    axpy[(triton.cdiv(n, 1024),)](x, y, out, a, n, block=1024)
    assert_same_bits(out, FMA.bind(a)(x, y))  # Triton contracts to a fused multiply-add
    assert_within(out, AXPY.bind(a)(x, y), 2.0**-23 * (x.abs() * a + y.abs()))
