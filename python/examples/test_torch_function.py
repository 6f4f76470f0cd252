"""Functions of PyTorch held against Concord: the same for whole numbers, within a bound for sums of floats."""

import pytest

import concord as cc
from concord.testing import assert_same_bits, assert_within

torch = pytest.importorskip("torch", exc_type=ImportError)
DEVICES = ["cpu"] + (["cuda"] if torch.cuda.is_available() else [])


@pytest.mark.parametrize("device", DEVICES)
def test_cumsum_of_integers(device):
    x = torch.randint(-1000, 1000, (100_000,), device=device)
    assert_same_bits(torch.cumsum(x, 0), cc.cumsum(x))


@pytest.mark.parametrize("device", DEVICES)
def test_sum_of_floats(device):
    x = torch.randn(1 << 20, device=device)
    bound = 40 * 2.0**-24 * x.abs().double().sum().item()
    assert_within(torch.sum(x), cc.sum(x), bound)


@pytest.mark.parametrize("device", DEVICES)
def test_sort(device):
    x = torch.randn(50_000, device=device)
    values, indices = torch.sort(x, stable=True)
    assert_same_bits(values, cc.sort(x))
    assert_same_bits(indices, cc.argsort(x))
