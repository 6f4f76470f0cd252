"""`concord run segmented_reduce`."""

import numpy as np
import pytest

from program import BYTES, TYPES, gives, on_devices, refused, save

OFFSETS = [2, 2, 5, 9, 300, 1000]


def sums(x, offsets):
    return np.array([x[a:b].sum(dtype=x.dtype) for a, b in zip(offsets[:-1], offsets[1:])], x.dtype)


@on_devices("name", TYPES, ["f32"], ["u64"])
def test_sums(device, name):
    x = (np.arange(1000) % 7).astype(TYPES[name])
    save("offsets.npy", np.array(OFFSETS))
    gives(sums(x, OFFSETS), "run segmented_reduce --offsets offsets.npy --in", x, "--device", device)


@pytest.mark.parametrize("dtype", ["u4", "i4", "u8", "i8"])
def test_types_of_offsets(dtype):
    x = np.arange(1000, dtype="f8")
    save("offsets.npy", np.array(OFFSETS, dtype))
    gives(np.array([-np.inf, 4, 8, 299, 999]), "run segmented_reduce --op max --offsets offsets.npy --in", x, "--device", "tbb")


def test_no_segments():
    save("offsets.npy", np.array([2]))
    gives(np.empty(0, "u1"), "run segmented_reduce --offsets offsets.npy --in", BYTES, "--device", "tbb")


@pytest.mark.parametrize("offsets, words", [
    (np.array([0, 3, 2]), "offset 2 at index 2 is less than the one before it, 3"),
    (np.array([-1, 3]), "offset -1 at index 0 is negative"),
    (np.array([0, 1001], "u4"), "offset 1001 at index 1 exceeds the 1000 elements"),
    (np.array([0.0, 1.0]), "must have type u32, u64, i32 or i64, got f64"),
    (np.array([], "u4"), "offsets.npy is empty"),
    (np.array([[0, 1]]), "offsets.npy must have one dimension"),
])
def test_wrong_offsets(offsets, words):
    save("offsets.npy", offsets)
    refused(2, ["--offsets", words], "run segmented_reduce --offsets offsets.npy --in", np.ones(1000, "f4"), "--out", "box/new.npy")


def test_bad_arguments():
    save("grid.npy", np.ones((2, 3), "u1"))
    save("offsets.npy", np.array([0, 1]))
    refused(2, ["--in", "grid.npy", "dimension"], "run segmented_reduce --offsets offsets.npy --in grid.npy --out box/new.npy")
    refused(2, "--offsets", "run segmented_reduce --in", BYTES, "--out", "box/new.npy")
    refused(2, ["--op", "mean"], "run segmented_reduce --op mean --offsets offsets.npy --in", BYTES, "--out", "box/new.npy")
