"""The end of the interpreter while calls run, and references that are dropped without its lock."""

import ctypes
import gc
import subprocess
import sys
import time
import weakref

import numpy as np
import pytest

import concord as cc

CALLS = {
    "sort": "cc.sort(x)",
    "function": "f(x)",
    "fetch": "cc.histogram(x, 10)",
    "OpenCL": "cc.sum(x, device='opencl')",
    "copy to a device": "cc.array(x, 'opencl')",
    "copy to the host": "y.numpy()",
    "synchronize": "(cc.sort(y, out=y, stream=s), s.synchronize())",
    "wait": "cc.sort(y, out=y).synchronize()",
    "failing call": "fails()",
}


@pytest.mark.parametrize("name", CALLS)
def test_daemon_thread_in_a_call(name):
    """The process ends with the status that the main thread gave."""
    device = "opencl" if "opencl" in CALLS[name] + name and any(s.startswith("opencl") for s in cc.devices().column("selector")) else "tbb"
    if "opencl" in CALLS[name] and device == "tbb":
        pytest.skip("needs an OpenCL device")
    code = f"""
import sys, threading, time
import numpy as np, concord as cc
x = np.random.default_rng(1).random(1 << 21, dtype="f4")
y = cc.array(x, {device!r})
s = cc.device({device!r}).stream()
f = lambda x: cc.map("exp", x)
def fails():
    try:
        cc.histogram(x, 10, (0, 1), variant="nonsense")
    except ValueError:
        pass
def work():
    while True:
        {CALLS[name]}
for _ in range(2):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.3)
sys.exit(5)
"""
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
        assert done.returncode == 5, (done.returncode, done.stderr[-1000:])
        assert not done.stderr, done.stderr


@pytest.mark.parametrize("method", ("__dlpack__", "__dlpack_device__", "__array__"))
def test_daemon_thread_in_python_code_that_a_call_runs(method):
    code = f"""
import sys, threading, time
import numpy as np, concord as cc
x = np.ones(1000)
class Other:
    def __len__(self):
        return 3
    def __float__(self):
        return 1.0
    def {method}(self, *args, **kwargs):
        end = time.monotonic() + 60
        while time.monotonic() < end:
            pass
        return x.{method}(*args, **kwargs)
{"Other.__dlpack_device__ = lambda self: (1, 0)" if method == "__dlpack__" else ""}
{"Other.__dlpack__ = lambda self, **_: x.__dlpack__()" if method == "__dlpack_device__" else ""}
threading.Thread(target=lambda: cc.sum(Other()), daemon=True).start()
time.sleep(0.3)
sys.exit(5)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30)
    assert done.returncode == 5 and not done.stderr, (done.returncode, done.stderr[-1000:])


def pointer_of(capsule):
    get = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))
    set_name = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_SetName", ctypes.pythonapi))
    pointer = get(capsule, b"dltensor_versioned")
    set_name(capsule, b"used_dltensor_versioned")
    return pointer


class Owner(np.ndarray):
    """Arrays with weak references."""


def borrowed():
    """An array, and the managed tensor with the last reference to it, which another library owns."""
    x = np.arange(1000.0).view(Owner)
    return weakref.ref(x), pointer_of(cc.from_dlpack(x).__dlpack__(max_version=(1, 0)))


def deleter_of(pointer, kind):
    return kind(None, ctypes.c_void_p)(ctypes.c_void_p.from_address(pointer + 16).value)


def test_references_that_other_libraries_drop():
    for kind in (ctypes.PYFUNCTYPE, ctypes.CFUNCTYPE):  # with the interpreter's lock, and without
        owner, pointer = borrowed()
        assert owner() is not None
        deleter_of(pointer, kind)(pointer)
        end = time.monotonic() + 10
        while owner() is not None and time.monotonic() < end:
            gc.collect()
        assert owner() is None


def test_dropping_does_not_wait_for_the_lock():
    """As a callback of a stream does, which a thread with the lock waits for."""
    owner, pointer = borrowed()
    libc, thread = ctypes.PyDLL(None), ctypes.c_ulong()
    create = libc.pthread_create
    create.argtypes = [ctypes.c_void_p] * 4
    start = time.monotonic()
    code = ctypes.c_void_p.from_address(pointer + 16).value
    # All with the interpreter's lock, which the other thread would wait for.
    assert create(ctypes.byref(thread), None, code, pointer) == 0
    libc.pthread_join.argtypes = [ctypes.c_ulong, ctypes.c_void_p]
    assert libc.pthread_join(thread.value, None) == 0
    assert time.monotonic() - start < 5
    gc.collect()
    cc.sum([1.0])
    assert owner() is None


def test_references_at_the_end():
    """What is dropped while the interpreter ends is left alone."""
    code = """
import ctypes, numpy as np, concord as cc, threading, time
x = cc.from_dlpack(np.arange(1000.0))
capsule = x.__dlpack__(max_version=(1, 0))
y = cc.array(np.arange(1000.0), "tbb")
class Late:
    def __del__(self):
        cc.sum(y)
late = Late()
import builtins
builtins.late = late
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and "Fatal" not in done.stderr, done
