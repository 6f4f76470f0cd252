"""Environment variables, the log, and colours."""

import os
import pathlib
import pty
import subprocess

import pytest

from program import PROGRAM, THREE, concord, gives, refused


def test_device_of_the_environment():
    gives(THREE, "run map --in", THREE, env={"CONCORD_DEVICE": "tbb"})
    result = concord("run map --in", THREE, "--out", "new.npy", "--json", env={"CONCORD_DEVICE": "tbb"})
    assert result.json()["device"]["selector"] == "tbb:0"


def test_unavailable_device_of_the_environment():
    refused(3, "'nosuch'", "run map --in", THREE, "--out", "box/new.npy", env={"CONCORD_DEVICE": "nosuch"})


def test_option_overrides_the_environment():
    gives(THREE, "run map --in", THREE, "--device", "tbb", env={"CONCORD_DEVICE": "nosuch"})


@pytest.mark.parametrize(
    "name, value",
    [
        ("CONCORD_THREADS", "abc"),
        ("CONCORD_THREADS", "0"),
        ("CONCORD_THREADS", "9999"),
        ("CONCORD_HOST_ISA", "sse9"),
        ("CONCORD_LOG", "loud"),
        ("CONCORD_CACHE", "0"),
        ("CONCORD_CALIBRATION", "no"),
        ("CONCORD_LAUNCH_OVERLAP", "1"),
    ],
)
def test_invalid_setting(name, value):
    refused(2, [name, f"'{value}'"], "run map --in", THREE, "--out", "box/new.npy", env={name: value})


def test_unusable_modules_do_not_matter_to_other_devices(unusable_modules):
    gives(THREE, "run map --in", THREE, "--device", "tbb")
    refused(3, ["old", "rebuild"], "run map --in", THREE, "--out", "box/new.npy", "--device", "old")


def test_log_level_of_the_option(unusable_modules):
    result = concord("run map --in", THREE, "--out", "new.npy", "--device", "auto", "--json", "--log-level", "info")
    assert result.status == 0 and "backend interface" in result.err, result
    assert result.json()["algorithm"] == "map"


def test_log_level_of_the_environment(unusable_modules):
    result = concord("run map --in", THREE, "--out", "new.npy", "--device", "auto", env={"CONCORD_LOG": "info"})
    assert result.status == 0 and "backend interface" in result.err, result


def test_nvtx_ranges(folder):
    listener = os.path.join(os.environ["CONCORD_TEST_MODULES"], "concord-nvtx-listener.so")
    ranges = folder / "ranges"
    gives(
        THREE, "run map --device tbb --in", THREE, env={"NVTX_INJECTION64_PATH": listener, "LISTENER_FILE": str(ranges)}
    )
    names = ranges.read_text().split("\n")
    assert names[0].startswith("map") and "download" in names[1:]


def test_nvtx_library_that_does_not_load():
    pathlib.Path("text.so").write_text("no shared object\n")
    gives(THREE, "run map --in", THREE, "--device", "tbb", env={"NVTX_INJECTION64_PATH": os.path.abspath("text.so")})


def on_terminal(*arguments, **env):
    """What the program prints on a terminal."""
    ours, its = pty.openpty()
    with subprocess.Popen(
        [PROGRAM, *arguments],
        env={**os.environ, "TERM": "xterm", **env},
        stdin=subprocess.DEVNULL,
        stdout=its,
        stderr=its,
    ):
        os.close(its)
        text = b""
        try:
            while piece := os.read(ours, 65536):
                text += piece
        except OSError:  # raised when the program has ended
            pass
    os.close(ours)
    return text


def test_colours_on_a_terminal():
    assert b"\x1b[" in on_terminal("devices")


def test_no_colours_on_a_terminal_with_no_color():
    text = on_terminal("devices", NO_COLOR="1")
    assert b"tbb:0" in text and b"\x1b[" not in text
