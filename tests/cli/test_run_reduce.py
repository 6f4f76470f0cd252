"""`concord run reduce`."""

import os

import numpy as np
import pytest

from program import FLOATS, THREE, TYPES, algorithms, complains, concord, gives, has_variant, holds, on_devices, pairs
from program import refused, unknown_variant_is_refused

OPERATIONS = {"sum": np.add, "product": np.multiply, "min": np.minimum, "max": np.maximum}
KERNELS = pairs("sum.u8 product.f32 min.i64 max.f64")
MORE = pairs("sum.i32 sum.f64 product.i16 min.f32 max.u16")
ALL = [(operation, name) for operation in OPERATIONS for name in TYPES]
ONES = np.ones(200000, "u1")


def identity(operation, name):
    limits = np.iinfo(TYPES[name]) if name not in FLOATS else None
    low, high = (limits.min, limits.max) if limits else (-np.inf, np.inf)
    return np.array({"sum": 0, "product": 1, "min": high, "max": low}[operation], TYPES[name])


@on_devices("operation, name", ALL, KERNELS, MORE)
def test_result(device, operation, name):
    values = [[5, 100, 7], [2, 11, 3]] if name not in ("i32", *FLOATS) else [[5, -100, 7], [2, -11, 3]]
    values = np.array(values, TYPES[name])
    expected = OPERATIONS[operation].reduce(values, axis=None, dtype=values.dtype)
    gives(expected, "run reduce --op", operation, "--in", values, "--device", device)


@on_devices("operation, name", ALL, KERNELS, MORE)
def test_one_element(device, operation, name):
    three = np.array(3, TYPES[name])
    gives(three, "run reduce --op", operation, "--in", three, "--device", device)


@pytest.mark.parametrize("operation, name", ALL)
def test_no_elements_give_the_identity(device, operation, name):
    gives(identity(operation, name), "run reduce --op", operation, "--in", np.empty(0, TYPES[name]), "--device", device)


@on_devices("name", TYPES, ["u8", "i64", "f32"])
def test_no_elements_of_three_dimensions(device, name):
    gives(identity("sum", name), "run reduce --in", np.empty((2, 0, 3), TYPES[name]), "--device", device)


EXTREMES = [(operation, name) for operation in ("min", "max") for name in FLOATS]


@on_devices("operation, name", EXTREMES, pairs("min.f32 max.f64"))
def test_negative_zero_is_below_zero(device, operation, name):
    zeros = np.array([0.0, -0.0, 0.0, -0.0], TYPES[name])
    expected = np.array(-0.0 if operation == "min" else 0.0, TYPES[name])
    gives(expected, "run reduce --op", operation, "--in", zeros, "--device", device)


@on_devices("operation, name", EXTREMES, pairs("min.f32 max.f64"))
def test_nan_is_the_extreme(device, operation, name):
    values = np.array([0x7FC12345, 0x3F800000, 0xFF812345], "u4").view("f4")
    if name == "f64":
        values = np.array([0x7FF8000012345678, 0x3FF0000000000000, 0xFFF0000012345678], "u8").view("f8")
    result = concord("run reduce --op", operation, "--in", values, "--out", "new.npy", "--device", device)
    assert result.status == 0 and "nan" in result.out, result
    written = np.load("new.npy")
    assert written.shape == () and written.dtype == values.dtype and np.isnan(written)


def test_sums_of_integers_wrap(device):
    gives(np.array(200000 % 256, "u1"), "run reduce --in", ONES, "--device", device)


@pytest.mark.parametrize("variant", algorithms()["reduce"]["variants"], ids=lambda variant: variant["name"])
def test_variant(device, variant):
    """A variant that the device does not support is refused with a reason."""
    result = concord("run reduce --in", ONES, "--out", "new.npy", "--device", device, "--variant", variant["name"])
    if has_variant(device, variant) and (device == "tbb" or result.status != 2):
        assert result.status == 0, result
        holds("new.npy", np.array(200000 % 256, "u1"))
    else:
        complains(result, 2, [variant["name"], "fixed"])
        assert not os.path.exists("new.npy")


def test_unknown_variant(device):
    unknown_variant_is_refused("reduce", device, "--in", THREE)


def test_unknown_operation():
    refused(2, "median", "run reduce --op median --in", THREE, "--out", "box/new.npy")
