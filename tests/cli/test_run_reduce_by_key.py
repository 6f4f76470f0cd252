"""`concord run reduce_by_key`."""

import numpy as np
import pytest

from program import BYTES, THREE, TYPES, concord, gives, holds, on_devices, refused, save, unknown_variant_is_refused
from runs import SPECIAL, inputs, starts

REDUCE = "run reduce_by_key --values values.npy --out-values box/results.npy --in"
FUNCTIONS = {"sum": np.add, "product": np.multiply, "min": np.minimum, "max": np.maximum}


def combined(op, keys, values):
    """The values of each run of keys, combined in their type."""
    return FUNCTIONS[op].reduceat(values, starts(keys), dtype=values.dtype) if keys.size else values


@on_devices("name", TYPES, ["f32"], ["u64"])
def test_types_of_keys(device, name):
    for keys in inputs(name):
        save("values.npy", values := (np.arange(keys.size) % 13).astype("f4"))
        gives(keys[starts(keys)], REDUCE, keys, "--device", device)
        holds("box/results.npy", combined("sum", keys, values))


@on_devices("op, name", [(op, name) for op in FUNCTIONS for name in TYPES], [("max", "f32")], [("product", "u64")])
def test_operators(device, op, name):
    keys = inputs("i32")[-2]
    # Products of few elements are not 1. All results are exact.
    save("values.npy", values := np.where(np.arange(keys.size) % 50, 1, 2).astype(TYPES[name]))
    gives(keys[starts(keys)], REDUCE, keys, "--op", op, "--device", device)
    holds("box/results.npy", combined(op, keys, values))


def test_keys_of_nan_and_zeros(device):
    save("values.npy", np.arange(10, dtype="f4"))
    gives(SPECIAL[starts(SPECIAL)], REDUCE, SPECIAL, "--device", device)
    holds("box/results.npy", np.array([0, 1, 2, 7, 5, 13, 8, 9], "f4"))


def test_values_of_nan():
    save("values.npy", np.array([1, np.nan, 3, 4], "f4"))
    gives(np.array([0, 1]), REDUCE, np.array([0, 0, 1, 1]), "--op", "max", "--device", "tbb")
    results = np.load("box/results.npy")
    assert np.isnan(results[0]) and results[1] == 4


def test_keys_of_bool(device):
    save("values.npy", np.arange(7, dtype="f4"))
    flags = np.array([0, 1, 2, 255, 0, 0, 3], "u1").view("?")
    gives(np.array([False, True, False, True]), REDUCE, flags, "--device", device)
    holds("box/results.npy", np.array([0, 6, 9, 6], "f4"))


@pytest.mark.parametrize("name", ["f32", "f64"])
def test_results_are_bitwise_those_of_reduce(name):
    values = np.random.default_rng(1).standard_normal(9000).astype(TYPES[name])
    keys = np.repeat(np.arange(4), [1, 99, 900, 8000])
    save("values.npy", values)
    expected = []
    for part in np.split(values, [1, 100, 1000]):
        assert concord("run reduce --in", part, "--out", "sum.npy", "--device", "tbb").status == 0
        expected.append(np.load("sum.npy"))
    gives(np.arange(4), REDUCE, keys, "--device", "tbb")
    holds("box/results.npy", np.array(expected))


def test_unknown_variant(device):
    save("values.npy", BYTES)
    unknown_variant_is_refused("reduce_by_key", device, "--values", "values.npy", "--out-values", "box/results.npy", "--in", BYTES)


def test_bad_arguments():
    save("values.npy", THREE)
    save("four.npy", np.ones(4, "f4"))
    save("grid.npy", np.ones((1, 3), "f4"))
    save("bool.npy", np.ones(3, "?"))
    new = ["--out", "box/new.npy"]
    results = ["--out-values", "box/results.npy"]
    refused(2, ["four.npy has 4 keys", "values.npy has 3 values"], REDUCE, "four.npy", *new)
    refused(2, ["--in", "grid.npy", "dimension"], REDUCE, "grid.npy", *new)
    refused(2, ["--values", "grid.npy", "dimension"], "run reduce_by_key --values grid.npy --in", BYTES, *results, *new)
    refused(2, ["--values", "bool.npy", "bool"], "run reduce_by_key --values bool.npy --in", BYTES, *results, *new)
    refused(2, "--values", "run reduce_by_key --in", BYTES, *results, *new)
    refused(2, "--out-values", "run reduce_by_key --values values.npy --in", BYTES, *new)
    refused(2, ["--op", "mean"], REDUCE, BYTES, "--op", "mean", *new)
