"""`concord run argsort`."""

import numpy as np
import pytest

from program import BYTES, THREE, TYPES, gives, on_devices, refused, save

KEYS = [5, 0, 100, 7, 2, 2, 11, 3, 0, 8]


def stable(keys, axis=-1, down=False):
    """The stable order. Equal keys keep theirs in both directions."""
    if not down:
        return np.argsort(keys, axis, kind="stable").astype("u8")
    ranks = np.unique(keys, return_inverse=True)[1].reshape(keys.shape)
    return np.argsort(-ranks, axis, kind="stable").astype("u8")


@on_devices("name", TYPES, ["f32"], ["u64"])
def test_places(device, name):
    keys = np.array(KEYS, TYPES[name])
    gives(stable(keys), "run argsort --in", keys, "--device", device)
    gives(stable(keys, down=True), "run argsort --descending --in", keys, "--device", device)


@pytest.mark.parametrize("count", [0, 1, 5000])
def test_sizes(device, count):
    keys = (np.arange(count) * 37 % 23).astype("i2")
    gives(stable(keys), "run argsort --in", keys, "--device", device)


CUBE = (np.arange(5 * 6 * 7, dtype="f4") * 37 % 23 - 9).reshape(5, 6, 7)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_axis(axis):
    gives(stable(CUBE, axis), "run argsort --axis", axis, "--in", CUBE, "--device", "tbb")
    gives(stable(CUBE, axis, True), "run argsort --descending --axis", axis, "--in", CUBE, "--device", "tbb")


NANS = np.array([3, np.nan, -0.0, 0, -np.inf, -np.nan, 5, -0.0, np.inf, 3], "f8")


def test_order_of_nan(device):
    total = np.array([5, 4, 2, 7, 3, 0, 9, 6, 8, 1], "u8")
    gives(total, "run argsort --nan total --in", NANS, "--device", device)
    gives(stable(NANS), "run argsort --nan last --in", NANS, "--device", device)
    table = np.stack([NANS, NANS[::-1]])
    gives(stable(table, 0), "run argsort --nan last --axis 0 --in", table, "--device", device)
    gives(np.array([8, 6, 0, 9, 2, 3, 7, 4, 1, 5], "u8"), "run argsort --nan last --descending --in", NANS, "--device", device)


def test_bool(device):
    keys = np.array([1, 0, 2, 0, 255, 0], "u1").view("?")
    gives(np.array([1, 3, 5, 0, 2, 4], "u8"), "run argsort --in", keys, "--device", device)


def test_bad_arguments():
    save("grid.npy", np.ones((2, 3), "u1"))
    refused(2, ["argsort", "grid.npy", "dimension", "--axis"], "run argsort --in grid.npy --out box/new.npy")
    refused(2, ["--axis", "got 2"], "run argsort --axis 2 --in grid.npy --out box/new.npy")
    refused(2, ["--nan", "first"], "run argsort --nan first --in", THREE, "--out", "box/new.npy")
    refused(2, "got 2", "run argsort --in", THREE, "--in", BYTES, "--out", "box/new.npy")


def test_unknown_variant(device):
    refused(2, "'frob'", "run argsort --variant frob --in", BYTES, "--out", "box/new.npy", "--device", device)
