"""`concord run add`."""

import numpy as np
import pytest

from program import FLOATS, THREE, TYPES, gives, on_devices, refused, save, unknown_variant_is_refused, values_of

KERNELS, MORE = ["i16", "f32"], ["i32"]


@on_devices("name", TYPES, KERNELS, MORE)
def test_sum(device, name):
    a = values_of(name)
    b = np.array([1, 0, 2, 4, -3, 24, 1, -np.inf], TYPES[name]) if name in FLOATS else a[::-1]
    gives(a + b, "run add --in", a, "--in", b, "--device", device)


@on_devices("name", TYPES, KERNELS, MORE)
def test_scalars(device, name):
    three = np.array(3, TYPES[name])
    gives(np.array(6, TYPES[name]), "run add --in", three, "--in", three, "--device", device)


@on_devices("name", TYPES, ["u8", "i64", "f32"])
def test_no_elements(device, name):
    empty = np.empty(0, TYPES[name])
    gives(empty, "run add --in", empty, "--in", empty, "--device", device)


def test_unknown_variant(device):
    unknown_variant_is_refused("add", device, "--in", THREE, "--in", THREE)


def test_one_input():
    refused(2, "got 1", "run add --in", THREE, "--out", "box/new.npy")


@pytest.mark.parametrize(
    "name, other, words",
    [
        ("two.npy", np.ones(2, "f4"), "f32 (2,)"),
        ("square.npy", np.ones((3, 1), "f4"), "f32 (3, 1)"),
        ("double.npy", np.ones(3, "f8"), "f64 (3,)"),
    ],
)
def test_inputs_that_differ(name, other, words):
    save(name, other)
    refused(2, [name, words], "run add --in", THREE, "--in", name, "--out", "box/kept.npy", "--device", "tbb")
