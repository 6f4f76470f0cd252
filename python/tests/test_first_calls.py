"""The calls that a NumPy user makes first: each one of NumPy next to the same one of Concord."""

import importlib.util
import os
import subprocess
import sys

import numpy as np
import pytest

import concord as cc

A = np.arange(24, dtype="f4").reshape(4, 6) % 7 - 3
B = np.linspace(0.5, 3, 6, dtype="f4")
N = np.array([3, -1, 7, 7, 0], "i4")
FLAGS = A > 0


class Series:
    """An object as of pandas, which only has __array__."""

    def __array__(self, dtype=None, copy=None):
        return np.asarray(N, dtype)


def assigned(library):
    y = library.asarray(N).astype("int32", copy=True)
    y[0] = 1
    y[2:] = y[2:] * 2
    return y


# The name, NumPy's call, Concord's, and the largest relative difference: 0 for bitwise identical results.
CALLS = [
    ("sum over an axis", lambda: A.sum(axis=1), lambda: cc.sum(A, axis=1), 1e-6),
    ("keepdims", lambda: np.sum(A, axis=0, keepdims=True), lambda: cc.sum(A, axis=0, keepdims=True), 1e-6),
    ("max of columns", lambda: A.max(axis=0), lambda: cc.max(A, axis=0), 0),
    ("mean", lambda: np.mean(A, axis=1), lambda: cc.mean(A, axis=1), 1e-6),
    ("std", lambda: np.std(A, axis=0, ddof=1), lambda: cc.std(A, axis=0, ddof=1), 1e-6),
    ("any, all", lambda: (np.any(FLAGS), np.all(FLAGS, axis=0)), lambda: (cc.any(FLAGS), cc.all(FLAGS, axis=0)), 0),
    ("argmax", lambda: np.argmax(A, axis=1), lambda: cc.argmax(A, axis=1), 0),
    ("strides", lambda: np.sum(A[::2, ::-1]), lambda: cc.sum(A[::2, ::-1]), 1e-6),
    ("transposed", lambda: np.cumsum(A.T, axis=0), lambda: cc.cumsum(A.T, axis=0), 1e-6),
    ("Fortran's order", lambda: np.sort(np.asfortranarray(A), axis=0), lambda: cc.sort(np.asfortranarray(A), axis=0), 0),
    ("broadcasting", lambda: A + B, lambda: cc.add(A, B), 0),
    ("numbers", lambda: np.multiply(A, 2) - 1, lambda: cc.subtract(cc.multiply(A, 2), 1), 0),
    ("where", lambda: np.where(A > 0, A, 0), lambda: cc.where(cc.greater(A, 0), A, 0), 0),
    ("maximum", lambda: np.maximum(A, 1), lambda: cc.maximum(A, 1), 0),
    ("clip", lambda: np.clip(A, -1, 1), lambda: cc.clip(A, -1, 1), 0),
    ("operators", lambda: (A - A.mean()) / 2 > 0, lambda: (cc.asarray(A) - cc.mean(cc.asarray(A))) / 2 > 0, 0),
    ("assignment", lambda: assigned(np), lambda: assigned(cc), 0),
    ("Series", lambda: np.sum(Series()), lambda: cc.sum(Series()), 0),
    ("dot, norm", lambda: (np.dot(B, B), np.linalg.norm(B)), lambda: (cc.dot(B, B), cc.norm(B)), 1e-6),
    ("matmul of a vector", lambda: A @ B, lambda: cc.matmul(A, B), 1e-6),
    ("stable argsort", lambda: np.argsort(N, kind="stable"), lambda: cc.argsort(N, kind="stable"), 0),
    ("dtype", lambda: np.sum(N, dtype="f8"), lambda: cc.sum(N, dtype="f8"), 0),
    ("integers in exp and sqrt", lambda: (np.exp(N), np.sqrt(abs(N))), lambda: (cc.exp(N), cc.sqrt(cc.abs(N))), 1e-15),
    ("rounding", lambda: (np.floor(B), np.round(B), np.sign(A)), lambda: (cc.floor(B), cc.round(B), cc.sign(A)), 0),
    ("division of integers", lambda: (N // 2, N % 3, N & 5), lambda: (cc.floor_divide(N, 2), cc.remainder(N, 3), cc.bitwise_and(N, 5)), 0),
    ("nonzero", lambda: np.nonzero(N), lambda: cc.nonzero(N), 0),
    ("shapes", lambda: np.arange(6).reshape(2, 3).T.astype("f4"), lambda: cc.arange(6).reshape(2, 3).T.astype("f4"), 0),
    ("filled", lambda: np.ones((2, 3)) * np.full((3,), 2.5), lambda: cc.ones((2, 3)) * cc.full((3,), 2.5), 0),
    ("take, concatenate", lambda: (np.take(A, [2, 0], axis=0), np.concatenate([B, B])), lambda: (cc.take(A, [2, 0], axis=0), cc.concat([B, B])), 0),
    ("big-endian", lambda: np.sum(A.astype(">f4")), lambda: cc.sum(A.astype(">f4")), 1e-6),
]


@pytest.mark.parametrize("name, numpy, concord, bound", CALLS, ids=[name for name, *_ in CALLS])
def test_call(name, numpy, concord, bound):
    expected, found = numpy(), concord()
    both = zip(expected, found, strict=True) if isinstance(expected, tuple) else [(expected, found)]
    for right, mine in both:
        right, mine = np.asarray(right), np.asarray(mine)
        assert mine.dtype == right.dtype and mine.shape == right.shape
        if bound == 0:
            assert mine.tobytes() == right.tobytes()
        else:
            np.testing.assert_allclose(mine, right, rtol=bound, atol=bound)


def few(n, dtype):
    random = np.random.default_rng(n)
    values = random.standard_normal(n).astype(dtype) * 3
    values[::5] = np.resize(np.array([np.nan, -np.nan, 0.0, -0.0, np.inf, -np.inf], dtype), values[::5].shape)
    return values


@pytest.mark.parametrize("dtype", ("f4", "f8"))
def test_bits_of_few_elements(dtype):
    """Calls of few elements of NumPy's arrays, which have their own path, have the bits of the others."""
    for n in (1, 4, 63, 64, 500):
        x, y = few(n, dtype), few(n, dtype)[::-1].copy()
        on_device = cc.array(x, device="tbb"), cc.array(y, device="tbb")
        for name in ("exp", "log", "sin", "cos", "tanh", "sqrt", "sort"):
            cc.testing.assert_same_bits(getattr(cc, name)(x), getattr(cc, name)(on_device[0]))
        cc.testing.assert_same_bits(cc.sort(x, descending=True), cc.sort(on_device[0], descending=True))
        for name in ("add", "subtract", "multiply", "divide"):
            cc.testing.assert_same_bits(getattr(cc, name)(x, y), getattr(cc, name)(*on_device))
    for rows, inner, columns in ((1, 1, 1), (2, 2, 2), (8, 8, 8), (3, 8, 5), (1, 7, 1), (8, 1, 8)):
        a, b = few(rows * inner, dtype).reshape(rows, inner), few(inner * columns, dtype).reshape(inner, columns)
        for p, q in ((a, b), (np.nan_to_num(a, posinf=2, neginf=-1), np.nan_to_num(b, posinf=3, neginf=0))):
            cc.testing.assert_same_bits(cc.matmul(p, q), cc.matmul(cc.array(p, device="tbb"), cc.array(q, device="tbb")))


@pytest.mark.parametrize("dtype", ("i1", "i2", "i4", "u1", "u2", "u4"))
def test_sums_of_small_integers(dtype):
    limits = np.iinfo(dtype)
    for n in (1, 1000, 2**16, 2**16 + 1, 300001):
        x = np.random.default_rng(n).integers(limits.min, limits.max, n, dtype=dtype, endpoint=True)
        assert cc.sum(x) == np.sum(x) and cc.sum(x).dtype == np.sum(x).dtype


SCIPY = """
import warnings
import numpy as np, concord as cc
from scipy import stats
x = np.random.default_rng(1).standard_normal((7, 50)) ** 2 + 0.1
y = cc.asarray(x)
for name, call in CALLS.items():
    found = call(y)
    assert isinstance(found, cc.Array), (name, type(found))
    np.testing.assert_allclose(np.asarray(found), call(x), rtol=1e-12, err_msg=name)
"""


@pytest.mark.skipif(importlib.util.find_spec("scipy") is None, reason="SciPy is not installed")
def test_scipy():
    """Functions of scipy.stats on arrays of Concord."""
    calls = ("CALLS = {'zscore': lambda a: stats.zscore(a, axis=1), 'gmean': lambda a: stats.gmean(a, axis=1), 'hmean': lambda a: stats.hmean(a, axis=0), "
             "'pmean': lambda a: stats.pmean(a, 3, axis=1), 'variation': lambda a: stats.variation(a, axis=0), 'skew': lambda a: stats.skew(a, axis=1), "
             "'kurtosis': lambda a: stats.kurtosis(a, axis=1), 'moment': lambda a: stats.moment(a, 3, axis=1), 'sem': lambda a: stats.sem(a, axis=1)}\n")
    done = subprocess.run([sys.executable, "-c", calls + SCIPY], env={**os.environ, "SCIPY_ARRAY_API": "1"}, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]


# By the type that is tested on all devices: the other ones have the same source.
OF_FLOATS = "floor ceil trunc round sign signbit reciprocal floor_divide remainder copysign nextafter logaddexp"
OF_INTEGERS = "sign floor_divide remainder bitwise_invert bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift"
NUMPY_NAMES = {"bitwise_left_shift": "left_shift", "bitwise_right_shift": "right_shift", "bitwise_invert": "invert"}
ONE = ("floor", "ceil", "trunc", "round", "sign", "signbit", "reciprocal", "bitwise_invert")


@pytest.mark.parametrize("name, dtype", [(name, "f4") for name in OF_FLOATS.split()] + [(name, "i2") for name in OF_INTEGERS.split()])
def test_arithmetic(name, dtype, device):
    if dtype == "f4":
        x = np.array([-7.5, -2.5, -0.0, 0.0, 0.5, 1.5, 3.0, 1e30, np.inf, -np.inf, np.nan, 7.25], dtype)
    else:
        x = np.array([-32768, -7, -1, 0, 1, 2, 5, 7, 100, 32767], dtype)
    y = np.tile(x, len(x))
    x = np.repeat(x, len(y) // len(x))
    operands = (x,) if name in ONE else (x, np.abs(y) % 20) if "shift" in name else (x, y)
    with np.errstate(all="ignore"):
        expected = getattr(np, NUMPY_NAMES.get(name, name))(*operands)
    found = getattr(cc, name)(*operands, device=device)
    assert found.dtype == expected.dtype
    if name == "logaddexp":
        np.testing.assert_allclose(found, expected, rtol=1e-6)
    else:  # the sign of a NaN is positive here
        same = found.view(f"u{found.itemsize}") == expected.view(f"u{found.itemsize}")
        assert (same | (np.isnan(found) & np.isnan(expected))).all(), (operands[0][~same], operands[-1][~same], found[~same], expected[~same])
