"""The program `concord`, which the wheel contains."""

import os
import subprocess
from pathlib import Path

PROGRAM = Path(__file__).parent / "bin" / "concord"


def path():
    """The program of this package; CONCORD_PROGRAM replaces it in a build folder."""
    return os.environ.get("CONCORD_PROGRAM") or str(PROGRAM)


def run(*arguments):
    """Runs the program and returns its output. Raises an Error with its message if it could not start or measure."""
    from ._concord import Error, InvalidArgument, Unavailable

    done = subprocess.run([path(), *arguments], capture_output=True, text=True, check=False)
    # 1: a result is wrong, which the output says.
    if done.returncode not in (0, 1):
        kind = {2: InvalidArgument, 3: Unavailable}.get(done.returncode, Error)
        message = done.stderr.strip().removeprefix("concord: ")
        raise kind(message or f"concord {arguments[0]} ended with status {done.returncode}")
    return done.stdout
