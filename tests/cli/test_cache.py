"""`concord cache`, and the cache of compiled kernels."""

import functools
import json
import os
import pathlib
import shutil
import subprocess

import pytest

from program import LONG, PROGRAM, concord, gives, holds, need, saved, says, values_of

VALUES = values_of("f32")
# Devices that compile kernels at run time. The last one needs no GPU.
DEVICES = ["opencl", "cuda", "cuda@sm_90"]


def compiling(device, out="box/new.npy"):
    """The arguments of a run that compiles one kernel. The input is the file input.npy."""
    if "@" in device:
        return f"check add --devices {device} --variants naive --types f32 --sizes 5".split()
    return f"run map --function negate --in input.npy --device {device} --out {out}".split()


def compile_on(device):
    pathlib.Path("input.npy").write_bytes(saved(VALUES))
    if "@" not in device:
        gives(-VALUES, *compiling(device)[:-2])
        return
    says(" 0 failed", *compiling(device), "--json", "check.json")
    with open("check.json", encoding="utf-8") as file:
        report = json.load(file)
    assert report["passed"] + report["compiled"] >= 3 and report["failed"] == 0


@functools.cache
def is_pocl(device):
    drivers = {row["selector"]: row["driver"] for row in concord("devices --json").json()["devices"]}
    return "Portable Computing Language" in drivers.get(f"{device}:0", "")


@pytest.fixture
def cache(folder, monkeypatch):
    """The folder of an empty cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    return folder / "cache" / "concord"


@pytest.fixture
def empty_pocl_cache(folder, monkeypatch):
    monkeypatch.setenv("POCL_CACHE_DIR", str(folder / "pocl"))


@pytest.fixture(scope="module", params=DEVICES)
def compiler(request):
    """Each device that compiles kernels. Skips the test if the device is not available."""
    if "@" not in request.param:
        need(request.param)
    elif concord(*compiling(request.param)).status != 0:
        pytest.skip(f"{request.param} is not available")
    return request.param


@pytest.fixture(scope="module")
def caching_compiler(compiler):
    """As compiler, but skips PoCL."""
    if is_pocl(compiler):
        pytest.skip("PoCL has its own cache of compiled kernels")
    return compiler


@pytest.fixture(scope="module")
def filled(caching_compiler, tmp_path_factory):
    """A cache of one entry, which tests copy."""
    folder = tmp_path_factory.mktemp("filled")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("XDG_CACHE_HOME", str(folder))
        compile_on(caching_compiler)
    return folder / "concord"


@pytest.fixture
def entry(cache, filled):
    """The file of the only entry in the test's cache."""
    shutil.copytree(filled, cache)
    [file] = cache.glob("*.program")
    return file


def test_empty_cache(cache):
    says("0 entries", "cache ls")
    says(["0 entries", "0 damaged"], "cache verify")


def verify_finds_damage(name):
    result = concord("cache verify")
    assert result.status == 1 and "damaged" in result.out and name in result.out, result


def test_file_that_is_no_entry(cache):
    cache.mkdir(parents=True)
    (cache / "0123.program").write_text("no kernel\n")
    says("damaged", "cache ls")
    verify_finds_damage("0123.program")
    says("1 file", "cache clear")
    says("0 entries", "cache ls")


def test_one_kernel_is_one_entry(compiler, cache):
    compile_on(compiler)
    entries = 0 if is_pocl(compiler) else 1
    listed = says(f"{entries} entries", "cache ls").out
    assert (f"{compiler.partition('@')[0]} | " in listed) == (entries == 1)
    says([f"{entries} entries", "0 damaged"], "cache verify")


@pytest.mark.parametrize("damage", ["truncated", "emptied", "flipped", "swapped"])
def test_damaged_entry_is_replaced(caching_compiler, entry, damage):
    says(["1 entries", "0 damaged"], "cache verify")
    data = bytearray(entry.read_bytes())
    culprit = entry
    if damage == "truncated":
        entry.write_bytes(data[:-1])
    elif damage == "emptied":
        entry.write_bytes(b"")
    elif damage == "flipped":
        data[len(data) // 2] = data[len(data) // 2] ^ 0xA5
        entry.write_bytes(data)
    else:  # valid, but under the name of another kernel
        culprit = entry.rename(entry.with_name("0123456789abcdef.program"))
    verify_finds_damage(culprit.name)
    compile_on(caching_compiler)
    if damage == "swapped":
        culprit.unlink()
    says(["1 entries", "0 damaged"], "cache verify")
    assert entry.exists()


def test_clear(entry):
    says("1 file", "cache clear")
    says("0 entries", "cache ls")
    assert os.listdir(entry.parent) == []


def test_cache_that_is_off(caching_compiler, cache, monkeypatch):
    monkeypatch.setenv("CONCORD_CACHE", "off")
    compile_on(caching_compiler)
    says("0 entries", "cache ls")
    assert list(cache.glob("*")) == []


def test_folder_that_is_a_file(caching_compiler, cache):
    cache.parent.mkdir()
    cache.write_text("no folder\n")
    compile_on(caching_compiler)
    says("0 entries", "cache ls")
    says(f"{cache}, not writable", "doctor")
    result = concord(*compiling(caching_compiler), "--log-level", "info")
    assert result.status == 0 and "kernel cache" in result.err and "Not a directory" in result.err, result


@pytest.mark.skipif(os.geteuid() == 0, reason="root can write everywhere")
def test_folder_that_is_not_writable(caching_compiler, cache):
    cache.mkdir(parents=True, mode=0o555)
    compile_on(caching_compiler)


def test_processes_that_start_at_once(compiler, cache, empty_pocl_cache):
    """Several processes share an empty cache: all results are correct, and the cache has one entry afterwards."""
    count = 16 if LONG else 6
    pathlib.Path("input.npy").write_bytes(saved(VALUES))
    logs = [open(f"{i}.log", "wb") for i in range(count)]
    commands = [[PROGRAM, *compiling(compiler, f"{i}.npy")] for i in range(count)]
    processes = [
        subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        for command, log in zip(commands, logs)
    ]
    statuses = [process.wait() for process in processes]
    for log in logs:
        log.close()
    assert statuses == [0] * count, pathlib.Path(f"{next((i for i in range(count) if statuses[i]), 0)}.log").read_text()
    if "@" not in compiler:
        for i in range(count):
            holds(f"{i}.npy", -VALUES)
    entries = 0 if is_pocl(compiler) else 1
    says([f"{entries} entries", "0 damaged"], "cache verify")
    assert len([path for path in cache.rglob("*") if path.is_file()]) == entries  # and no temporary files
