"""`concord run reduce`."""

import os

import numpy as np
import pytest

from program import FLOATS, LONG, THREE, TYPES, algorithms, complains, concord, gives, has_variant, holds, on_devices, pairs
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


@on_devices("operation, name", ALL, KERNELS, MORE)
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


STATISTICS = ["mean", "var", "std", "norm", "argmin", "argmax"]
# Exact in every order and in f32: sums, squares and their means.
EXACT = np.array([[1, 5, 2, 6], [3, 7, 0, 8]])


def statistic(operation, values, ddof=0):
    values = values.astype("f4" if values.dtype == "f4" else "f8") if not operation.startswith("arg") else values
    if operation == "norm":
        return np.sqrt(np.sum(values * values))
    if operation.startswith("arg"):
        return np.array(getattr(np, operation)(values), "u8")
    return getattr(np, operation)(values, **({"ddof": ddof} if operation in ("var", "std") else {}))


@on_devices("operation, name", [(operation, name) for operation in STATISTICS for name in TYPES],
            pairs("mean.u8 std.f32 norm.i64 argmin.f64"), pairs("var.f64 argmax.i16 mean.f32"))
def test_statistic(device, operation, name):
    values = EXACT.astype(TYPES[name])
    gives(np.array(statistic(operation, values)), "run reduce --op", operation, "--in", values, "--device", device)


def test_degrees_of_freedom():
    values = EXACT.astype("f8")
    gives(np.array(values.var(ddof=7)), "run reduce --op var --ddof 7 --in", values, "--device", "tbb")
    gives(np.array(np.inf), "run reduce --op var --ddof 9 --in", values, "--device", "tbb")


@pytest.mark.parametrize("operation", ["argmin", "argmax"])
def test_the_first_of_ties_and_nan(operation):
    values = np.array([0.0, -0.0, 0.0], "f4")
    gives(np.array(0, "u8"), "run reduce --op", operation, "--in", values, "--device", "tbb")
    nans = np.array([1, 2, np.nan, np.nan, -9], "f4")
    gives(np.array(2, "u8"), "run reduce --op", operation, "--in", nans, "--device", "tbb")


@on_devices("name", TYPES, ["f32"])
def test_elements_at_the_indices(device, name):
    values = (np.arange(96) * 7 % 32 + 1).reshape(4, 8, 3).astype(TYPES[name])
    arguments = ["--in", values, "--out-values", "box/values.npy", "--device", device]
    for axis in (0, 1):
        gives(np.argmax(values, axis).astype("u8"), "run reduce --op argmax --axis", axis, *arguments)
        holds("box/values.npy", values.max(axis))
    gives(np.array(values.argmin(), "u8"), "run reduce --op argmin", *arguments)
    holds("box/values.npy", np.array(values.min()))
    gives(np.argmin(values, 2, keepdims=True).astype("u8"), "run reduce --op argmin --keepdims --axis 2", *arguments)
    holds("box/values.npy", values.min(2, keepdims=True))


@pytest.mark.parametrize("options, words", [
    ("--op sum --in full.npy --out-values values.npy", ["--out-values", "argmin", "sum"]),
    ("--op argmin --in empty.npy", ["argmin", "empty"]),
    ("--op argmax --axis 1 --in hollow.npy", ["argmax", "empty axis", "(2, 0, 3)"]),
    ("--op sum --ddof 1 --in full.npy", ["--ddof", "sum"]),
    ("--op var --ddof -1 --in full.npy", ["--ddof", "-1"]),
])
def test_refused_statistics(options, words):
    np.save("empty.npy", np.empty(0, "f4"))
    np.save("full.npy", np.ones((2, 3), "f4"))
    np.save("hollow.npy", np.empty((2, 0, 3), "f4"))
    result = concord("run reduce", *options.split(), "--out", "new.npy", "--device", "tbb")
    complains(result, 2, words)
    assert not os.path.exists("new.npy")


# Sums of these are exact in every order.
CUBE = np.arange(5 * 6 * 7, dtype="f4").reshape(5, 6, 7) % 11 - 5
AXES = [("0", 0), ("1", 1), ("-1", 2), ("0,2", (0, 2)), ("2,0", (0, 2)), ("-3,1,2", (0, 1, 2))]


