"""`concord run` with `-`, which stands for standard input and standard output."""

import io
import os
import subprocess

import numpy as np
import pytest

from program import PROGRAM, THREE, fresh_box, box_is_untouched, refused, save

MAP = ["run", "map", "--function", "negate", "--device", "tbb"]


def piped(*arguments, data=b"", stdin=None):
    """Runs the program with bytes on standard input. Returns status, the bytes on stdout, and the text on stderr."""
    source = {"stdin": stdin} if stdin else {"input": data}
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, timeout=300, check=False, **source)
    return done.returncode, done.stdout, done.stderr.decode()


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def array_of(data):
    """The array that the bytes hold, which must be one .npy file and nothing else."""
    file = io.BytesIO(data)
    array = np.load(file)
    assert file.read() == b""
    return array


@pytest.mark.parametrize("array", [THREE, np.zeros((0,), "f4"), np.arange(3000000, dtype="i4"), np.ones((2, 3), "f8")])
def test_filter(array):
    status, out, err = piped(*MAP, "--in", "-", "--out", "-", data=npy(array))
    assert status == 0, err
    assert np.array_equal(array_of(out), -array)
    assert err.startswith("map/") and "-> standard output" in err and err.count("\n") == 1
    assert os.listdir() == []


def test_input_file_as_standard_input():
    with open(save("three.npy", THREE), "rb") as file:
        status, out, err = piped(*MAP, "--in", "-", "--out", "-", stdin=file)
    assert status == 0 and np.array_equal(array_of(out), -THREE), err


def test_input_file_that_is_partly_read():
    with open("two.npy", "wb") as file:
        file.write(b"line\n" + npy(THREE))
    with open("two.npy", "rb") as file:
        file.seek(5)
        os.lseek(file.fileno(), 5, os.SEEK_SET)
        status, out, err = piped(*MAP, "--in", "-", "--out", "-", stdin=file)
    assert status == 0 and np.array_equal(array_of(out), -THREE), err


def test_one_of_two_inputs():
    status, out, err = piped("run", "add", "--in", "-", "--in", save("b.npy", THREE), "--out", "-", data=npy(THREE))
    assert status == 0 and np.array_equal(array_of(out), THREE + THREE), err


@pytest.mark.parametrize("algorithm", [["map", "--function", "negate"], ["compact", "--keep", "even"]])
def test_segments(algorithm):
    """The length of compact's output is known only at the end."""
    array = np.arange(100000, dtype="i4")
    status, out, err = piped("run", *algorithm, "--device", "tbb", "--in", "-", "--out", "-", "--chunk", "64K", data=npy(array))
    assert status == 0 and " segments" in err, err
    assert np.array_equal(array_of(out), array[::2] if algorithm[0] == "compact" else -array)


def test_output_to_another_file():
    status, out, err = piped(*MAP, "--in", "-", "--out", "out.npy", "--json", data=npy(THREE))
    assert status == 0 and out.startswith(b"{\n") and np.array_equal(np.load("out.npy"), -THREE), err


@pytest.mark.parametrize("data", [b"", b"\x93NUM", npy(THREE)[:9], npy(THREE)[:60], npy(THREE)[:-1], b"not an array, but long enough"])
def test_damaged_input(data):
    fresh_box()
    status, out, err = piped(*MAP, "--in", "-", "--out", "box/kept.npy", data=data)
    assert status == 2 and out == b"" and err.startswith("concord: standard input: ") and err.count("\n") == 1, err
    box_is_untouched()


def test_nothing_is_written_if_the_run_fails():
    status, out, err = piped(*MAP, "--in", "-", "--out", "-", "--variant", "nosuch", data=npy(THREE))
    assert status == 2 and out == b"" and "nosuch" in err, err


def test_output_that_cannot_be_written():
    with open("/dev/full", "wb") as full, open(save("three.npy", THREE), "rb") as file:
        done = subprocess.run(
            [PROGRAM, *MAP, "--in", "-", "--out", "-"], stdin=file, stdout=full, stderr=subprocess.PIPE, timeout=300, check=False
        )
    assert done.returncode == 2 and b"standard output: cannot be written: No space" in done.stderr


def test_what_is_refused():
    three = save("three.npy", THREE)
    refused(2, ["--in", "second '-'"], "run add --in - --in - --out box/new.npy --device tbb")
    refused(2, ["--json", "--out"], *MAP, "--in", three, "--out", "-", "--json")
    sort = ["run", "sort", "--in", three, "--values", three, "--device", "tbb"]
    refused(2, ["'-'", "only --out"], *sort, "--out", "-", "--out-values", "-")
    refused(2, ["--values", "second '-'"], "run sort --in - --values - --out box/a.npy --out-values box/b.npy")
