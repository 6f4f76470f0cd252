"""Functions from source."""

import os
import shutil
import stat
import tempfile
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import concord as cc
from concord import _host
from concord.testing import assert_same_bits

pytestmark = pytest.mark.skipif(shutil.which("c++") is None, reason="needs a C++ compiler for the CPU device")

SCALE = cc.function("float scale(float x, float a, int b) { return a * x + b; }")
LARGER = cc.function("float larger(float x, float y) { return x < y ? y : x; }")


def test_description():
    assert SCALE.name == "scale"
    assert SCALE.signature == "f32(f32, f32, i32)"
    assert "f32(f32, f32, i32)" in repr(SCALE)


def test_map(device):
    x = np.linspace(-3, 3, 1003, dtype="f4")
    expected = np.float32(2.5) * x + np.float32(4)
    assert_same_bits(cc.map(SCALE.bind(2.5, 4), x, device=device), expected)
    assert_same_bits(SCALE.bind(2.5, 4)(x, device=device), expected)
    assert_same_bits(SCALE.bind(0.5, -1)(x, device=device), np.float32(0.5) * x - np.float32(1))
    assert_same_bits(LARGER(x, -x, device=device), np.abs(x))


def test_reduce_and_scan(device):
    x = np.random.default_rng(1).standard_normal(70_001).astype("f4")
    assert_same_bits(cc.reduce(x, LARGER, -np.inf, device=device), x.max())
    assert_same_bits(cc.scan(x, LARGER, -np.inf, device=device), np.maximum.accumulate(x))
    add = cc.function("f32 plus(f32 a, f32 b) { return a + b; }")
    assert_same_bits(cc.reduce(x, add, 0, device=device), cc.sum(x))
    assert_same_bits(cc.scan(x, add, 0, device=device), cc.cumsum(x))


def test_wrong_identities(device):
    plus = cc.function("int plus(int a, int b) { return a + b; }")
    x = np.arange(1, 5, dtype="i4")
    for call in (cc.reduce, cc.scan):
        for _ in range(2):
            with pytest.raises(ValueError, match=rf"{call.__name__}: 10 is not the identity of 'plus'; pass the e"):
                call(x, plus, 10, device=device)
    assert cc.reduce(x, plus, 0, device=device) == 10
    scaled = cc.function("float scaled(float a, float b, float by) { return (a + b) * by; }")
    with pytest.raises(ValueError, match="1 is not the identity of 'scaled'"):
        cc.reduce(x.astype("f4"), scaled.bind(2), 1, device=device)
    cc.reduce(x.astype("f4"), scaled.bind(0.5), 1, device=device)


@pytest.mark.parametrize("name, dtype", (("u8", "uint8"), ("long", "int64"), ("double", "float64")))
def test_types(device, name, dtype):
    f = cc.function(f"{name} same({name} x) {{ return x; }}")
    x = np.arange(100).astype(dtype)
    assert_same_bits(f(x, device=device), x)


def test_errors(device):
    x = np.ones(10, "f4")
    with pytest.raises(ValueError, match=r"scale is f32\(f32, f32, i32\); the call has 1 array and 0 bound values"):
        SCALE(x, device=device)
    with pytest.raises(ValueError, match="x has dtype float64"):
        SCALE.bind(1, 2)(np.ones(3), device=device)
    with pytest.raises(ValueError, match="1.5 is not a value"):
        SCALE.bind(1, 1.5)(x, device=device)
    with pytest.raises(ValueError, match="at least one parameter stays free"):
        SCALE.bind(1, 2, 3)
    with pytest.raises(ValueError, match="identity"):
        cc.reduce(x, LARGER, device=device)
    with pytest.raises(ValueError, match="operator_from_text"):
        cc.function("float f(floot x) { return x; }")
    with pytest.raises(cc.CompileFailed, match="undefined_name"):
        cc.function("float f(float x) { return undefined_name; }")(x, device=device)


@pytest.mark.parametrize("source", (
    "float f(float x) { return 2 * x; } // }",
    "float f(float x) { return 2 * x; } /* } */\n",
    "float\nf(float x)\n{ float NAME = x; return NAME + x; }",
))
def test_source(source, device):
    x = np.arange(10, dtype="f4")
    assert_same_bits(cc.function(source)(x, device=device), 2 * x)


def test_lines_of_messages():
    with pytest.raises(cc.CompileFailed, match="f:3:"):
        cc.function("float\nf(float x) {\n return undefined_name; }")(np.ones(1, "f4"), device="tbb")


