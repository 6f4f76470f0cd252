"""Functions from source."""

import ctypes
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


def test_segments_and_runs(device):
    x = np.random.default_rng(2).standard_normal(5000).astype("f4")
    at = np.array([0, 0, 7, 300, 5000])
    keys = np.repeat([1, 2, 1], np.diff(at)[1:])
    plus = cc.function("f32 plus(f32 a, f32 b) { return a + b; }")
    assert_same_bits(cc.segmented_reduce(x, at, plus, 0, device=device), cc.segmented_reduce(x, at))
    assert_same_bits(cc.reduce_by_key(keys, x, plus, 0, device=device)[1], cc.segmented_reduce(x, at)[1:])
    for exclusive in (False, True):
        expected = cc.segmented_scan(x, at, exclusive=exclusive)
        assert_same_bits(cc.segmented_scan(x, at, plus, 0, exclusive=exclusive, device=device), expected)
        assert_same_bits(cc.scan_by_key(keys, x, plus, 0, exclusive=exclusive, device=device), expected)
    assert cc.segmented_reduce(x, at[:2], plus, 0, device=device).tolist() == [0]
    with pytest.raises(ValueError, match="reduce_by_key: larger is f32.f32, f32., values has dtype float64"):
        cc.reduce_by_key(keys, x.astype("f8"), LARGER, 0, device=device)
    with pytest.raises(ValueError, match="segmented_scan: 1 is not the identity of 'plus'"):
        cc.segmented_scan(x, at, plus, 1, device=device)
    with pytest.raises(ValueError, match="scan_by_key: identity: built-in operators have their own"):
        cc.scan_by_key(keys, x, "max", 0, device=device)


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
    """A compiler that ignores the source and counts its calls, an empty cache, and a process that has loaded nothing."""
    script = tmp_path / "compiler"
    script.write_text("""#!/bin/sh
if [ "$1" = --version ]; then cat "$0.version"; exit; fi
echo >>"$0.calls"
for last; do :; done
echo "const char text[] = \\"$(wc -l <"$0.calls")\\"; const void* concord_python_kernels(void) { return text; }" |
    cc -shared -fPIC -o "$last" -x c -
""")
    script.chmod(0o755)
    (tmp_path / "compiler.version").write_text("1")
    monkeypatch.setenv("CXX", str(script))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("CONCORD_CACHE", raising=False)
    monkeypatch.setattr(_host, "_loaded", {})
    _host._compiler.cache_clear()
    yield script
    _host._compiler.cache_clear()


def compiled(name="f", text="return x;"):
    """The number of the call of the compiler that made the library which another process would load."""
    _host._loaded.clear()
    return int(ctypes.string_at(_host.compile(f"float {name}(float x) {{ {text} }}", name, "f32", "f32", "map", 1)))


def entries(tmp_path):
    return [tmp_path / "cache" / "concord" / name for name in os.listdir(tmp_path / "cache" / "concord")]


def test_cache(compiler, tmp_path):
    assert [compiled(), compiled(), compiled("g"), compiled()] == [1, 1, 2, 1]
    (folder,) = {path.parent for path in entries(tmp_path)}
    assert {stat.S_IMODE(path.stat().st_mode) for path in entries(tmp_path)} == {0o600}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    # The compiler's version is part of the key.
    (tmp_path / "compiler.version").write_text("2")
    _host._compiler.cache_clear()
    assert compiled() == 3 and compiled("f" * 300) == 4
    assert len(entries(tmp_path)) == 4


def test_cache_of_threads(compiler, tmp_path):
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: _host.compile("float f(float x) { return x; }", "f", "f32", "f32", "map", 1), range(8)))
    assert len(entries(tmp_path)) == 1 and compiled() == compiled()


