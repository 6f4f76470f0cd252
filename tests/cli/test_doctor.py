"""`concord doctor`."""

import os
import re
import shutil
import subprocess

import pytest

from program import PROGRAM, concord, need, says, selectors


def test_every_device_works():
    says([f"{selector}: " for selector in selectors()], "doctor")


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
    assert concord("devices", env={"CONCORD_BACKEND_PATH": str(folder)}).status == -6
    result = concord("doctor", env={"CONCORD_BACKEND_PATH": str(folder), "TMPDIR": str(folder)})
    assert result.status == 4, result
    assert "fatal: failed: its driver ends the process (SIGABRT): no memory for this device\n" in result.out, result
    assert f"module: {folder}/concord-backend-fatal.so" in result.out and "CONCORD_BACKEND_PATH" in result.out
    assert re.search(r"^tbb: available$", result.out, re.MULTILINE), result
    assert not [name for name in os.listdir() if name.startswith("concord-doctor")]
    # The way out that it names.
    (folder / "empty").mkdir()
    (folder / "empty" / "concord-backend-fatal.so").touch()
    says("tbb:0", "devices", env={"CONCORD_BACKEND_PATH": f"{folder}/empty:{folder}"})


def test_pocl_without_sys():
    """PoCL 3.1 ends the process there."""
    need("opencl")
    mounts = ["unshare", "-rm", "sh", "-c", 'mount -t tmpfs none /sys && exec "$@"', "sh"]
    if not shutil.which("unshare") or subprocess.run([*mounts, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this user may not mount file systems")
    if subprocess.run([*mounts, PROGRAM, "devices"], capture_output=True, check=False).returncode >= 0:
        pytest.skip("the OpenCL driver needs no /sys")
    done = subprocess.run([*mounts, PROGRAM, "doctor"], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 4, done
    assert re.search(r"^opencl: failed: its driver ends the process \(SIG\w+\)", done.stdout, re.MULTILINE), done
    assert "OCL_ICD_VENDORS" in done.stdout and "\ntbb: available\n" in done.stdout, done
    way_out = {**os.environ, "OCL_ICD_VENDORS": "/nonexistent"}
    assert subprocess.run([*mounts, PROGRAM, "devices"], env=way_out, capture_output=True, check=False).returncode == 0
