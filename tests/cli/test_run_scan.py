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


def test_unknown_variant(device):
    unknown_variant_is_refused("scan", device, "--in", BYTES)
