"""`concord run scan_by_key`."""

import numpy as np
import pytest

from program import BYTES, THREE, TYPES, concord, gives, on_devices, refused, save, unknown_variant_is_refused
from runs import SPECIAL, inputs, starts

SCAN = "run scan_by_key --values values.npy --in"
FUNCTIONS = {"sum": np.add, "product": np.multiply, "min": np.minimum, "max": np.maximum}


def scanned(op, keys, values):
    """The scan of the values of each run of keys, in their type."""
    return np.concatenate([values[:0]] + [FUNCTIONS[op].accumulate(part, dtype=values.dtype)
                                          for part in np.split(values, starts(keys)[1:]) if part.size])


@on_devices("name", TYPES, ["f32"], ["u64"])
def test_types_of_keys(device, name):
    for keys in inputs(name):
        save("values.npy", values := (np.arange(keys.size) % 13).astype("f4"))
        gives(scanned("sum", keys, values), SCAN, keys, "--device", device)


@on_devices("op, name", [(op, name) for op in FUNCTIONS for name in TYPES], [("max", "f32")], [("product", "u64")])
def test_operators(device, op, name):
    keys = inputs("i32")[-2]
    # Products of few elements are not 1. All results are exact.
    save("values.npy", values := np.where(np.arange(keys.size) % 50, 1, 2).astype(TYPES[name]))
    gives(scanned(op, keys, values), SCAN, keys, "--op", op, "--device", device)


def test_exclusive(device):
    keys = inputs("i32")[-2]
    save("values.npy", values := (np.arange(keys.size) % 13).astype("f4"))
    gives(scanned("sum", keys, values) - values, SCAN, keys, "--exclusive", "--device", device)


def test_keys_of_nan_and_zeros(device):
    save("values.npy", values := np.arange(SPECIAL.size, dtype="f4"))
    gives(scanned("sum", SPECIAL, values), SCAN, SPECIAL, "--device", device)


def test_keys_of_bool(device):
    save("values.npy", np.arange(7, dtype="f4"))
    flags = np.array([0, 1, 2, 255, 0, 0, 3], "u1").view("?")
    gives(np.array([0, 1, 3, 6, 4, 9, 6], "f4"), SCAN, flags, "--device", device)


@pytest.mark.parametrize("name", ["f32", "f64"])
def test_results_are_bitwise_those_of_scan(name):
    values = np.random.default_rng(1).standard_normal(9000).astype(TYPES[name])
    save("values.npy", values)
    expected = []
    for part in np.split(values, [1, 100, 1000]):
        assert concord("run scan --in", part, "--out", "part.npy", "--device", "tbb").status == 0
        expected.append(np.load("part.npy"))
    gives(np.concatenate(expected), SCAN, np.repeat(np.arange(4), [1, 99, 900, 8000]), "--device", "tbb")


def test_unknown_variant(device):
    save("values.npy", BYTES)
    unknown_variant_is_refused("scan_by_key", device, "--values", "values.npy", "--in", BYTES)


def test_bad_arguments():
    save("values.npy", THREE)
    save("four.npy", np.ones(4, "f4"))
    save("grid.npy", np.ones((1, 3), "f4"))
    save("bool.npy", np.ones(3, "?"))
    new = ["--out", "box/new.npy"]
    refused(2, ["four.npy has 4 keys", "values.npy has 3 values"], SCAN, "four.npy", *new)
    refused(2, ["--in", "grid.npy", "dimension"], SCAN, "grid.npy", *new)
    refused(2, ["--values", "grid.npy", "dimension"], "run scan_by_key --values grid.npy --in", BYTES, *new)
    refused(2, ["--values", "bool.npy", "bool"], "run scan_by_key --values bool.npy --in", BYTES, *new)
    refused(2, "--values", "run scan_by_key --in", BYTES, *new)
    refused(2, ["--op", "mean"], SCAN, BYTES, "--op", "mean", *new)
