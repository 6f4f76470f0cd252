"""`concord run run_length_encode`."""

import io
import subprocess

import numpy as np
import pytest

from program import BYTES, PROGRAM, TYPES, gives, holds, on_devices, refused, save, unknown_variant_is_refused
from runs import SPECIAL, inputs, lengths, starts

ENCODE = "run run_length_encode --out-values box/lengths.npy --in"


@on_devices("name", TYPES, ["f32"], ["u8", "u64"])
def test_values_and_lengths(device, name):
    for x in inputs(name):
        gives(x[starts(x)], ENCODE, x, "--device", device)
        holds("box/lengths.npy", lengths(x))


def test_nan_and_zeros(device):
    gives(SPECIAL[starts(SPECIAL)], ENCODE, SPECIAL, "--device", device)
    holds("box/lengths.npy", np.array([1, 1, 1, 2, 1, 2, 1, 1], "u8"))


def test_bool(device):
    flags = np.array([0, 1, 2, 255, 0, 0, 3], "u1").view("?")
    gives(np.array([False, True, False, True]), ENCODE, flags, "--device", device)
    holds("box/lengths.npy", np.array([1, 3, 2, 1], "u8"))


def test_output_that_is_the_input():
    x = np.repeat(np.arange(7, dtype="i4"), 5)
    save("x.npy", x)
    gives(np.arange(7, dtype="i4"), "run run_length_encode --out-values x.npy --in x.npy --device tbb")
    holds("x.npy", np.full(7, 5, "u8"))


@pytest.mark.parametrize("x", [np.repeat(np.arange(7, dtype="i4"), 5), np.empty(0, "i4")], ids=["runs", "empty"])
@pytest.mark.parametrize("values, out_lengths", [("-", "lengths.npy"), ("/dev/stdout", "lengths.npy"), ("values.npy", "/dev/stdout")])
def test_standard_output(x, values, out_lengths):
    """Either output may be a pipe, whose beginning cannot be written again."""
    command = [PROGRAM, *"run run_length_encode --device tbb --in".split(), save("x.npy", x), "--out", values, "--out-values", out_lengths]
    done = subprocess.run(command, capture_output=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    pipe = io.BytesIO(done.stdout)
    kept, counts = x[starts(x)], lengths(x)
    if out_lengths == "lengths.npy":
        assert np.array_equal(np.load(pipe), kept)
        holds("lengths.npy", counts)
    else:
        assert np.array_equal(np.load(pipe), counts)
        holds("values.npy", kept)


@pytest.mark.parametrize("shape", [(1, 3), ()], ids=str)
def test_other_dimensions(shape):
    save("other.npy", np.ones(shape, "u1"))
    refused(2, ["--in", "other.npy", "dimension"], f"{ENCODE} other.npy --out box/new.npy")


def test_unknown_variant(device):
    unknown_variant_is_refused("run_length_encode", device, "--out-values", "box/lengths.npy", "--in", BYTES)


def test_bad_arguments():
    refused(2, "--out-values", "run run_length_encode --in", BYTES, "--out", "box/new.npy")
    refused(2, ["'-'", "only --out"], "run run_length_encode --out-values - --in", BYTES, "--out", "box/new.npy")
    refused(2, ["'box/new.npy'", "outputs"], "run run_length_encode --out-values box/new.npy --in", BYTES, "--out", "box/new.npy")
