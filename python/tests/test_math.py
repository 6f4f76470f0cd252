"""The math functions of arrays, and in functions from source."""

import math
import shutil

import numpy as np
import pytest

import concord as cc
from concord.testing import assert_same_bits

# Inputs in the domain of each function, and a reference in f64.
ONE = {
    "exp": (-80, 80, np.exp), "exp2": (-120, 120, np.exp2), "expm1": (-10, 80, np.expm1), "log": (1e-6, 1e6, np.log),
    "log2": (1e-6, 1e6, np.log2), "log10": (1e-6, 1e6, np.log10), "log1p": (-0.9, 1e3, np.log1p), "sin": (-30, 30, np.sin),
    "cos": (-30, 30, np.cos), "tan": (-30, 30, np.tan), "sinpi": (-0.5, 0.5, lambda x: np.sin(np.pi * x)),
    "cospi": (-0.25, 0.25, lambda x: np.cos(np.pi * x)), "asin": (-1, 1, np.arcsin), "acos": (-1, 1, np.arccos),
    "atan": (-9, 9, np.arctan), "sinh": (-50, 50, np.sinh), "cosh": (-50, 50, np.cosh), "tanh": (-5, 5, np.tanh),
    "erf": (-4, 4, np.vectorize(math.erf)), "erfc": (-4, 8, np.vectorize(math.erfc)), "rsqrt": (1e-3, 1e3, lambda x: 1 / np.sqrt(x)),
    "cbrt": (-1e3, 1e3, np.cbrt), "lgamma": (0.1, 50, np.vectorize(math.lgamma)), "tgamma": (0.1, 30, np.vectorize(math.gamma)),
    "sqrt": (0, 100, np.sqrt), "abs": (-9, 9, np.abs), "negative": (-9, 9, np.negative), "square": (-9, 9, np.square),
}
TWO = {"pow": (0.1, 9, np.power), "atan2": (-9, 9, np.arctan2), "hypot": (-9, 9, np.hypot)}


def inputs(low, high, dtype, n=2001):
    return np.random.default_rng(1).uniform(low, high, n).astype(dtype)


@pytest.mark.parametrize("name", ONE)
def test_one_array(name, device):
    low, high, reference = ONE[name]
    function = getattr(cc, name)
    x = inputs(low, high, "f4")
    # Correctly rounded: the reference's error in f64 is far below half an ulp of f32.
    assert_same_bits(function(x, device=device), reference(x.astype("f8")).astype("f4"))
    wide = inputs(low, high, "f8")
    result = function(wide, device=device)
    np.testing.assert_allclose(result, reference(wide), rtol=1e-14, atol=1e-15)
    assert_same_bits(result, function(wide))
    out = np.empty_like(x)
    assert function(x, out=out, device=device) is out
    assert_same_bits(out, cc.map({"negative": "negate"}.get(name, name), x))


@pytest.mark.parametrize("name", TWO)
def test_two_arrays(name, device):
    low, high, reference = TWO[name]
    function = getattr(cc, name)
    for dtype in ("f4", "f8"):
        x, y = inputs(low, high, dtype).reshape(3, 667), inputs(low, high, dtype)[::-1].copy().reshape(3, 667)
        result = function(x, y, device=device)
        np.testing.assert_allclose(result, reference(x.astype("f8"), y), rtol=2e-7 if dtype == "f4" else 1e-14)
        assert_same_bits(result, function(x, y))
        assert_same_bits(cc.map(name, x, y, device=device), result)
        assert_same_bits(function(x, 2, device=device), function(x, np.full_like(x, 2)))
        assert_same_bits(function(0.5, x, device=device), function(np.full_like(x, 0.5), x))
    assert function(cc.array(x, device=device), y[0, 0]).shape == x.shape


def test_special_values(device):
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -1], "f4")
    assert_same_bits(cc.exp(x, device=device)[:4], np.array([1, 1, np.inf, 0], "f4"))
    nan = np.uint32(0x7FC00000).view("f4")
    assert_same_bits(cc.log(x, device=device), np.array([-np.inf, -np.inf, np.inf, nan, nan, nan], "f4"))
    payload = np.array([0xFF800001, 0x7F812345], "u4").view("f4")
    assert_same_bits(cc.abs(payload, device=device).view("u4"), payload.view("u4") & 0x7FFFFFFF)
    assert_same_bits(cc.negative(payload, device=device).view("u4"), payload.view("u4") ^ 0x80000000)


def test_integers(device, dtype, values):
    x = values(dtype, 1000)
    with np.errstate(over="ignore"):
        assert_same_bits(cc.square(x, device=device), np.square(x))
    assert_same_bits(cc.negative(x, device=device), np.negative(x))
    assert_same_bits(cc.abs(x, device=device), np.abs(x))


def test_errors():
    x = np.ones(3, "f4")
    with pytest.raises(ValueError, match="hypot: shapes do not broadcast, got 3 and 2"):
        cc.hypot(x, x[:2])
    with pytest.raises(TypeError, match="negative: x has dtype bool"):
        cc.negative(x > 0)
    with pytest.raises(ValueError, match="unknown function of two arrays, got 'exp'"):
        cc.map("exp", x, x)
    with pytest.raises(ValueError, match="out has dtype int32"):
        cc.exp(x, out=np.ones(3, "i4"))
    out = np.ones(3)
    assert_same_bits(cc.exp(x, out=out), cc.exp(x).astype("f8"))


@pytest.mark.skipif(shutil.which("c++") is None, reason="needs a C++ compiler for the CPU device")
def test_functions_from_source(device):
    """Bodies call the same functions."""
    x, y = inputs(0.1, 9, "f4"), inputs(-9, 9, "f4")
    f = cc.function("float f(float x, float y) { return exp(x) + min(y, 1.0f) * tgamma(x) + float(popcount(as_u32(y))); }")
    bits = np.array([int(b).bit_count() for b in y.view("u4")], "f4")
    assert_same_bits(f(x, y, device=device), cc.exp(x) + np.minimum(y, np.float32(1)) * cc.tgamma(x) + bits)
    g = cc.function("u32 g(f32 x) { return u32(clamp(x, 0.0f, 7.9f)) + rotate(uint32_t(1), 4u); }")
    assert_same_bits(g(y, device=device), np.clip(y, 0, np.float32(7.9)).astype("u4") + np.uint32(16))
