"""`concord run transpose`."""

import numpy as np
import pytest

from program import BYTES, TYPES, bits, gives, on_devices, refused, unknown_variant_is_refused


@on_devices("name", TYPES, ["u8", "f32"], ["u16", "u32", "u64", "f64"])
def test_matrix(device, name):
    matrix = np.arange(1, 7).reshape(2, 3).astype(TYPES[name])
    gives(matrix.T, "run transpose --in", matrix, "--device", device)


@pytest.mark.parametrize("name", TYPES)
def test_no_rows(device, name):
    gives(np.empty((3, 0), TYPES[name]), "run transpose --in", np.empty((0, 3), TYPES[name]), "--device", device)


def test_bits_of_nans_are_kept(device):
    matrix = bits([[0x7FC12345, 0x80000000], [0x7F800000, 0xFF812345]], "f4")
    gives(matrix.T, "run transpose --in", matrix, "--device", device)


def test_one_row(device):
    line = np.array([[1, 2, 3, 4]], "i8")
    gives(line.T, "run transpose --in", line, "--device", device)


@pytest.mark.parametrize("shape", [(3,), (), (1, 3, 1)], ids=str)
def test_other_dimensions(shape):
    refused(2, "two dimensions", "run transpose --in", np.ones(shape, "u1"), "--out", "box/new.npy")


def test_unknown_variant(device):
    unknown_variant_is_refused("transpose", device, "--in", BYTES[None])
