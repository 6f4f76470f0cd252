"""`concord run matmul`."""

import numpy as np
import pytest

from program import gives, refused, save, unknown_variant_is_refused

LEFT = np.arange(1, 7, dtype="f4").reshape(2, 3)
RIGHT = np.array([[1, 0], [2, 1], [0, 3]], "f4")


def matmul(left, right, *arguments):
    return ["run", "matmul", "--in", left, "--in", right, *arguments]


def test_product(device):
    gives(np.array([[5, 11], [14, 23]], "f4"), *matmul(LEFT, RIGHT, "--device", device))


def test_inner_dimension_of_zero(device):
    gives(np.zeros((2, 2), "f4"), *matmul(np.empty((2, 0), "f4"), np.empty((0, 2), "f4"), "--device", device))


def test_unknown_variant(device):
    unknown_variant_is_refused("matmul", device, "--in", LEFT, "--in", RIGHT)


def test_one_input():
    refused(2, "got 1", "run matmul --in", LEFT, "--out", "box/new.npy")


@pytest.mark.parametrize(
    "words, left, right",
    [
        ("two dimensions", "left.npy", "three.npy"),
        (["left.npy", "f32 (2, 3)", "double.npy", "f64 (3, 2)"], "left.npy", "double.npy"),
        (["left.npy", "f32 (2, 3)", "shapes"], "left.npy", "left.npy"),
        (["integers.npy", "i32", "f32", "f64"], "integers.npy", "integers.npy"),
    ],
)
def test_refused_inputs(words, left, right):
    save("left.npy", LEFT)
    save("three.npy", np.ones(3, "f4"))
    save("double.npy", RIGHT.astype("f8"))
    save("integers.npy", np.ones((2, 2), "i4"))
    refused(2, words, *matmul(left, right, "--out", "box/new.npy"))