def test_cache_that_is_damaged(compiler, tmp_path):
    """Each damage is repaired: the entry is made again, and then used."""
    calls = compiled()
    (path,) = entries(tmp_path)
    size = path.stat().st_size
    for length in (0, 40, size // 2, size - 1, size + 1):
        os.truncate(path, length)
        calls += 1
        assert [compiled(), compiled()] == [calls, calls], length
    for place in range(0, size, size // 8):
        with open(path, "r+b") as file:
            file.seek(place)
            byte = file.read(1)[0]
            file.seek(place)
            file.write(bytes([byte ^ 0x10]))
        calls += 1
        assert [compiled(), compiled()] == [calls, calls], place


def test_cache_with_a_library_that_does_not_load(compiler, tmp_path, monkeypatch):
    """Of another system, for example."""
    store = _host._store_program
    monkeypatch.setattr(_host, "_store_program", lambda key, library: store(key, b"\x7fELF of another system"))
    assert compiled() == 1
    monkeypatch.setattr(_host, "_store_program", store)
    assert [compiled(), compiled()] == [2, 2]


@pytest.mark.parametrize("end, message", (
    ("true", "reported no error, but wrote no library"),
    ("echo text >$last", "cannot be loaded.*(short|invalid|ELF)"),
    ("head -c 5000 {real} >$last", "incomplete"),
    ("cp {real} $last", "lacks its entry"),
))
def test_compiler_that_fails_without_saying_so(compiler, tmp_path, end, message):
    good = compiler.read_text()
    compiler.write_text(good[:good.index("echo \"const")] + "last=$last; " + end.format(real=_host._library()) + "\n")
    with pytest.raises(cc.CompileFailed, match=message):
        compiled()
    assert not (tmp_path / "cache" / "concord").exists() or entries(tmp_path) == []
    compiler.write_text(good)
    assert compiled() == 2


@pytest.mark.parametrize("include", (
    '#define FILE "{}"\n#include FILE',
    *(pytest.param(text, marks=pytest.mark.long) for text in ('#include "{}"', '  #  include "{}"', '%:include "{}"')),
))
def test_text_that_includes_a_file(tmp_path, include, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("CONCORD_CACHE", raising=False)
    header = tmp_path / "value.h"
    for value in (1, 2):
        header.write_text(f"x[i] = {value};\n")
        store = cc.kernel("void store(u64 i, f32* x) {\n" + include.format(header) + "\n}")
        x = np.zeros(3, "f4")
        store(3, x, device="tbb")
        assert x.tolist() == [value] * 3
    assert not (tmp_path / "cache").exists()


def test_headers_are_part_of_the_key(compiler, tmp_path, monkeypatch):
    headers = tmp_path / "include" / "concord"
    headers.mkdir(parents=True)
    (headers / "map.hpp").write_text("1")
    monkeypatch.setenv("CONCORD_PYTHON_INCLUDE", str(tmp_path / "include"))
    _host._headers.cache_clear()
    assert [compiled(), compiled()] == [1, 1]
    (headers / "map.hpp").write_text("22")
    _host._headers.cache_clear()  # as in another process
    assert [compiled(), compiled()] == [2, 2]
    _host._headers.cache_clear()


def test_cache_that_is_not_trusted(compiler, tmp_path):
    assert compiled() == 1
    (path,) = entries(tmp_path)
    # A file that others may write to is replaced.
    os.chmod(path, 0o666)
    assert [compiled(), compiled()] == [2, 2]
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    os.unlink(path)
    os.symlink(compiler, path)
    assert [compiled(), compiled()] == [3, 3] and not os.path.islink(path)
    # Nothing below a folder that others may change is used.
    calls = 3
    for folder in (path.parent, path.parent.parent, tmp_path):
        mode = stat.S_IMODE(folder.stat().st_mode)
        os.chmod(folder, 0o777)
        calls += 1
        with pytest.warns(RuntimeWarning, match="every user may write to"):
            assert compiled() == calls
        os.chmod(folder, mode)
        assert compiled() == 3
    # With the sticky bit others cannot change what belongs to this user.
    os.chmod(tmp_path, 0o1777)
    assert compiled() == 3
    if os.geteuid() == 0:
        for folder in (path.parent, path.parent.parent, path):
            os.chown(folder, 12345, -1)
            if folder is path:
                assert [compiled(), compiled()] == [calls + 1] * 2
                continue
            calls += 1
            with pytest.warns(RuntimeWarning, match="of another user"):
                assert compiled() == calls
            os.chown(folder, 0, -1)


@pytest.mark.parametrize("mode, trusted", ((0o700, True), (0o1777, True), (0o777, False)))
def test_temporary_folder(compiler, tmp_path, monkeypatch, mode, trusted):
    work = tmp_path / "temporary"
    work.mkdir()
    work.chmod(mode)
    monkeypatch.setattr(tempfile, "tempdir", str(work))
    if trusted:
        assert compiled() == 1
    else:
        with pytest.raises(cc.Unavailable, match="every user may write to; set TMPDIR"):
            compiled()
    assert os.listdir(work) == []


@pytest.mark.parametrize("how", ("off", "not a folder", "read-only", *(pytest.param(how, marks=pytest.mark.long) for how in ("no home", "noexec"))))
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
    if how == "read-only":
        if os.geteuid() == 0:
            pytest.skip("root may write everywhere")
        (tmp_path / "cache").mkdir(mode=0o500)
    if how == "noexec":
        if not os.statvfs("/dev/shm").f_flag & os.ST_NOEXEC:
            pytest.skip("needs /dev/shm with noexec")
        monkeypatch.setenv("XDG_CACHE_HOME", tempfile.mkdtemp(dir="/dev/shm"))
    x = np.arange(10, dtype="f4")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            _host._loaded.clear()
            triple = cc.function("float triple(float x) { return 3 * x; }")
            assert_same_bits(triple(x, device="tbb"), 3 * x)
    assert os.listdir(work) == []
    assert bool(caught) == (how in ("not a folder", "read-only"))
    assert sorted(os.listdir(tmp_path)) == (["cache", "temporary"] if caught else ["temporary"])
    if how == "noexec":
        shutil.rmtree(os.environ["XDG_CACHE_HOME"])


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
