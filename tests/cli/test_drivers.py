"""OpenCL drivers that fail in unusual ways: status 4 or the reason, one line, no hang, and no output file."""

import os
import pathlib
import resource
import shutil
import subprocess

import numpy as np
import pytest

from program import LONG, PROGRAM, concord, need, refused, without_sanitizers

LAYER = pathlib.Path(os.environ["CONCORD_TEST_MODULES"]) / "concord-throwing-layer.so"
VALUES = np.arange(2_000_000, dtype="f4")
ARGUMENTS = ["run", "map", "--in", VALUES, "--out", "box/new.npy", "--device", "opencl"]
CALLS = ["BuildProgram", "CreateKernel", "CreateBuffer", "SetKernelArg", "EnqueueNDRangeKernel", "Flush", "Finish"]


@pytest.fixture(autouse=True)
def opencl():
    need("opencl")


@pytest.mark.skipif(not LAYER.exists(), reason="no CL/cl_layer.h")
@pytest.mark.parametrize("call", CALLS)
def test_driver_that_throws_is_given_up(call):
    env = {"OPENCL_LAYERS": str(LAYER), "THROWING_CALL": f"cl{call}"}
    if concord("devices", env={**env, "THROWING_CALL": "clBuildProgram"}).status != 0:
        pytest.skip("the ICD loader has no layers")
    refused(4, [f"cl{call}: the OpenCL driver ran out of host memory", "restart the process"], *ARGUMENTS, env=env)


@pytest.mark.skipif(not LAYER.exists(), reason="no CL/cl_layer.h")
def test_device_that_flushes_denormals():
    env = {"OPENCL_LAYERS": str(LAYER), "FLUSHING": "1"}
    row = next(row for row in concord("devices --verbose --json", env=env).json()["devices"] if row["backend"] == "opencl")
    if row["traits"]["denormals"] == "yes":
        pytest.skip("the ICD loader has no layers")
    command = ["--in", VALUES[:1000], "--out", "new.npy", "--device", "opencl"]
    assert concord("run reduce", *command, "--json", env=env).json()["order"] == "unspecified"
    assert concord("run sort", *command, "--json", env=env).json()["order"] == "canonical"
    refused(2, ["flushes denormals to zero", "canonical"], "run reduce", *command[:2], "--out", "box/new.npy", *command[4:], "--order", "canonical", env=env)


def gpu(**env):
    """The environment that makes each OpenCL device a GPU. Skips the test if the ICD loader has no layers."""
    env = {"OPENCL_LAYERS": str(LAYER), "GROUP_LIMIT": "256", "CONCORD_CACHE": "off", **env}
    if not LAYER.exists() or limit_of(env) == limit_of({}):
        pytest.skip("no CL/cl_layer.h, or the ICD loader has no layers")
    return env


def limit_of(env):
    """The largest group of the first OpenCL device."""
    rows = concord("devices --verbose --json", env={**env, "FAULT": ""}).json()["devices"]
    return next(row["traits"]["maximum group size"] for row in rows if row["backend"] == "opencl")


