"""`concord run segmented_scan`."""

import numpy as np
import pytest

from program import BYTES, TYPES, concord, gives, on_devices, refused, save, unknown_variant_is_refused

OFFSETS = [0, 0, 5, 9, 300, 1000]
SCAN = "run segmented_scan --offsets offsets.npy --in"
FUNCTIONS = {"sum": np.add, "product": np.multiply, "min": np.minimum, "max": np.maximum}


def scanned(op, x, offsets):
    return np.concatenate([FUNCTIONS[op].accumulate(x[a:b], dtype=x.dtype) for a, b in zip(offsets[:-1], offsets[1:])])


@on_devices("op, name", [(op, name) for op in FUNCTIONS for name in TYPES], [("sum", "f32")], [("max", "u64")])
def test_operators(device, op, name):
    # All results are exact.
    x = np.where(np.arange(1000) % 50, 1, 2).astype(TYPES[name])
    save("offsets.npy", np.array(OFFSETS))
    gives(scanned(op, x, OFFSETS), SCAN, x, "--op", op, "--device", device)


def test_exclusive(device):
    x = (np.arange(1000) % 7).astype("f4")
    save("offsets.npy", np.array(OFFSETS))
    gives(scanned("sum", x, OFFSETS) - x, SCAN, x, "--exclusive", "--device", device)


@pytest.mark.parametrize("dtype", ["u4", "i4", "u8", "i8"])
def test_types_of_offsets(dtype):
    x = np.arange(1000, dtype="f8")
    save("offsets.npy", np.array(OFFSETS, dtype))
    gives(scanned("sum", x, OFFSETS), SCAN, x, "--device", "tbb")


def test_no_elements():
    save("offsets.npy", np.array([0, 0, 0]))
    gives(np.empty(0, "f4"), SCAN, np.empty(0, "f4"), "--device", "tbb")


@pytest.mark.parametrize("name", ["f32", "f64"])
def test_results_are_bitwise_those_of_scan(name):
    x = np.random.default_rng(1).standard_normal(9000).astype(TYPES[name])
    expected = []
    for part in np.split(x, [1, 100, 1000]):
        assert concord("run scan --in", part, "--out", "part.npy", "--device", "tbb").status == 0
        expected.append(np.load("part.npy"))
    save("offsets.npy", np.array([0, 1, 100, 1000, 9000]))
    gives(np.concatenate(expected), SCAN, x, "--device", "tbb")


@pytest.mark.parametrize("offsets, words", [
    (np.array([0, 3, 2]), "offset 2 at index 2 is less than the one before it, 3"),
    (np.array([0, 1001], "u4"), "offset 1001 at index 1 exceeds the 1000 elements"),
    (np.array([2, 1000]), "the first offset must be 0, got 2; each element must be in a segment"),
    (np.array([0, 999]), "the last offset must be 1000, got 999; each element must be in a segment"),
    (np.array([0.0, 1.0]), "must have type u32, u64, i32 or i64, got f64"),
    (np.array([], "u4"), "offsets.npy is empty"),
])
def test_wrong_offsets(offsets, words):
    save("offsets.npy", offsets)
    refused(2, ["--offsets", words], SCAN, np.ones(1000, "f4"), "--out", "box/new.npy")


def test_unknown_variant(device):
    save("offsets.npy", np.array([0, BYTES.size]))
    unknown_variant_is_refused("segmented_scan", device, "--offsets", "offsets.npy", "--in", BYTES)


def test_bad_arguments():
    save("grid.npy", np.ones((2, 3), "u1"))
    save("offsets.npy", np.array([0, 1]))
    refused(2, ["--in", "grid.npy", "dimension"], SCAN, "grid.npy", "--out", "box/new.npy")
    refused(2, "--offsets", "run segmented_scan --in", BYTES, "--out", "box/new.npy")
    refused(2, ["--op", "mean"], "run segmented_scan --op mean --offsets offsets.npy --in", BYTES, "--out", "box/new.npy")
