"""Signatures at run time, and for type checkers."""

import inspect
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import concord as cc

CALLABLES = [name for name in cc.__all__ if callable(getattr(cc, name))]
FUNCTIONS = [name for name in CALLABLES if not isinstance(getattr(cc, name), type)]


@pytest.mark.parametrize("name", CALLABLES)
def test_every_callable_has_a_signature(name):
    signature = inspect.signature(getattr(cc, name))
    if name in FUNCTIONS and hasattr(getattr(cc, name), "__nb_signature__"):
        for parameter in signature.parameters.values():
            assert parameter.annotation is not parameter.empty, parameter
        assert signature.return_annotation not in (signature.empty, "object")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_have_the_parameters_of_their_signatures(name):
    function = getattr(cc, name)
    arguments = {p.name: np.ones(3, "f4") if p.default is p.empty else p.default
                 for p in inspect.signature(function).parameters.values() if p.kind != p.VAR_POSITIONAL}
    if name in ("check", "bench", "algorithms"):
        return
    try:
        function(**arguments)
    except TypeError as error:
        assert "incompatible function arguments" not in str(error) or name in ("kernel", "function", "compact", "partition"), error
    except (cc.Error, ValueError):
        pass


def test_signatures_of_methods():
    assert list(inspect.signature(cc.Array.to).parameters) == ["self", "device"]
    array = cc.array([1.0, 2.0], "tbb")
    assert list(inspect.signature(array.to).parameters) == ["device"]
    f = cc.function("float f(float x) { return x; }")
    assert list(inspect.signature(f).parameters)[:3] == ["x", "y", "out"]
    assert inspect.signature(cc.sort).parameters["descending"].default is False


PAGE = Path(__file__).parents[2] / "docs" / "python.md"

TYPES = """
from typing import Any, assert_type
from numpy.typing import NDArray
def types(x: NDArray[np.float32], i: NDArray[np.int32], a: cc.Array) -> None:
    assert_type(cc.sort(x), NDArray[np.float32])
    assert_type(cc.sort(a), cc.Array)
    assert_type(cc.argsort(x), NDArray[np.int64])
    assert_type(cc.argsort(a), cc.Array)
    assert_type(cc.exp([1.0]), NDArray[Any])
    assert_type(cc.sum(x), np.float32)
    assert_type(cc.max(i), np.int32)
    assert_type(cc.partition(x, "<", 3), tuple[NDArray[np.float32], int])
    assert_type(cc.unique_consecutive(x), NDArray[np.float32])
    assert_type(cc.unique_consecutive(a), cc.Array)
    assert_type(cc.unique_consecutive(x, return_counts=True), tuple[NDArray[Any], NDArray[Any]])
    assert_type(cc.reduce_by_key(i, x), tuple[NDArray[Any], NDArray[Any]])
    assert_type(cc.segmented_sort(x, i), NDArray[np.float32])
    assert_type(cc.segmented_sort(x, i, values=i), tuple[NDArray[np.float32], NDArray[np.int32]])
    assert_type(cc.pow(2.0, x), NDArray[Any])
    assert_type(cc.sort(memoryview(b"ab")), cc.Array)
    assert_type(a.shape, tuple[int, ...])
"""

WRONG = ["cc.sum('text')", "cc.sort(x, decending=True)", "cc.array(x).shap", "cc.compact(x, 'odd numbers')", "cc.sort(x).shap",
         "cc.matmul(x, x, alpha='1')", "cc.stencil(x, 3)", "cc.device(3)", "cc.sort(x, device=3)", "cc.testing.assert_within(x, x)"]


def checked(command, folder, text):
    file = folder / "page.py"
    file.write_text(text, encoding="utf-8")
    done = subprocess.run([*command, str(file)], cwd=folder, capture_output=True, text=True)
    lines = {int(line) for line in re.findall(r"page\.py:(\d+)(?::\d+)?(?::| -) error", done.stdout)}
    assert lines or done.returncode == 0, done.stdout + done.stderr
    return lines, done.stdout


@pytest.mark.parametrize("checker", ("mypy", "pyright"))
def test_type_checkers(checker, tmp_path):
    if not (Path(cc.__file__).parent / "_concord.pyi").exists():
        pytest.skip("needs the stubs of the package")
    command = {"mypy": [sys.executable, "-m", "mypy", "--strict", f"--cache-dir={tmp_path}"],
               "pyright": [shutil.which("pyright") or "pyright", "--pythonpath", sys.executable]}[checker]
    try:
        subprocess.run([*command, "--version"], capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip(f"needs {checker}")
    page = "".join(line[4:] for line in PAGE.read_text(encoding="utf-8").splitlines(keepends=True) if re.match(r">>> |\.\.\. ", line))
    assert page.count("\n") > 30
    right = page + TYPES
    text = right + "".join(wrong + "\n" for wrong in WRONG)
    lines, report = checked(command, tmp_path, text)
    first = right.count("\n") + 1
    assert lines == set(range(first, first + len(WRONG))), report