FAULTS = {
    "finish": "clFinish returned before a command had ended",
    "offset": "a kernel wrote outside of its output",
    "barrier": "a kernel with barriers and local memory gave a wrong result in groups of 256 work-items",
    "launch": "a launch of 256 work-items per group failed (CL_INVALID_WORK_GROUP_SIZE (-54))",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_driver_that_fails_its_self_test(fault):
    env = gpu(FAULT=fault)
    reason = ["opencl:0 failed the self-test", FAULTS[fault], "CONCORD_OPENCL_SELF_TEST=off"]
    refused(3, reason, *ARGUMENTS, env=env)
    assert FAULTS[fault] in concord("devices", env=env).out
    assert concord("devices", env={**env, "CONCORD_OPENCL_SELF_TEST": "off"}).out.count("opencl:0 ") == 1


def test_self_test_is_remembered():
    env = gpu() | {"CONCORD_CACHE": "on", "XDG_CACHE_HOME": os.path.abspath("cache")}
    assert concord("devices", env=env).status == 0
    assert "self_test" in concord("cache ls", env=env).out
    assert "failed" not in concord("devices", env={**env, "FAULT": "offset"}).out  # not run again
    assert "failed" in concord("devices", env={**env, "FAULT": "offset", "GROUP_LIMIT": "128"}).out


def test_limit_of_kernels():
    assert limit_of(gpu(KERNEL_GROUP_LIMIT="32")) == limit_of(gpu(GROUP_LIMIT="32"))


def test_small_groups():
    env = gpu(GROUP_LIMIT="64")
    command = ["--in", VALUES[:1000], "--out", "new.npy", "--device", "opencl"]
    words = ["groups have at most 64 work-items", "need 256", "available: "]
    for algorithm, variant in ("scan", "lookback"), ("sort", "onesweep"), ("compact", "lookback"):
        assert concord("run", algorithm, *command, env=env).status == 0
        refused(2, words, "run", algorithm, *command[:2], "--out", "box/new.npy", *command[4:], "--variant", variant, env=env)


# PoCL 3.1 hangs or aborts at some of these limits if it is called.
@without_sanitizers
@pytest.mark.parametrize("megabytes", range(300, 520, 20 if LONG else 50))
def test_limits_of_memory(megabytes):
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (megabytes * 10**6,) * 2)

    result = concord(*ARGUMENTS[:-3], "new.npy", *ARGUMENTS[-2:], env={"POCL_CACHE_DIR": os.path.abspath("cache")}, preexec_fn=limit)
    assert result.status in (0, 3, 4), result
    assert os.path.exists("new.npy") == (result.status == 0)
    assert result.status == 0 or "memory" in result.err, result


def test_cache_that_cannot_be_written():
    pathlib.Path("file").touch()
    env = {"POCL_CACHE_DIR": os.path.abspath("file/cache")}
    refused(3, ["PoCL cannot write its cache", "file/cache'", "set POCL_CACHE_DIR"], *ARGUMENTS, env=env)


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="no /proc")
def test_home_that_root_cannot_write(monkeypatch):
    """access() allows root to write there."""
    for name in ("XDG_CACHE_HOME", "POCL_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", "/proc")
    refused(3, ["PoCL cannot write its cache", "/proc/.cache/pocl'", "set POCL_CACHE_DIR"], *ARGUMENTS)


def test_damaged_cache_is_not_used():
    env = {"POCL_CACHE_DIR": os.path.abspath("cache")}
    arguments = [*ARGUMENTS[:-3], "new.npy", *ARGUMENTS[-2:]]
    assert concord(*arguments, env=env).status == 0
    programs = list(pathlib.Path("cache").rglob("program.bc"))
    assert programs
    for program in programs:
        os.truncate(program, 0)
    os.remove("new.npy")
    result = concord(*arguments, env=env)
    assert result.status == 0 and "cache of kernels is damaged" in result.err and os.path.abspath("cache") in result.err, result
    assert os.path.exists("new.npy")


def test_cache_without_room():
    os.mkdir("small")
    script = 'mount -t tmpfs -o size=256k tmpfs small && exec "$@"'
    mounts = ["unshare", "-rm", "sh", "-c", script, "sh"]
    if not shutil.which("unshare") or subprocess.run([*mounts, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this user may not mount file systems")
    np.save("values.npy", VALUES)
    arguments = ["run", "map", "--in", "values.npy", "--out", "new.npy", "--device", "opencl"]
    env = {**os.environ, "POCL_CACHE_DIR": os.path.abspath("small/cache")}
    done = subprocess.run([*mounts, PROGRAM, *arguments], env=env, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 2 and "less than 4 MiB are free" in done.stderr, done
    assert not os.path.exists("new.npy")


def test_memory_errors_of_reports_are_on_stderr():
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (480 * 10**6,) * 2)

    for command in ("check", "bench"):
        arguments = [command, "map", "--devices", "opencl", "--sizes", "2^20", "--types", "f32"]
        result = concord(*arguments, env={"POCL_CACHE_DIR": os.path.abspath("cache")}, preexec_fn=limit)
        assert result.status == 4 and "memory" in result.err and "bad_alloc" not in result.out, result