@pytest.fixture
def compiler(tmp_path, monkeypatch):
    """A compiler that writes its number of calls, and an empty cache."""
    script = tmp_path / "compiler"
    script.write_text("""#!/bin/sh
if [ "$1" = --version ]; then cat "$0.version"; exit; fi
echo >>"$0.calls"
for last; do :; done
wc -l <"$0.calls" >"$last"
""")
    script.chmod(0o755)
    (tmp_path / "compiler.version").write_text("1")
    monkeypatch.setenv("CXX", str(script))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("CONCORD_CACHE", raising=False)
    _host._compiler.cache_clear()
    yield script
    _host._compiler.cache_clear()


def compiled(name="f"):
    return _host.compile(f"float {name}(float x) {{ return x; }}", name, "f32", "f32", "map", 1)


def test_cache(compiler, tmp_path):
    folder = tmp_path / "cache" / "concord" / "python"
    path = compiled()
    assert os.path.dirname(path) == str(folder) and compiled() == path
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == stat.S_IMODE(folder.parent.stat().st_mode) == 0o700
    # The compiler's version is part of the key.
    (tmp_path / "compiler.version").write_text("2")
    _host._compiler.cache_clear()
    assert compiled() != path
    assert len(compiled("f" * 300)) < 300
    assert len(os.listdir(folder)) == 3


def test_cache_of_threads(compiler, tmp_path):
    with ThreadPoolExecutor(8) as pool:
        paths = set(pool.map(lambda _: compiled(), range(8)))
    assert len(paths) == 1
    assert os.listdir(tmp_path / "cache" / "concord" / "python") == [os.path.basename(*paths)]


def test_cache_that_is_not_trusted(compiler, tmp_path):
    path = compiled()
    # A file that others may write to is replaced.
    os.chmod(path, 0o666)
    before = open(path).read()
    assert compiled() == path and open(path).read() != before
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    os.unlink(path)
    os.symlink(compiler, path)
    assert compiled() == path and not os.path.islink(path)
    # What the compiler of this test writes cannot be loaded, which happens without a cache only.
    for folder in (os.path.dirname(path), os.path.dirname(os.path.dirname(path))):
        os.chmod(folder, 0o777)
        with pytest.warns(RuntimeWarning, match="every user may write to"), pytest.raises(cc.CompileFailed, match="TMPDIR"):
            compiled()
        os.chmod(folder, 0o700)
    assert compiled() == path
    if os.geteuid() == 0:
        os.chown(os.path.dirname(path), 12345, -1)
        with pytest.warns(RuntimeWarning, match="of another user"), pytest.raises(cc.CompileFailed):
            compiled()


@pytest.mark.parametrize("how", ("off", "no home", "not a folder", "full"))
def test_no_cache(how, tmp_path, monkeypatch):
    work = tmp_path / "temporary"
    work.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(work))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(_host, "_loaded", {})
    if how == "off":
        monkeypatch.setenv("CONCORD_CACHE", "off")
    else:
        monkeypatch.delenv("CONCORD_CACHE", raising=False)
    if how == "no home":
        monkeypatch.delenv("XDG_CACHE_HOME")
        monkeypatch.delenv("HOME", raising=False)
        monkeypatch.chdir(tmp_path)
    if how == "not a folder":
        (tmp_path / "cache").write_text("")
    if how == "full":

        def store(made, target):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(_host, "_store", store)
    x = np.arange(10, dtype="f4")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            triple = cc.function("float triple(float x) { return 3 * x; }")
            assert_same_bits(triple(x, device="tbb"), 3 * x)
    assert len(_host._loaded) == 1 and os.listdir(work) == []
    assert bool(caught) == (how in ("not a folder", "full"))
    assert sorted(os.listdir(tmp_path)) == (["cache", "temporary"] if caught else ["temporary"])


@pytest.mark.parametrize("value, message", (
    ("/no such/compiler", "searched for '/no'"),
    ("'", "invalid value of CXX"),
))
def test_compiler_that_is_missing(value, message, monkeypatch):
    monkeypatch.setenv("CXX", value)
    with pytest.raises(cc.Unavailable, match=message):
        compiled()


def test_compiler_by_default(monkeypatch):
    monkeypatch.setenv("CXX", " ")
    assert _host._compiler(" ")[0] == ["c++"]


def test_library_that_is_missing(compiler, monkeypatch):
    monkeypatch.setenv("CONCORD_PYTHON_LIBRARY", "/missing/libconcord.so.0")
    with pytest.raises(cc.Unavailable, match="no such file '/missing/libconcord.so.0'"):
        compiled()
