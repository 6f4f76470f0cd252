"""Functions from text."""

import shutil

import numpy as np
import pytest

import concord as cc
from concord.testing import assert_same_bits

pytestmark = pytest.mark.skipif(shutil.which("c++") is None, reason="needs a C++ compiler for the CPU device")

SCALE = cc.function("float scale(float x, float a, int b) { return a * x + b; }")
LARGER = cc.function("float larger(float x, float y) { return x < y ? y : x; }")


def test_description():
    assert SCALE.name == "scale"
    assert SCALE.signature == "f32(f32, f32, i32)"
    assert "f32(f32, f32, i32)" in repr(SCALE)


def test_map(device):
    x = np.linspace(-3, 3, 1003, dtype="f4")
    expected = np.float32(2.5) * x + np.float32(4)
    assert_same_bits(cc.map(SCALE.bind(2.5, 4), x, device=device), expected)
    assert_same_bits(SCALE.bind(2.5, 4)(x, device=device), expected)
    assert_same_bits(SCALE.bind(0.5, -1)(x, device=device), np.float32(0.5) * x - np.float32(1))
    assert_same_bits(LARGER(x, -x, device=device), np.abs(x))


def test_reduce_and_scan(device):
    x = np.random.default_rng(1).standard_normal(70_001).astype("f4")
    assert_same_bits(cc.reduce(x, LARGER, -np.inf, device=device), x.max())
    assert_same_bits(cc.scan(x, LARGER, -np.inf, device=device), np.maximum.accumulate(x))
    add = cc.function("f32 plus(f32 a, f32 b) { return a + b; }")
    assert_same_bits(cc.reduce(x, add, 0, device=device), cc.sum(x))
    assert_same_bits(cc.scan(x, add, 0, device=device), cc.cumsum(x))


@pytest.mark.parametrize("name, dtype", (("u8", "uint8"), ("long", "int64"), ("double", "float64")))
def test_types(device, name, dtype):
    f = cc.function(f"{name} same({name} x) {{ return x; }}")
    x = np.arange(100).astype(dtype)
    assert_same_bits(f(x, device=device), x)


def test_errors(device):
    x = np.ones(10, "f4")
    with pytest.raises(ValueError, match=r"scale is f32\(f32, f32, i32\); the call has 1 array and 0 bound values"):
        SCALE(x, device=device)
    with pytest.raises(ValueError, match="x has dtype float64"):
        SCALE.bind(1, 2)(np.ones(3), device=device)
    with pytest.raises(ValueError, match="1.5 is not a value"):
        SCALE.bind(1, 1.5)(x, device=device)
    with pytest.raises(ValueError, match="at least one parameter stays free"):
        SCALE.bind(1, 2, 3)
    with pytest.raises(ValueError, match="identity"):
        cc.reduce(x, LARGER, device=device)
    with pytest.raises(ValueError, match="operator_from_text"):
        cc.function("float f(floot x) { return x; }")
    with pytest.raises(cc.CompileFailed, match="undefined_name"):
        cc.function("float f(float x) { return undefined_name; }")(x, device=device)
