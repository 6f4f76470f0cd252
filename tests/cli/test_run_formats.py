""".npy files as inputs of `concord run`."""

import os
import struct

import numpy as np
import pytest

from program import concord, gives, holds, raw_npy, refused, fresh_box

GOOD = np.array([1, 2, 3], "i4")


def map_of(data, *arguments, name="x.npy"):
    """The arguments of a map of a file with this content."""
    with open(name, "wb") as file:
        file.write(data)
    return ["run", "map", "--in", name, "--device", "tbb", *arguments]


@pytest.mark.parametrize("major", [1, 2, 3])
def test_format(major):
    gives(GOOD, *map_of(raw_npy(major=major)))


def test_numpys_own_file():
    gives(GOOD, "run map --in", GOOD, "--device", "tbb")


@pytest.mark.parametrize("algorithm, out", [("map", "box/new.npy"), ("reduce", "box/kept.npy")])
@pytest.mark.parametrize(
    "data, words",
    [
        pytest.param(raw_npy()[:9], "truncated", id="within the magic"),
        pytest.param(raw_npy()[:60], "truncated", id="within the header"),
        pytest.param(raw_npy()[:-1], "truncated", id="within the data"),
        pytest.param(raw_npy().replace(b"NUMPY", b"NUMPX"), "npy file", id="wrong magic"),
        pytest.param(b"one,two,three\n", "npy file", id="text"),
        pytest.param(b"", "npy file", id="empty"),
        pytest.param(raw_npy(major=4), "4.0", id="unknown version"),
        pytest.param(raw_npy(order="True"), "Fortran", id="Fortran order"),
        pytest.param(raw_npy(descr="'>i4'"), "big-endian", id="big-endian"),
        pytest.param(raw_npy(descr="'<m8[s]'", shape="(1,)"), "times", id="times"),
        pytest.param(raw_npy(descr="'|O'", shape="(1,)"), "object", id="objects"),
        pytest.param(raw_npy(descr="'<c8'", shape="(1,)"), "complex", id="complex"),
        pytest.param(raw_npy(descr="'<f2'", shape="(6,)"), "half", id="half precision"),
        pytest.param(raw_npy(descr="'<U3'", shape="(1,)"), "text", id="strings"),
        pytest.param(raw_npy(descr="[('x', '<i4'), ('y', '<i4')]", shape="(1,)"), "struct", id="structures"),
        pytest.param(raw_npy(shape="(4,)"), ["16 bytes", "12"], id="less data than the shape"),
        pytest.param(raw_npy(shape="(4611686018427387904, 4)"), "64 bits", id="shape beyond 64 bits"),
        pytest.param(raw_npy(shape="(3"), "tuple", id="open tuple"),
        pytest.param(raw_npy(shape="(-3,)"), "tuple", id="negative length"),
    ],
)
def test_unusable_file(data, words, algorithm, out):
    with open("input.npy", "wb") as file:
        file.write(data)
    result = refused(2, words, "run", algorithm, "--in", "input.npy", "--out", out, "--device", "tbb")
    assert "input.npy" in result.err


@pytest.mark.parametrize("algorithm, out", [("map", "box/new.npy"), ("reduce", "box/kept.npy")])
@pytest.mark.parametrize("kind", ["missing", "folder", "pipe"])
def test_what_is_not_a_regular_file(folder, kind, algorithm, out):
    name = {"missing": "missing.npy", "folder": str(folder), "pipe": "pipe.npy"}[kind]
    if kind == "pipe":
        os.mkfifo(name)
    words = "No such file" if kind == "missing" else "regular file"
    refused(2, [name, words], "run", algorithm, "--in", name, "--out", out, "--device", "tbb")


def test_second_input_is_truncated():
    for name, data in (("good.npy", raw_npy()), ("short.npy", raw_npy()[:-1])):
        with open(name, "wb") as file:
            file.write(data)
    refused(2, "short.npy", "run add --in good.npy --in short.npy --out box/kept.npy --device tbb")


def test_bytes_after_the_array_give_a_warning():
    fresh_box()
    result = concord(*map_of(raw_npy() + b"xy", "--out", "box/new.npy", "--json", name="trailing.npy"))
    assert result.status == 0, result
    assert "trailing.npy" in result.err and "2 bytes" in result.err, result
    assert result.json()["shape"] == [3]
    holds("box/new.npy", GOOD)


def test_log_level_hides_the_warning():
    gives(GOOD, *map_of(raw_npy() + b"xy", "--log-level", "error"))


def test_header_by_hand_is_numpys():
    with open("x.npy", "wb") as file:
        file.write(raw_npy(struct.pack("<3i", 5, 6, 7)))
    assert np.load("x.npy").tolist() == [5, 6, 7]
