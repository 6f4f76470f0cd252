"""Runs the program, and checks its status, what it prints and the files it writes."""

import functools
import io
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess

import numpy as np
import pytest

PROGRAM = os.environ["CONCORD_PROGRAM"]

# Element types by Concord's names.
TYPES = {
    "i8": np.dtype("<i1"),
    "i16": np.dtype("<i2"),
    "i32": np.dtype("<i4"),
    "i64": np.dtype("<i8"),
    "u8": np.dtype("<u1"),
    "u16": np.dtype("<u2"),
    "u32": np.dtype("<u4"),
    "u64": np.dtype("<u8"),
    "f32": np.dtype("<f4"),
    "f64": np.dtype("<f8"),
}
INTEGERS = [name for name in TYPES if name[0] != "f"]
FLOATS = ["f32", "f64"]

THREE = np.array([1, 4, 9], "f4")
BYTES = np.array([1, 2, 3], "u1")


class Result:
    """What a run of the program gave: status, stdout and stderr."""

    def __init__(self, arguments, status, out, err):
        self.arguments = arguments
        self.status = status
        self.out = out
        self.err = err

    def __repr__(self):
        return f"concord {' '.join(self.arguments)}: status {self.status}\nstdout: {self.out[:2000]}\nstderr: {self.err[:2000]}"

    def json(self):
        """Returns the one JSON object that is all of stdout."""
        return json_object(self.out)


def json_object(text):
    """Parses text that is one JSON object, indented, on lines of its own."""
    assert text.startswith("{\n") and text.endswith("\n}\n"), text[:400]
    value = json.loads(text)
    assert isinstance(value, dict)
    return value


def concord(*arguments, env=None, **options):
    """Runs the program. An array among the arguments stands for the name of a file that holds it."""
    words = [save(f"input{i}.npy", word) if isinstance(word, np.ndarray) else str(word) for i, word in enumerate(arguments)]
    done = subprocess.run(
        [PROGRAM, *words],
        env={**os.environ, **(env or {})},
        stdin=subprocess.DEVNULL,
        stdout=options.pop("stdout", subprocess.PIPE),
        stderr=subprocess.PIPE,
        timeout=900,
        **options,
    )
    result = Result(words, done.returncode, (done.stdout or b"").decode(errors="replace"), done.stderr.decode(errors="replace"))
    assert "\x1b" not in result.out + result.err, f"escape codes where there is no terminal: {result}"
    return result


def says(words, *arguments, env=None):
    """Runs the program, which succeeds with these words (one string, or several) on stdout."""
    result = concord(*arguments, env=env)
    assert result.status == 0, result
    for word in as_list(words):
        assert word in result.out, result
    return result


def fails(status, words, *arguments, env=None, **options):
    """Runs the program, which fails with this status and one line on stderr that has these words (one string, or several)."""
    result = concord(*arguments, env=env, **options)
    assert result.status == status, result
    assert result.err.startswith("concord: "), result
    assert result.err.count("\n") == 1 and result.err.endswith("\n"), result
    assert result.out == "", result
    for word in as_list(words):
        assert word in result.err, result
    return result


def refused(status, words, *arguments, env=None, **options):
    """As fails(); box/new.npy does not appear, box/kept.npy stays what it is, and no other file is left in box."""
    fresh_box()
    result = fails(status, words, *arguments, env=env, **options)
    box_is_untouched()
    return result


def fresh_box():
    """Makes the folder for outputs, with one old file in it."""
    shutil.rmtree("box", ignore_errors=True)
    os.mkdir("box")
    pathlib.Path("box/kept.npy").write_text("old\n")


def box_is_untouched():
    assert os.listdir("box") == ["kept.npy"]
    assert pathlib.Path("box/kept.npy").read_text() == "old\n"


