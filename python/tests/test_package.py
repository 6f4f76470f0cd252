"""Tables, the program and the helpers for tests."""

import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import pytest

import concord as cc
from concord.testing import assert_same_bits, assert_within


def test_devices():
    table = cc.devices()
    assert "tbb:0" in table.column("selector")
    assert "selector" in repr(table) and "tbb:0" in repr(table) and "<td>tbb:0</td>" in table._repr_html_()
    assert cc.device("tbb").backend == "tbb"
    assert "tbb:0" in repr(cc.device("tbb"))


def test_only_the_backend_that_is_named_is_loaded(tmp_path):
    """Others may end the process, and drivers handle signals of the process."""
    if not shutil.which("cc"):
        pytest.skip("no C compiler")
    (tmp_path / "fatal.c").write_text("#include <stdlib.h>\nvoid* concord_backend_fatal(void) { abort(); }\n")
    module = tmp_path / "concord-backend-fatal.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", module, tmp_path / "fatal.c"], check=True)
    calls = """
import numpy as np
import concord as cc
x = np.arange(10, dtype="f4")
assert cc.sum(x) == 45 and cc.sum(x, device="tbb") == 45
assert cc.device("tbb").backend == "tbb"
assert "libpocl" not in open("/proc/self/maps").read()
"""
    env = {**os.environ, "CONCORD_BACKEND_PATH": str(tmp_path)}
    env.pop("CONCORD_DEVICE", None)
    subprocess.run([sys.executable, "-c", calls], env=env, check=True)


def rows(table):
    return list(table) if isinstance(table, cc.Table) else table.to_dict("records")


def test_check_and_bench():
    checked = rows(cc.check("reduce", devices="tbb", types=["f32"], sizes=[0, 1000]))
    assert checked and all(row["failed"] == 0 for row in checked)
    assert {row["algorithm"] for row in checked} == {"reduce"}
    measured = rows(cc.bench("map", devices="tbb", types="f32", sizes=[1 << 16]))
    assert measured and all(row["median_ms"] > 0 for row in measured)
    assert {"reduce", "sort"} <= {row["algorithm"] for row in rows(cc.algorithms())}
    with pytest.raises(cc.Error, match="nonsense"):
        cc.check("nonsense")


