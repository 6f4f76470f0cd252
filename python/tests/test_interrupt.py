"""Ctrl-C in long calls: they end soon, and memory stays until the device no longer uses it."""

import subprocess
import sys
import time

import numpy as np
import pytest

import concord as cc

SETUP = """
import os, signal, sys, threading, time
import numpy as np, concord as cc
f4 = np.ones(1 << 22, "f4")
spin = cc.kernel('void spin(u64 i, f32* x, u64 n) { f32 a = x[i]; for (u64 k = 0; k < n; ++k) a = a * 1.0000001f + 1; x[i] = a; }')
out = np.zeros(4096, "f4")
sent = 0
def press():
    global sent
    sent = time.monotonic()
    os.kill(os.getpid(), signal.SIGINT)
def interrupted(call, after=0.4):
    threading.Timer(after, press).start()
    try:
        call()
    except KeyboardInterrupt:
        late = time.monotonic() - sent
        print(f"{late:.3f} s")
        assert late < 0.2, late
    else:
        sys.exit("was not interrupted")
def many(call):
    while True:
        call()
"""

LONG = {
    "stencil": "interrupted(lambda: cc.stencil(np.ones((64,) * 3, 'f4'), [0.5, 0.05], 10**8))",
    "kernel": "spin(4096, out, 1); interrupted(lambda: spin(4096, out, 10**7))",
    "matmul": "a = np.ones((6000, 6000)); interrupted(lambda: cc.matmul(a, a))",
    "short calls": "interrupted(lambda: many(lambda: cc.sum(f4)))",
    "check": "interrupted(lambda: cc.check('sort', devices='tbb'))",
}


def run(code, **options):
    start = time.monotonic()
    done = subprocess.run([sys.executable, "-c", SETUP + code], capture_output=True, text=True, timeout=60, **options)
    assert done.returncode == 0, (done.stdout, done.stderr[-2000:])
    return time.monotonic() - start


@pytest.mark.parametrize("name", LONG)
def test_calls_end(name):
    """After the call the device computes right results."""
    run(LONG[name] + "\nassert cc.sum(np.ones(1000, 'f4')) == 1000")


def test_cpu_stops_between_groups():
    """The whole kernel takes hours."""
    assert run(LONG["kernel"] + "\nassert cc.sum(f4) == 1 << 22") < 30


def test_operands_stay_until_the_work_ends():
    """One group that takes a second, whose operand the interrupted call leaves alone."""
    run("""
import gc, weakref
class Owner(np.ndarray):
    pass
x = np.zeros(1, "f4").view(Owner)
end = weakref.ref(x)
def call():
    spin(1, x, 3 * 10**8)
spin(1, np.zeros(1, "f4"), 1)
interrupted(call, 0.2)
del x
gc.collect()
assert end() is not None  # still in use
cc.sum([1.0])  # waits
gc.collect()
assert end() is None
""")


def test_opencl():
    if not any(s.startswith("opencl") for s in cc.devices().column("selector")):
        pytest.skip("needs an OpenCL device")
    run("""
x = np.zeros(4096, "f4")
spin(4096, x, 1, device="opencl")
interrupted(lambda: spin(4096, x, 3 * 10**5, device="opencl"))
y = cc.array(np.zeros(4096, "f4"), "opencl")
interrupted(lambda: (spin(4096, y, 3 * 10**5), y.numpy()))
assert cc.sum(np.ones(1000, "f4"), device="opencl") == 1000
""")


def test_other_handlers_run():
    """A handler that raises nothing does not end the call."""
    run("""
seen = []
signal.signal(signal.SIGUSR1, lambda *_: seen.append(time.monotonic()))
spin(4096, out, 1)
threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGUSR1)).start()
spin(4096, out, 3 * 10**5)
end = time.monotonic()
assert seen and seen[0] < end - 0.1, (seen, end)
""")