def unknown_variant_is_refused(algorithm, device, *arguments):
    """Runs an algorithm with an unknown variant: the message lists variants that the device has, and no others."""
    result = refused(2, "'frob'", "run", algorithm, *arguments, "--out", "box/kept.npy", "--device", device, "--variant", "frob")
    words = re.findall(r"\w+", result.err.partition("'frob'")[2])
    listed = [variant for variant in algorithms()[algorithm]["variants"] if variant["name"] in words]
    assert listed and all(has_variant(device, variant) for variant in listed), result


def has_variant(device, variant):
    """Whether `concord algorithms --json` has the variant for the language of the device's kernels."""
    return variant["cpu" if device == "tbb" else device]


def gives(expected, *arguments, env=None):
    """Runs the program with --out: it writes this array, every byte of the file as np.save() writes it.

    Skips the test if the device says that it lacks the arithmetic.
    """
    fresh_box()
    result = concord(*arguments, "--out", "box/new.npy", env=env)
    if result.status == 2 and "tbb" not in result.arguments:
        for lack in ("no f64 arithmetic", "no correctly rounded square root"):
            if lack in result.err:
                pytest.skip(result.err.strip())
    assert result.status == 0, result
    assert "concord" not in result.err, result  # what drivers print there is their own
    holds("box/new.npy", expected)
    return result


def holds(path, expected):
    """Checks that a file is what np.save() writes for this array."""
    data = pathlib.Path(path).read_bytes()
    assert data == saved(expected), f"expected {expected!r}, {path} holds {data!r}"


def save(path, values, dtype=None):
    """Writes a .npy file and returns its path."""
    pathlib.Path(path).write_bytes(saved(values, dtype))
    return str(path)


def saved(values, dtype=None):
    """The bytes of a .npy file."""
    file = io.BytesIO()
    np.save(file, np.asarray(values, dtype, order="C"))
    return file.getvalue()


def values_of(name):
    """Values of a type, its extremes among them."""
    if name in FLOATS:
        return np.array([0.0, -0.0, 1, -2, 3, 1000, np.inf, -np.inf], TYPES[name])
    limits = np.iinfo(TYPES[name])
    signed = [] if limits.min == 0 else [-1, -2, -11]
    return np.array([0, 1, 2, 3, 11, 100, limits.min, limits.max, limits.max - 1, *signed], TYPES[name])


def raw_npy(data=struct.pack("<3i", 1, 2, 3), major=1, descr="'<i4'", order="False", shape="(3,)"):
    """The bytes of a .npy file with a header that may be wrong."""
    text = f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}"
    length = "<H" if major == 1 else "<I"
    before = 8 + struct.calcsize(length)
    text += " " * (-(before + len(text) + 1) % 64) + "\n"
    return b"\x93NUMPY" + bytes([major, 0]) + struct.pack(length, len(text)) + text.encode() + data


def bits(values, dtype):
    """Floats by their bits."""
    return np.array(values, dtype.replace("f", "u")).view(dtype)


def on_devices(names, cases, elsewhere):
    """A test for each device and case: on tbb all cases, on other devices, where each kernel is compiled first, those of elsewhere."""
    cases, elsewhere = ([case if isinstance(case, tuple) else (case,) for case in some] for some in (cases, elsewhere))
    return pytest.mark.parametrize(
        "device, " + names,
        [(device, *case) for device in ("tbb", "opencl", "cuda") for case in (cases if device == "tbb" else elsewhere)],
        indirect=["device"],
    )


def pairs(text):
    """The cases of "copy.i8 negate.i16"."""
    return [tuple(word.split(".")) for word in text.split()]


def as_list(words):
    return [words] if isinstance(words, str) else words


def need(backend):
    """Skips the test if the backend has no device."""
    if f"{backend}:0" not in selectors():
        pytest.skip(f"no {backend} device")


@functools.cache
def selectors():
    """The selectors of the devices of this machine."""
    return [device["selector"] for device in concord("devices", "--json").json()["devices"]]


@functools.cache
def algorithms():
    """The descriptions of the algorithms by name, as `concord algorithms --json` gives them."""
    return {algorithm["name"]: algorithm for algorithm in concord("algorithms", "--json").json()["algorithms"]}
