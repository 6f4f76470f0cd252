"""`concord run convolve`."""

import numpy as np
import pytest

from program import gives, refused, save, unknown_variant_is_refused

IMAGE = np.array([[1, 2, 4], [8, 16, 32]], "f4")
MASK = np.array([[1], [10], [100]], "f4")


def convolve(image, mask, *arguments):
    return ["run", "convolve", "--in", image, "--in", mask, *arguments]


def test_zeros_outside(device):
    gives(np.array([[810, 1620, 3240], [81, 162, 324]], "f4"), *convolve(IMAGE, MASK, "--device", device))


@pytest.mark.parametrize("pixel", ["f4", "u1"])
def test_border_outside(device, pixel):
    expected = np.array([[811, 1622, 3244], [881, 1762, 3524]], "f4")
    gives(expected, *convolve(IMAGE.astype(pixel), MASK, "--border", "clamp", "--device", device))


def test_f64(device):
    expected = np.array([[210, 421, 42], [1680, 3368, 336]], "f8")
    gives(expected, *convolve(IMAGE.astype("f8"), MASK.T.astype("f8"), "--device", device))


def test_no_rows(device):
    gives(np.empty((0, 3), "f4"), *convolve(np.empty((0, 3), "f4"), MASK, "--device", device))


@pytest.mark.parametrize(
    "words, image, mask, options",
    [
        (["three.npy", "(3,)", "two dimensions"], "three.npy", "mask.npy", []),
        (["three.npy", "(3,)", "two dimensions"], "image.npy", "three.npy", []),
        (["even.npy", "(2, 3)", "odd", "31"], "image.npy", "even.npy", []),
        (["double.npy", "f64", "f32"], "image.npy", "double.npy", []),
        (["integers.npy", "i32", "u8", "f32", "f64"], "integers.npy", "mask.npy", []),
        ("mirror", "image.npy", "mask.npy", ["--border", "mirror"]),
    ],
)
def test_refused_inputs(words, image, mask, options):
    save("image.npy", IMAGE)
    save("mask.npy", MASK)
    save("three.npy", np.ones(3, "f4"))
    save("even.npy", np.ones((2, 3), "f4"))
    save("double.npy", np.ones((3, 1), "f8"))
    save("integers.npy", np.ones((2, 2), "i4"))
    refused(2, words, *convolve(image, mask, "--out", "box/new.npy", *options))


def test_one_input():
    refused(2, "got 1", "run convolve --in", IMAGE, "--out", "box/kept.npy")


def test_unknown_variant(device):
    unknown_variant_is_refused("convolve", device, "--in", IMAGE, "--in", MASK)
