"""`concord run sort`."""

import numpy as np
import pytest

from program import BYTES, THREE, TYPES, bits, gives, holds, on_devices, refused, save, unknown_variant_is_refused

KEYS = [5, 0, 100, 7, 2, 2, 11, 3, 0, 8]
KERNELS, MORE = ["f32"], ["u64"]
ORDERS = {"up": [], "down": ["--descending"]}


def places(order):
    """The permutation that sorts the keys. Equal keys keep their order in both directions."""
    return sorted(range(len(KEYS)), key=lambda i: KEYS[i], reverse=order == "down")


def with_orders(names):
    return [(order, name) for name in names for order in ORDERS]


@on_devices("order, name", with_orders(TYPES), with_orders(KERNELS), with_orders(MORE))
def test_keys(device, order, name):
    keys = np.array(KEYS, TYPES[name])
    gives(keys[places(order)], "run sort --in", keys, *ORDERS[order], "--device", device)


@on_devices("order, name", with_orders(TYPES), with_orders(KERNELS), with_orders(MORE))
def test_values(device, order, name):
    keys = np.array(KEYS, TYPES[name])
    values = np.arange(1, 11, dtype="i2")
    arguments = ["--values", values, "--out-values", "box/values.npy", "--device", device]
    gives(keys[places(order)], "run sort --in", keys, *ORDERS[order], *arguments)
    holds("box/values.npy", values[places(order)])


@on_devices(
    "count, name",
    [(count, name) for count in (0, 1) for name in TYPES],
    [(count, name) for count in (0, 1) for name in KERNELS],
    [(count, name) for count in (0, 1) for name in MORE],
)
def test_at_most_one_key(device, count, name):
    keys = np.full(count, 3, TYPES[name])
    gives(keys, "run sort --in", keys, "--device", device)


def test_signed_integers(device):
    keys = np.array([-128, 127, -1, 0, 1], "i1")
    gives(np.array([-128, -1, 0, 1, 127], "i1"), "run sort --in", keys, "--device", device)


@pytest.mark.parametrize("order", ORDERS)
def test_total_order(device, order):
    # -nan, -nan (signalling), -inf, -1, the least negative number, -0, 0, 1, inf, nan
    ordered = [0xFFC00000, 0xFF812345, 0xFF800000, 0xBF800000, 0x80000001]
    ordered += [0x80000000, 0, 0x3F800000, 0x7F800000, 0x7FC12345]
    ordered = bits(ordered, "f4")
    keys = ordered[[6, 9, 2, 5, 1, 7, 8, 4, 0, 3]]
    gives(ordered if order == "up" else ordered[::-1], "run sort --in", keys, *ORDERS[order], "--device", device)


@pytest.mark.parametrize("shape", [(1, 3), ()], ids=str)
def test_other_dimensions(shape):
    save("other.npy", np.ones(shape, "u1"))
    words = ["sort", "other.npy", "dimension"]
    refused(2, words, "run sort --in other.npy --out box/new.npy")
    refused(2, words, "run sort --values other.npy --out box/new.npy --out-values box/kept.npy --in", THREE)


def test_values_of_another_length():
    save("three.npy", THREE)
    save("pair.npy", BYTES[:2])
    arguments = ["--in", "three.npy", "--values", "pair.npy", "--out", "box/new.npy", "--out-values", "box/kept.npy"]
    refused(2, ["three.npy", "3 keys", "pair.npy", "2 values"], "run sort", *arguments)


def test_values_and_their_output_require_each_other():
    words = ["--values", "--out-values"]
    refused(2, words, "run sort --in", THREE, "--values", BYTES, "--out", "box/new.npy")
    refused(2, words, "run sort --in", THREE, "--out-values", "box/new.npy", "--out", "box/kept.npy")


CUBE = (np.arange(5 * 6 * 7, dtype="f4") * 37 % 23 - 9).reshape(5, 6, 7)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_axis(axis):
    gives(np.sort(CUBE, axis), "run sort --axis", axis, "--in", CUBE, "--device", "tbb")
    gives(-np.sort(-CUBE, axis), "run sort --descending --axis", axis, "--in", CUBE, "--device", "tbb")


