"""`concord run scan`."""

import numpy as np
import pytest

from program import BYTES, TYPES, gives, on_devices, refused, unknown_variant_is_refused

OPERATIONS = {
    "sum": (np.add, 0),
    "product": (np.multiply, 1),
    "min": (np.minimum, 2**31 - 1),
    "max": (np.maximum, -(2**31)),
}


@on_devices("name", TYPES, [])
def test_sum(device, name):
    values = np.array([5, 100, 7, 2, 11, 3], TYPES[name])
    gives(np.cumsum(values, dtype=values.dtype), "run scan --in", values, "--device", device)


@on_devices("operation", OPERATIONS, [])
def test_exclusive(device, operation):
    function, identity = OPERATIONS[operation]
    values = np.array([5, -100, 7, 2, -11, 3], "i4")
    expected = np.concatenate([[identity], function.accumulate(values)[:-1]]).astype("i4")
    gives(expected, "run scan --op", operation, "--exclusive", "--in", values, "--device", device)


def test_no_elements(device):
    gives(np.empty(0, "f4"), "run scan --in", np.empty(0, "f4"), "--device", device)


@pytest.mark.parametrize("shape", [(1, 3), ()], ids=str)
def test_other_dimensions(shape):
    refused(2, ["scan", "dimension"], "run scan --in", np.ones(shape, "u1"), "--out", "box/new.npy")


# Sums of these are exact in every order.
CUBE = np.arange(5 * 6 * 7, dtype="f4").reshape(5, 6, 7) % 11 - 5


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_axis(axis):
    gives(CUBE.cumsum(axis=axis), "run scan --axis", axis, "--in", CUBE, "--device", "tbb")
    gives(np.maximum.accumulate(CUBE, axis), "run scan --op max --axis", axis, "--in", CUBE, "--device", "tbb")


@on_devices("name", TYPES, ["f32"])
def test_an_axis_of_a_type(device, name):
    values = (np.arange(300).reshape(3, 100) % 5).astype(TYPES[name])
    gives(values.cumsum(axis=0, dtype=values.dtype), "run scan --axis 0 --in", values, "--device", device)
    before = values.cumsum(axis=1, dtype=values.dtype) - values
    gives(before, "run scan --axis 1 --exclusive --in", values, "--device", device)


def test_an_empty_axis():
    empty = np.empty((2, 0, 3), "f4")
    gives(empty, "run scan --axis 1 --in", empty, "--device", "tbb")
    gives(empty, "run scan --axis 0 --in", empty, "--device", "tbb")


@pytest.mark.parametrize("text, words", [
    ("3", ["--axis", "got 3", "rank 3"]),
    ("-4", ["--axis", "got -4"]),
    ("x", ["--axis", "got 'x'"]),
    ("0,1", ["--axis", "got '0,1'"]),
    ("1.5", ["--axis", "got '1.5'"]),
])
def test_bad_axes(text, words):
    refused(2, words, "run scan --axis", text, "--in", CUBE, "--out", "box/new.npy")


def test_axes_of_other_inputs():
    refused(2, ["--axis", "rank 0"], "run scan --axis 0 --in", np.array(3, "f4"), "--out", "box/new.npy")
    refused(2, ["--axis", "at most 8"], "run scan --axis 0 --in", np.ones((1,) * 9, "f4"), "--out", "box/new.npy")
    refused(2, ["--axis", "segments"], "run scan --axis 0 --chunk 64 --in", CUBE, "--out", "box/new.npy")


def test_axes_have_one_variant():
    refused(2, ["serial", "does not support axes", "lines"], "run scan --axis 0 --variant serial --in", CUBE, "--device", "tbb", "--out", "box/new.npy")


def test_unknown_variant(device):
    unknown_variant_is_refused("scan", device, "--in", BYTES)