def test_reference_page():
    source = os.environ.get("CONCORD_TEST_SOURCE")
    if source is None:
        pytest.skip("the source tree is unknown")
    page = pathlib.Path(source, "docs/reference/python_page.py")
    done = subprocess.run([sys.executable, page], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_program():
    done = subprocess.run([sys.executable, "-m", "concord", "--version"], capture_output=True, text=True)
    assert done.returncode == 0 and cc.__version__ in done.stdout
    done = subprocess.run([sys.executable, "-m", "concord", "run", "nonsense"], capture_output=True, text=True)
    assert done.returncode == 2 and "nonsense" in done.stderr


def raised(code, **environment):
    """The exception of the code in another process, as text."""
    code = f"import numpy as np, concord as cc\ntry:\n    {code}\nexcept Exception as e:\n    print(type(e).__name__, ascii(str(e)))"
    done = subprocess.run([sys.executable, "-c", code], env={**os.environb, **{k.encode(): v for k, v in environment.items()}},
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_errors_with_text_that_is_not_utf8(tmp_path):
    folder = os.fsencode(tmp_path) + b"/\xff"
    os.mkdir(folder)
    with open(folder + b"/concord-backend-bad.so", "w") as file:
        file.write("not a library")
    said = raised("cc.device('bad')", CONCORD_BACKEND_PATH=folder)
    assert said.startswith("Unavailable") and "concord-backend-bad.so" in said and r"\\xff" in said, said
    program = tmp_path / "program"
    program.write_bytes(b"#!/bin/sh\nprintf 'concord: the reason \\377\\n' >&2\nexit 2\n")
    program.chmod(0o755)
    said = raised("cc.check('sort')", CONCORD_PROGRAM=os.fsencode(program))
    assert said.startswith("InvalidArgument") and "the reason " in said and r"\\xff" in said, said
    assert raised(r"cc.device('tbb\udcff')").startswith(("InvalidArgument", "TypeError"))


def test_exceptions_that_are_no_std_exception():
    said = raised("cc.function('float f(float x) { throw 5; }')(np.ones(3, 'f4'), device='tbb')")
    assert said.startswith("RuntimeError") and "not a std::exception" in said, said


def test_free_threaded_python_is_refused():
    done = subprocess.run([sys.executable, "-c", "import sys; sys.abiflags = 't'; import concord"], capture_output=True, text=True)
    assert done.returncode == 1 and "ImportError: concord: free-threaded builds of Python are not supported" in done.stderr


def test_stubs_and_docstrings():
    for name in cc.__all__:
        assert getattr(cc, name).__doc__, name
    folder = os.path.dirname(cc.__file__)
    if os.path.exists(os.path.join(folder, "_concord.pyi")):
        with open(os.path.join(folder, "_concord.pyi"), encoding="utf-8") as file:
            stubs = file.read()
        for name in ("sum", "argsort", "Array", "Function"):
            assert f"def {name}(" in stubs or f"class {name}" in stubs


def test_assertions():
    x = np.arange(10, dtype="f4").reshape(2, 5)
    assert_same_bits(x, x.copy())
    y = x.copy()
    y[1, 2] = np.nextafter(y[1, 2], np.float32(9))
    with pytest.raises(AssertionError) as caught:
        assert_same_bits(y, x)
    assert "1 of 10 elements differ" in str(caught.value) and "[1, 2]" in str(caught.value)
    assert "0x40e00001" in str(caught.value) and "1 ulp" in str(caught.value)
    with pytest.raises(AssertionError, match="dtypes differ"):
        assert_same_bits(x, x.astype("f8"))
    with pytest.raises(AssertionError, match="shapes differ"):
        assert_same_bits(x, x[0])
    with pytest.raises(AssertionError):
        assert_same_bits(np.float32(0.0), np.float32(-0.0))
    assert_same_bits(np.float32(np.nan), np.float32(np.nan))
    assert_within(y, x, 1e-6)
    with pytest.raises(AssertionError, match="by more than the bound"):
        assert_within(y, x, 1e-9)
    with pytest.raises(AssertionError):
        assert_within(np.array([np.nan]), np.array([1.0]), 5)
    with pytest.raises(AssertionError):
        assert_within(np.array([np.inf]), np.array([1.0]), 5)
    assert_within(np.array([np.nan, np.inf]), np.array([np.nan, np.inf]), 0)
    with pytest.raises(ValueError, match="bound"):
        assert_within(x, x, -1)
    assert_same_bits(cc.array(x, device="tbb"), x)


def test_assertions_of_complex_numbers():
    z = np.array([1 + 2j, 3 + 4j])
    for dtype in ("complex64", "complex128", "clongdouble"):
        x = z.astype(dtype)
        assert_same_bits(x, x.copy())
        assert_within(x, z, 0)
        y = x.copy()
        y.imag[1] += 0.5
        with pytest.raises(AssertionError, match="1 of 2 elements differ(.|\n)*first at .1.(.|\n)*largest difference 0.5"):
            assert_same_bits(y, x)
        with pytest.raises(AssertionError, match="1 of 2 elements differ by more than the bound"):
            assert_within(y, z, 0.4)
        assert_within(y, z, 0.5)
    # An imaginary part is not dropped if the other array is real.
    with pytest.raises(AssertionError, match="2 of 2"):
        assert_within(z.real, z, 1)
    with pytest.raises(AssertionError, match="2 of 2"):
        assert_within(z, z.real, 1)
    nan = np.array([complex(np.nan, 1), complex(1, np.inf)])
    assert_within(nan, nan, 0)
    with pytest.raises(AssertionError, match="2 of 2"):
        assert_within(nan, np.conj(nan), 1)


@pytest.mark.parametrize("dtype", ("longdouble", "S3", "i4,f8", "?"))
def test_assertions_of_bytes(dtype):
    x = np.zeros(4, dtype)
    assert_same_bits(x, x.copy())
    assert_same_bits(x[:0], x[:0])
    y = x.copy()
    y.view("u1").reshape(4, -1)[2, 0] ^= 1
    with pytest.raises(AssertionError, match="1 of 4 elements differ\n  first at .2."):
        assert_same_bits(y, x)


def test_assertions_ignore_padding():
    x = np.ones(3, "longdouble")
    y = x.copy()
    if np.finfo("longdouble").nmant == 63:
        y.view("u1").reshape(3, -1)[:, 10:] = 7
    assert_same_bits(x, y)