@pytest.mark.parametrize("text, axes", AXES)
def test_axes(text, axes):
    gives(CUBE.sum(axis=axes), "run reduce --axis", text, "--in", CUBE, "--device", "tbb")
    gives(CUBE.max(axis=axes, keepdims=True), "run reduce --op max --keepdims --axis", text, "--in", CUBE, "--device", "tbb")


# Sums and quotients of these numbers are exact.
@pytest.mark.parametrize("operation, function", [
    ("mean", np.mean), ("var", np.var), ("std", np.std), ("norm", lambda x, axis: np.sqrt((x * x).sum(axis=axis))),
    ("argmin", np.argmin), ("argmax", np.argmax),
])
def test_statistics_over_an_axis(operation, function):
    values = ((np.arange(96) * 7) % 32).reshape(4, 8, 3).astype("f8")
    for axis in (0, 1):
        expected = function(values, axis=axis)
        gives(expected.astype("u8") if operation.startswith("arg") else expected,
              "run reduce --op", operation, "--axis", str(axis), "--in", values, "--device", "tbb")


@on_devices("name", TYPES, ["u8", "f32"])
def test_an_axis_of_a_type(device, name):
    values = (np.arange(300).reshape(3, 100) % 5).astype(TYPES[name])
    gives(values.sum(axis=0, dtype=values.dtype), "run reduce --axis 0 --in", values, "--device", device)
    gives(values.sum(axis=1, dtype=values.dtype), "run reduce --axis 1 --in", values, "--device", device)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_an_empty_axis_gives_the_identity(operation):
    expected = np.full((2, 3), identity(operation, "i16"))
    gives(expected, "run reduce --axis 1 --op", operation, "--in", np.empty((2, 0, 3), "i2"), "--device", "tbb")
    gives(np.empty((2, 0), "i2"), "run reduce --axis -1 --op", operation, "--in", np.empty((2, 0, 3), "i2"), "--device", "tbb")


@pytest.mark.parametrize("text, words", [
    ("3", ["--axis", "got 3", "rank 3"]),
    ("-4", ["--axis", "got -4"]),
    ("0,0", ["--axis", "repeated axis, got 0"]),
    ("1,-2", ["--axis", "repeated axis, got -2"]),
    ("x", ["--axis", "got 'x'"]),
    ("0,", ["--axis", "got '0,'"]),
    ("1.5", ["--axis", "got '1.5'"]),
    ("99999999999999999999", ["--axis", "got '99999999999999999999'"]),
])
def test_bad_axes(text, words):
    refused(2, words, "run reduce --axis", text, "--in", CUBE, "--out", "box/new.npy")


def test_an_axis_of_a_scalar():
    refused(2, ["--axis", "rank 0"], "run reduce --axis 0 --in", np.array(3, "f4"), "--out", "box/new.npy")


def test_keepdims_requires_an_axis():
    refused(2, ["--keepdims", "requires --axis"], "run reduce --keepdims --in", CUBE, "--out", "box/new.npy")


def test_axes_require_the_whole_input():
    refused(2, ["--axis", "segments"], "run reduce --axis 0 --chunk 64 --in", CUBE, "--out", "box/new.npy")


def test_axes_have_one_variant():
    refused(2, ["serial", "does not support axes", "fixed"], "run reduce --axis 0 --variant serial --in", CUBE, "--device", "tbb", "--out", "box/new.npy")


def test_too_many_dimensions():
    refused(2, ["--axis", "at most 8"], "run reduce --axis 0 --in", np.ones((1,) * 9, "f4"), "--out", "box/new.npy")


# The types differ by a conversion.
@on_devices("name", ["bool", *TYPES] if LONG else ["bool", "u8", "i64", "f32"], ["bool", "u8", "f32"])
def test_any_and_all(device, name):
    table = np.array([[0, 0, 1], [2, 3, 4]], "?" if name == "bool" else TYPES[name])
    for operation in ("any", "all"):
        function = getattr(np, operation)
        command = ["run reduce --op", operation, "--device", device, "--in"]
        gives(np.array(function(table)), *command, table)
        gives(function(table, axis=0), *command, table, "--axis", "0")
        gives(function(table, axis=-1, keepdims=True), *command, table, "--axis", "-1", "--keepdims")
        hollow = table[:, :0].copy()
        gives(np.array(function(hollow)), *command, hollow)
        gives(function(hollow, axis=1), *command, hollow, "--axis", "1")
