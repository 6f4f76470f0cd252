"""`concord doctor`."""

import os
import re
import shutil
import subprocess

import pytest

from program import LONG, PROGRAM, THREE, concord, need, says, selectors


def test_every_device_works():
    out = says([f"{selector}: " for selector in selectors()], "doctor").out
    assert "concord bench --sizes 2^24" in out.splitlines()[-1] and "docs/measuring.md" in out, out


def test_kernel_cache():
    says(f"{os.environ['XDG_CACHE_HOME']}/concord, writable", "doctor")


def test_unusable_modules(unusable_modules):
    out = says("rebuild", "doctor").out
    for backend, reason in {
        "old": "backend interface",
        "entryless": "no entry point",
        "broken": "cannot load the module",
    }.items():
        assert re.search(rf"^{backend}: not available: .*{reason}", out, re.MULTILINE), out
    assert re.search(r"^tbb: available$", out, re.MULTILINE), out


def test_unusable_cache_folder(folder):
    (folder / "concord").write_text("no folder\n")
    result = concord("doctor", env={"XDG_CACHE_HOME": str(folder)})
    assert result.status == 0 and f"{folder}/concord, not writable" in result.out, result


def test_driver_that_ends_the_process(folder):
    """The other backends are tested."""
    if not shutil.which("cc"):
        pytest.skip("no C compiler")
    (folder / "fatal.c").write_text(
        '#include <stdio.h>\n#include <stdlib.h>\n'
        'void* concord_backend_fatal(void) { fprintf(stderr, "no memory for this device\\n"); abort(); }\n'
    )
    subprocess.run(["cc", "-shared", "-fPIC", "-o", "concord-backend-fatal.so", "fatal.c"], check=True)
    assert concord("run map --in", THREE, "--out", "new.npy", env={"CONCORD_BACKEND_PATH": str(folder)}).status == -6
    result = concord("devices", env={"CONCORD_BACKEND_PATH": str(folder)})
    assert result.status == 0 and "tbb:0" in result.out, result
    assert "fatal is not available: its driver ends the process (SIGABRT): no memory for this device" in result.out
    listed = concord("devices --json", env={"CONCORD_BACKEND_PATH": str(folder)}).json()
    assert "tbb:0" in [device["selector"] for device in listed["devices"]] and listed["auto"] is None, listed
    result = concord("doctor", env={"CONCORD_BACKEND_PATH": str(folder)})
    assert result.status == 4, result
    assert "fatal: failed: its driver ends the process (SIGABRT): no memory for this device\n" in result.out, result
    assert f"module: {folder}/concord-backend-fatal.so" in result.out and "CONCORD_BACKEND_PATH" in result.out
    assert re.search(r"^tbb: available$", result.out, re.MULTILINE), result
    # The way out that it names.
    (folder / "empty").mkdir()
    (folder / "empty" / "concord-backend-fatal.so").touch()
    says("tbb:0", "devices", env={"CONCORD_BACKEND_PATH": f"{folder}/empty:{folder}"})


@pytest.mark.skipif(not LONG, reason="takes minutes")
def test_driver_that_hangs(folder):
    if not shutil.which("cc"):
        pytest.skip("no C compiler")
    (folder / "stuck.c").write_text(
        '#include <unistd.h>\nvoid* concord_backend_stuck(void) { for (;;) pause(); }\n'
    )
    subprocess.run(["cc", "-shared", "-fPIC", "-o", "concord-backend-stuck.so", "stuck.c"], check=True)
    result = concord("devices", env={"CONCORD_BACKEND_PATH": str(folder)})
    assert result.status == 0 and "tbb:0" in result.out and "does not return within 60 seconds" in result.out, result
    result = concord("doctor", env={"CONCORD_BACKEND_PATH": str(folder)})
    assert result.status == 4 and "stuck: failed: its driver does not return" in result.out, result


def test_driver_that_ends_the_process_in_a_test():
    """PoCL calls abort() if it finds no linker."""
    need("opencl")
    env = {"PATH": "/nonexistent", "POCL_CACHE_DIR": os.path.abspath("pocl"), "OCL_ICD_VENDORS": ""}
    result = concord("doctor", env={name: value for name, value in env.items() if value})
    if result.status == 0:
        pytest.skip("the OpenCL driver needs no linker")
    assert result.status == 4, result
    assert re.search(r"^  opencl:0: .*\n    failed  the driver ends the process \(SIG\w+\)", result.out, re.M), result
    assert "OCL_ICD_VENDORS" in result.out and re.search(r"^tbb: available$", result.out, re.M), result
    assert re.search(r"^devices: [1-9]\d* working, 0 with wrong results, 1 failing$", result.out, re.M), result


def test_pocl_without_sys():
    """PoCL 3.1 ends the process there."""
    need("opencl")
    mounts = ["unshare", "-rm", "sh", "-c", 'mount -t tmpfs none /sys && exec "$@"', "sh"]
    if not shutil.which("unshare") or subprocess.run([*mounts, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this user may not mount file systems")
    if b"opencl is not available: its driver" not in subprocess.run([*mounts, PROGRAM, "devices"], capture_output=True, check=False).stdout:
        pytest.skip("the OpenCL driver needs no /sys")
    done = subprocess.run([*mounts, PROGRAM, "doctor"], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 4, done
    assert re.search(r"^opencl: failed: its driver ends the process \(SIG\w+\)", done.stdout, re.MULTILINE), done
    assert "OCL_ICD_VENDORS" in done.stdout and "\ntbb: available\n" in done.stdout, done
    way_out = {**os.environ, "OCL_ICD_VENDORS": "/nonexistent"}
    assert subprocess.run([*mounts, PROGRAM, "devices"], env=way_out, capture_output=True, check=False).returncode == 0
