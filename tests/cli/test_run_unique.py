"""`concord run unique`."""

import numpy as np
import pytest

from program import BYTES, TYPES, gives, on_devices, refused, save, unknown_variant_is_refused
from runs import SPECIAL, inputs, starts


@on_devices("name", TYPES, ["f32"], ["u8", "u64"])
def test_values(device, name):
    for x in inputs(name):
        gives(x[starts(x)], "run unique --in", x, "--device", device)


def test_nan_and_zeros(device):
    assert starts(SPECIAL).tolist() == [0, 1, 2, 3, 5, 6, 8, 9]
    gives(SPECIAL[starts(SPECIAL)], "run unique --in", SPECIAL, "--device", device)


def test_sorted_input_gives_the_values_of_numpy():
    x = np.sort(np.arange(5000) * 7919 % 251)
    gives(np.unique(x), "run unique --in", x, "--device", "tbb")


def test_bool(device):
    flags = np.array([0, 1, 2, 255, 0, 0, 3], "u1").view("?")
    gives(np.array([False, True, False, True]), "run unique --in", flags, "--device", device)


@pytest.mark.parametrize("shape", [(1, 3), ()], ids=str)
def test_other_dimensions(shape):
    save("other.npy", np.ones(shape, "u1"))
    refused(2, ["--in", "other.npy", "dimension"], "run unique --in other.npy --out box/new.npy")


def test_unknown_variant(device):
    unknown_variant_is_refused("unique", device, "--in", BYTES)


def test_number_of_inputs():
    refused(2, ["--in", "1 input, got 2"], "run unique --in", BYTES, "--in", BYTES, "--out", "box/new.npy")
