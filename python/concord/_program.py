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

    # Waits in short steps: a wait without a limit leaves the program a quarter of a second after Ctrl-C.
    with subprocess.Popen([path(), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          errors="backslashreplace") as program:
        out = err = None
        while out is None:
            try:
                out, err = program.communicate(timeout=0.05)
            except subprocess.TimeoutExpired:
                pass
            except BaseException:
                program.kill()
                raise
    # 1: a result is wrong, which the output says.
    if program.returncode not in (0, 1):
        kind = {2: InvalidArgument, 3: Unavailable}.get(program.returncode, Error)
        message = err.strip().removeprefix("concord: ")
        raise kind(message or f"concord {arguments[0]} ended with status {program.returncode}")
    return out
