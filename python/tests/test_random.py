"""Random shapes, strides and values (hypothesis)."""

import numpy as np
import pytest

import concord as cc
from concord.testing import assert_same_bits

pytestmark = pytest.mark.long
hypothesis = pytest.importorskip("hypothesis", exc_type=ImportError)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

DTYPES = st.sampled_from([np.dtype(c + str(s)) for c, sizes in (("i", (1, 2, 4, 8)), ("u", (1, 2, 4, 8)), ("f", (4, 8))) for s in sizes])
VECTORS = DTYPES.flatmap(lambda d: arrays.arrays(d, st.integers(0, 3000), elements=arrays.from_dtype(d, allow_nan=False)))
many = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))


@many
@given(VECTORS, st.integers(0, 40))
def test_sorts(x, skip):
    x = x[skip:]  # any alignment
    if x.dtype.kind == "f":
        x = x + x.dtype.type(0)  # NumPy's order does not distinguish the zeros
        x[x == 0] = 0
    assert_same_bits(cc.sort(x), np.sort(x))
    assert_same_bits(cc.argsort(x), np.argsort(x, kind="stable"))


@many
@given(VECTORS)
def test_totals(x):
    if x.dtype.kind == "f":
        assert_same_bits(cc.sum(x), cc.sum(x, device=cc.devices().column("selector")[-1]))
    else:
        assert_same_bits(cc.sum(x), x.sum())
        assert_same_bits(cc.cumsum(x), x.cumsum())
    if x.size:
        keep = x >= x[0]
        assert_same_bits(cc.compress(keep, x), x[keep])


@many
@given(st.integers(1, 60), st.integers(1, 60), st.integers(0, 5), st.integers(0, 5), st.booleans())
def test_views(rows, columns, top, left, turned):
    base = np.arange((rows + top) * (columns + left), dtype="f8").reshape(rows + top, columns + left)
    x = base[top:, left:]
    if turned:
        x = x.T
    padded = left > 0 and turned and columns > 1 and rows > 1
    if padded:
        with pytest.raises(NotImplementedError):
            cc.transpose(x)
    else:
        assert_same_bits(cc.transpose(x), np.ascontiguousarray(x.T))
    assert_same_bits(cc.matmul(x, np.eye(x.shape[1])), np.ascontiguousarray(x))
