"""`concord run segmented_sort`."""

import numpy as np
import pytest

from program import BYTES, TYPES, gives, on_devices, refused, save

OFFSETS = [0, 0, 5, 9, 300, 1000]


def in_order(x, offsets, **order):
    return np.concatenate([np.sort(x[a:b], kind="stable")[::-1 if order else 1] for a, b in zip(offsets[:-1], offsets[1:])])


@on_devices("name", TYPES, ["f32"], ["u64"])
def test_keys(device, name):
    x = (np.arange(1000) * 7919 % 1009 - (500 if np.dtype(TYPES[name]).kind != "u" else 0)).astype(TYPES[name])
    save("offsets.npy", np.array(OFFSETS))
    gives(in_order(x, OFFSETS), "run segmented_sort --offsets offsets.npy --in", x, "--device", device)


def test_pairs_and_descending():
    x = (np.arange(1000) * 7919 % 1009).astype("f4")
    save("offsets.npy", np.array(OFFSETS, "u4"))
    save("values.npy", np.arange(1000, dtype="i8"))
    gives(in_order(x, OFFSETS, descending=True), "run segmented_sort --offsets offsets.npy --descending --values values.npy "
          "--out-values moved.npy --in", x, "--device", "tbb")
    order = np.load("moved.npy")
    assert x[order].tolist() == in_order(x, OFFSETS, descending=True).tolist()


def test_nan_last():
    x = np.array([np.nan, 2, -np.nan, -1, 5, np.nan, 3], "f8")
    save("offsets.npy", np.array([0, 4, 7]))
    gives(np.array([-1, 2, np.nan, -np.nan, 3, 5, np.nan]), "run segmented_sort --nan last --offsets offsets.npy --in", x, "--device", "tbb")


@pytest.mark.parametrize("offsets, words", [
    (np.array([0, 3, 2, 1000]), "offset 2 at index 2 is less than the one before it, 3"),
    (np.array([0, 1001], "u4"), "offset 1001 at index 1 exceeds the 1000 elements"),
    (np.array([1, 1000]), "the first offset must be 0, got 1; each element must be in a segment"),
    (np.array([0, 999]), "the last offset must be 1000, got 999; each element must be in a segment"),
    (np.array([0.0, 1000.0]), "must have type u32, u64, i32 or i64, got f64"),
    (np.array([], "u4"), "offsets.npy is empty"),
])
def test_wrong_offsets(offsets, words):
    save("offsets.npy", offsets)
    refused(2, ["--offsets", words], "run segmented_sort --offsets offsets.npy --in", np.ones(1000, "f4"), "--out", "box/new.npy")


def test_bad_arguments():
    save("offsets.npy", np.array([0, BYTES.size]))
    save("values.npy", np.arange(4))
    refused(2, "--offsets", "run segmented_sort --in", BYTES, "--out", "box/new.npy")
    refused(2, "--out-values", "run segmented_sort --offsets offsets.npy --values values.npy --in", BYTES, "--out", "box/new.npy")
    refused(2, ["4 values", "pass one value per key"], "run segmented_sort --offsets offsets.npy --values values.npy "
            "--out-values box/v.npy --in", BYTES, "--out", "box/new.npy")
