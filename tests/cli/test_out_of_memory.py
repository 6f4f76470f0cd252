"""Memory that runs out while a command runs: status 4 and one line on stderr, or the same result as always.

An allocator in LD_PRELOAD (tests/unit/failing_allocator.hpp) fails one call of the program, or all from one on. Each test
tries evenly spaced calls; with CONCORD_TEST_LONG=1 it tries many more.
"""

import concurrent.futures
import os
import pathlib
import re
import subprocess

import numpy as np
import pytest

from program import LONG, PROGRAM

ALLOCATOR = pathlib.Path(os.environ["CONCORD_TEST_MODULES"]) / "libconcord-failing-allocator.so"
FOR_GOOD = 2**63
MEMORY = "memory|bad_alloc|Resource temporarily unavailable"
ALL = FOR_GOOD
# Commands, how many of their allocations to try in CI and in the long test, and the file that they write.
COMMANDS = {
    "devices": ("devices", 25, ALL, None),
    "doctor": ("doctor", 10, ALL, None),
    "algorithms": ("algorithms sort", 10, ALL, None),
    "help": ("run sort --help", 10, ALL, None),
    "bad option": ("run sort --nonsense", 10, ALL, None),
    "cache": ("cache ls", 10, ALL, None),
    "studies": ("study --list", 10, ALL, None),
    "reduce": ("run reduce --in a.npy --out b.npy --device tbb --json", 30, ALL, "b.npy"),
    "sort": ("run sort --in a.npy --out b.npy --device tbb", 20, ALL, "b.npy"),
    "convolve": ("run convolve --in i.npy --in m.npy --out b.npy --device tbb", 20, ALL, "b.npy"),
    "check": ("check reduce --devices tbb --sizes 1025 --types f32", 10, 3000, None),
    "bench": ("bench reduce --devices tbb --sizes 2^10", 2, 50, None),
}

pytestmark = pytest.mark.skipif(not ALLOCATOR.exists(), reason="the failing allocator needs glibc 2.35 and no sanitizer")


def run(folder, command, first, last):
    """Runs the command with these allocations failing. Returns its result and what the allocator reports."""
    folder.mkdir()
    for name in ("a", "i", "m"):
        os.link(folder.parent / f"{name}.npy", folder / f"{name}.npy")
    report = folder.parent / f"{folder.name}.txt"
    environment = dict(os.environ, LD_PRELOAD=str(ALLOCATOR), FAILING_ALLOCATOR=f"{first} {last} {report}")
    result = subprocess.run(
        [PROGRAM, *command.split()],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=120,
    )
    return result, report.read_text() if report.exists() else ""


def explained(report):
    """The functions that asked for the first allocation that failed."""
    return "\n".join(report.splitlines()[:30])


@pytest.mark.parametrize("name", COMMANDS)
def test_memory_that_runs_out_gives_status_4(folder, name):
    command, few, many, output = COMMANDS[name]
    np.save(folder / "a.npy", np.arange(50000, dtype="f4"))
    np.save(folder / "i.npy", np.arange(8000, dtype="f4").reshape(80, 100))
    np.save(folder / "m.npy", np.ones((3, 3), "f4"))
    normal, report = run(folder / "normal", command, 0, 0)
    calls = int(re.search(r"(\d+) calls", report).group(1))
    expected = (folder / "normal" / output).read_bytes() if output else None
    step = max(1, calls // (many if LONG else few))

    def check(first, last):
        at = folder / f"{first}-{'once' if first == last else 'on'}"
        result, report = run(at, command, first, last)
        words = f"concord {command}, allocation {first}{' and all later ones' if last != first else ''}: status "
        words += f"{result.returncode}\n{result.stderr[:2000]}\n{explained(report)}"
        assert result.returncode in (normal.returncode, 3, 4), words
        if result.returncode != normal.returncode:
            # Reports such as doctor's are on stdout. Status 3: a backend or the device did not load.
            is_message = re.fullmatch(r"(concord.*\n)+", result.stderr)
            assert is_message or (not result.stderr and re.search(MEMORY, result.stdout)), words
            assert result.returncode == 4 or re.search(MEMORY, result.stderr), words
        files = {"a.npy", "i.npy", "m.npy"}
        if output and (result.returncode == 0 or (at / output).exists()):
            files.add(output)
            assert (at / output).read_bytes() == expected, words
        assert {path.name for path in at.iterdir()} == files, words

    cases = [(first, last) for first in range(1 + step // 2, calls + 1, step) for last in (first, FOR_GOOD)]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for outcome in [pool.submit(check, *case) for case in cases]:
            outcome.result()