@on_devices("name", TYPES, ["f32"])
def test_an_axis_of_a_type(device, name):
    keys = (np.arange(300).reshape(3, 100) * 37 % 23).astype(TYPES[name])
    gives(np.sort(keys, 0), "run sort --axis 0 --in", keys, "--device", device)
    values = np.arange(300, dtype="i2").reshape(3, 100)
    arguments = ["--values", values, "--out-values", "box/values.npy", "--device", device]
    gives(np.sort(keys, 1), "run sort --axis 1 --in", keys, *arguments)
    holds("box/values.npy", np.take_along_axis(values, np.argsort(keys, 1, kind="stable"), 1))


@pytest.mark.parametrize("text, words", [
    ("3", ["--axis", "got 3", "rank 3"]),
    ("-4", ["--axis", "got -4"]),
    ("x", ["--axis", "got 'x'"]),
])
def test_bad_axes(text, words):
    refused(2, words, "run sort --axis", text, "--in", CUBE, "--out", "box/new.npy")


NANS = np.array([3, np.nan, -0.0, 0, -np.inf, -np.nan, 5, -0.0, np.inf, 3], "f4")


def test_nan_last(device):
    order = np.argsort(NANS, kind="stable")
    arguments = ["--values", np.arange(10, dtype="u2"), "--out-values", "box/values.npy", "--device", device]
    gives(NANS[order], "run sort --nan last --in", NANS, *arguments)
    holds("box/values.npy", order.astype("u2"))
    gives(NANS[[1, 5]], "run sort --nan last --in", NANS[[1, 5]], "--device", device)
    table = np.stack([NANS, NANS[::-1]])
    gives(np.take_along_axis(table, np.argsort(table, 1, kind="stable"), 1), "run sort --nan last --axis 1 --in", table, "--device", device)
    # Descending, NaNs are last too.
    gives(np.array([np.inf, 5, 3, 3, -0.0, 0, -0.0, -np.inf, np.nan, -np.nan], "f4"), "run sort --nan last --descending --in", NANS, "--device", device)


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_indices(device, axis):
    x = (np.arange(42, dtype="f4") * 37 % 11 - 5).reshape((42,) if axis is None else (6, 7))
    options = [] if axis is None else ["--axis", axis]
    gives(np.sort(x, axis or 0), "run sort --out-indices box/places.npy", *options, "--in", x, "--device", device)
    holds("box/places.npy", np.argsort(x, axis or 0, kind="stable").astype("u8"))


def test_indices_and_values_exclude_each_other():
    refused(2, ["--out-indices", "--values"], "run sort --out-indices box/places.npy --out-values box/kept.npy --values", THREE, "--in",
            THREE, "--out", "box/new.npy")


def test_unknown_order_of_nan():
    refused(2, ["--nan", "first"], "run sort --nan first --in", NANS, "--out", "box/new.npy")


@pytest.mark.parametrize("order", ORDERS)
def test_bool(device, order):
    keys = np.array([1, 0, 2, 0, 255, 0], "u1").view("?")
    expected = np.sort(keys.view("u1") != 0)
    gives(expected if order == "up" else expected[::-1], "run sort --in", keys, *ORDERS[order], "--device", device)
    grid = np.stack([keys, keys[::-1]])
    expected = np.sort(grid.view("u1") != 0, 0)
    gives(expected if order == "up" else expected[::-1], "run sort --axis 0 --in", grid, *ORDERS[order], "--device", device)


def test_values_of_another_shape():
    words = ["keys of shape (5, 6, 7)", "values of shape (7, 6, 5)"]
    arguments = ["--values", CUBE.T.copy(), "--out", "box/new.npy", "--out-values", "box/kept.npy"]
    refused(2, words, "run sort --axis 0 --in", CUBE, *arguments)


def test_axes_have_one_variant():
    refused(2, ["merge", "does not support axes", "lines"], "run sort --axis 0 --variant merge --in", CUBE, "--device", "tbb", "--out", "box/new.npy")


def test_two_inputs():
    refused(2, "got 2", "run sort --in", THREE, "--in", BYTES, "--out", "box/new.npy")


def test_unknown_variant(device):
    unknown_variant_is_refused("sort", device, "--in", BYTES)
