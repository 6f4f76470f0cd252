"""Runs the program and checks its status, its output and the files that it writes.

Expected words are a string or a list of strings. All of them must occur.
"""

import functools
import io
import json
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess

import numpy as np
import pytest

PROGRAM = os.environ["CONCORD_PROGRAM"]

# For tests that limit the address space or expect the usual speed.
without_sanitizers = pytest.mark.skipif(
    bool(os.environ.get("CONCORD_TEST_SANITIZERS")), reason="sanitizers take more memory and time"
)

# Whether cases run that repeat with other values what the others show: CONCORD_TEST_LONG=1.
LONG = bool(os.environ.get("CONCORD_TEST_LONG"))

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
    """Status, stdout and stderr of a run of the program."""

    def __init__(self, arguments, status, out, err):
        self.arguments = arguments
        self.status = status
        self.out = out
        self.err = err

    def __repr__(self):
        return (
            f"concord {' '.join(self.arguments)}: status {self.status}\n"
            f"stdout: {self.out[:2000]}\n"
            f"stderr: {self.err[:2000]}"
        )

    def json(self):
        """Parses stdout, which must be one JSON object."""
        return json_object(self.out)


def json_object(text):
    """Parses a text that must be one indented JSON object and nothing else."""
    assert text.startswith("{\n") and text.endswith("\n}\n"), text[:400]
    value = json.loads(text)
    assert isinstance(value, dict)
    return value


def concord(*arguments, env=None, **options):
    """Runs the program. An array among the arguments is saved, and replaced by the name of its file."""
    arguments = split(arguments)
    words = [
        save(f"input{i}.npy", word) if isinstance(word, np.ndarray) else str(word) for i, word in enumerate(arguments)
    ]
    done = subprocess.run(
        [PROGRAM, *words],
        env={**os.environ, **(env or {})},
        stdin=subprocess.DEVNULL,
        stdout=options.pop("stdout", subprocess.PIPE),
        stderr=subprocess.PIPE,
        timeout=900,
        **options,
    )
    result = Result(
        words, done.returncode, (done.stdout or b"").decode(errors="replace"), done.stderr.decode(errors="replace")
    )
    assert "\x1b" not in result.out + result.err, f"escape codes where there is no terminal: {result}"
    return result


def split(arguments):
    """The arguments. The first one may have several words: "run map --in"."""
    return [*str(arguments[0]).split(), *arguments[1:]] if arguments else []


def started(*arguments, **options):
    """The running program. Its stdout and stderr are pipes unless the options say otherwise."""
    return subprocess.Popen(
        [PROGRAM, *split(arguments)],
        env={**os.environ, "TERM": "xterm"},
        stdin=subprocess.DEVNULL,
        stdout=options.pop("stdout", subprocess.PIPE),
        stderr=options.pop("stderr", subprocess.PIPE),
        text=True,
        # A background job of a shell ignores SIGINT.
        preexec_fn=lambda: [signal.signal(number, signal.SIG_DFL) for number in (signal.SIGINT, signal.SIGTERM)],
        **options,
    )


def says(words, *arguments, env=None):
    """Runs the program, which must succeed with these words on stdout."""
    result = concord(*arguments, env=env)
    assert result.status == 0, result
    for word in as_list(words):
        assert word in result.out, result
    return result


def fails(status, words, *arguments, env=None, **options):
    """Runs the program, which must fail as complains() says."""
    return complains(concord(*arguments, env=env, **options), status, words)


def complains(result, status, words):
    """Checks a failed run: its status, an empty stdout, and one line on stderr with these words."""
    assert result.status == status, result
    assert result.err.startswith("concord: "), result
    assert result.err.count("\n") == 1 and result.err.endswith("\n"), result
    assert result.out == "", result
    for word in as_list(words):
        assert word in result.err, result
    return result


def refused(status, words, *arguments, env=None, **options):
    """As fails(). The folder `box` is for outputs: its file kept.npy must not change, and no other file may appear."""
    fresh_box()
    result = fails(status, words, *arguments, env=env, **options)
    box_is_untouched()
    return result


def fresh_box():
    """Creates the folder for outputs, with one old file in it."""
    shutil.rmtree("box", ignore_errors=True)
    os.mkdir("box")
    pathlib.Path("box/kept.npy").write_text("old\n")


def box_is_untouched():
    assert os.listdir("box") == ["kept.npy"]
    assert pathlib.Path("box/kept.npy").read_text() == "old\n"


def unknown_variant_is_refused(algorithm, device, *arguments):
    """Runs an algorithm with an unknown variant. The message must list variants of the device only."""
    result = refused(
        2, "'frob'", f"run {algorithm}", *arguments, "--out", "box/kept.npy", "--device", device, "--variant", "frob"
    )
    words = re.findall(r"\w+", result.err.partition("'frob'")[2])
    listed = [variant for variant in algorithms()[algorithm]["variants"] if variant["name"] in words]
    assert listed and all(has_variant(device, variant) for variant in listed), result


def has_variant(device, variant):
    """Whether the variant, as described by `concord algorithms --json`, exists for the device's backend."""
    return variant["cpu" if device == "tbb" else device]


def gives(expected, *arguments, env=None):
    """Runs the program with --out. It must write this array, in a file that is bitwise identical to np.save()'s.

    Skips the test if the device reports that it lacks f64 arithmetic or correctly rounded square roots.
    """
    fresh_box()
    result = concord(*arguments, "--out", "box/new.npy", env=env)
    if result.status == 2 and "tbb" not in result.arguments:
        for lack in ("no f64 arithmetic", "no correctly rounded square root"):
            if lack in result.err:
                pytest.skip(result.err.strip())
    assert result.status == 0, result
    assert "concord" not in result.err, result  # drivers may print what they like
    holds("box/new.npy", expected)
    return result


def holds(path, expected):
    """Checks that a file is bitwise identical to np.save()'s of this array."""
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
    """An array of floats given by their bits."""
    return np.array(values, dtype.replace("f", "u")).view(dtype)


def on_devices(names, cases, elsewhere, more=()):
    """Parametrizes a test over devices and cases: all cases on tbb, and `elsewhere` on the others, with LONG also `more`.

    The other devices compile a kernel for each function and type. That takes seconds, except for f32 and u8, which the
    conformance tests have compiled.
    """
    cases, elsewhere, more = ([case if isinstance(case, tuple) else (case,) for case in some] for some in (cases, elsewhere, more))
    if LONG:
        elsewhere += more
    return pytest.mark.parametrize(
        "device, " + names,
        [(device, *case) for device in ("tbb", "opencl", "cuda") for case in (cases if device == "tbb" else elsewhere)],
        indirect=["device"],
    )


def pairs(text):
    """Splits "copy.i8 negate.i16" into cases."""
    return [tuple(word.split(".")) for word in text.split()]


def as_list(words):
    return [words] if isinstance(words, str) else words


def need(backend):
    """Skips the test if the backend has no device."""
    if f"{backend}:0" not in selectors():
        pytest.skip(f"no {backend} device")


def compiles_only():
    """The selector of a compile-only device. Skips the test if there is none."""
    if "cuda" not in {backend["name"] for backend in concord("devices", "--json").json()["backends"]}:
        pytest.skip("no cuda backend")
    return "cuda@sm_90"


@functools.cache
def selectors():
    """The selectors of the devices of this machine."""
    return [device["selector"] for device in concord("devices", "--json").json()["devices"]]


@functools.cache
def algorithms():
    """The output of `concord algorithms --json` by name."""
    return {algorithm["name"]: algorithm for algorithm in concord("algorithms", "--json").json()["algorithms"]}
