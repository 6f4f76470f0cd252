#!/usr/bin/env python3
"""compare.py [--device cpu|cuda] [--json FILE] [--quick]: Concord from Python next to NumPy, PyTorch and CuPy.

Each row is one function on one array. Times are medians of device time on GPUs (events around several calls) and of the
host's clock on CPUs. PyTorch runs with torch.use_deterministic_algorithms(True). Results are compared before they are
timed. Then the time that a call of a few elements takes on the host, next to the same call in C++.
"""
import argparse
import datetime
import json
import platform
import statistics
import time

import numpy as np

import concord as cc
from concord import _concord

SIZES = {"cpu": [16, 20, 24], "cuda": [16, 20, 24, 28]}


def close(a, b):
    a, b = cc.testing.to_numpy(a), cc.testing.to_numpy(b)
    return np.allclose(a.astype("f8"), b.astype("f8"), rtol=1e-3, atol=1e-2 * max(1.0, float(np.abs(b).max(initial=0))))


def host_ms(call, least=0.2, repetitions=7):
    call()
    times, begin = [], time.perf_counter()
    while len(times) < repetitions or time.perf_counter() - begin < least:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
        if time.perf_counter() - begin > 3:
            break
    return statistics.median(times) * 1e3


def device_ms(call, repetitions=9):
    import torch

    for _ in range(3):
        call()
    torch.cuda.synchronize()
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    call()
    end.record()
    end.synchronize()
    inner = max(1, min(50, int(1 / max(start.elapsed_time(end), 1e-3))))
    times = []
    for _ in range(repetitions):
        start.record()
        for _ in range(inner):
            call()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end) / inner)
    return statistics.median(times)


def work(n, to):
    """(function, dtype, Concord's call, peers' calls by library) for arrays of n elements."""
    random = np.random.default_rng(n)
    f, i = random.standard_normal(n).astype("f4"), random.integers(-(2**31), 2**31, n, dtype="i4")
    bins = random.integers(0, 65536, n, dtype="i8")
    for name, dtype, host in (("sum", "f4", f), ("cumsum", "f4", f), ("sort", "i4", i), ("argsort", "i4", i), ("bincount", "i8", bins)):
        yield name, dtype, host, to(host)


def rows_cpu(sizes):
    for log in sizes:
        n = 1 << log
        for name, dtype, host, x in work(n, lambda a: a):
            ours, theirs = getattr(cc, name), getattr(np, name)
            peer = (lambda: np.argsort(x, kind="stable")) if name == "argsort" else (lambda: theirs(x))
            assert close(ours(x), peer()), name
            yield {"function": name, "dtype": dtype, "n": n, "library": "NumPy", "ms": host_ms(lambda: ours(x)), "peer_ms": host_ms(peer)}
    for side in (256, 1024):
        a = np.random.default_rng(side).standard_normal((side, side))
        assert close(cc.matmul(a, a), a @ a)
        yield {"function": "matmul", "dtype": "f8", "n": side * side, "library": "NumPy", "ms": host_ms(lambda: cc.matmul(a, a)),
               "peer_ms": host_ms(lambda: a @ a)}


def rows_cuda(sizes):
    import torch

    torch.use_deterministic_algorithms(True)
    torch.backends.cuda.matmul.allow_tf32 = False
    try:
        import cupy
    except ImportError:
        cupy = None
    theirs = {"sum": torch.sum, "cumsum": lambda x: torch.cumsum(x, 0), "sort": lambda x: torch.sort(x)[0],
              "argsort": lambda x: torch.argsort(x, stable=True), "bincount": torch.bincount}
    for log in sizes:
        n = 1 << log
        for name, dtype, host, x in work(n, lambda a: torch.from_numpy(a).cuda()):
            ours = getattr(cc, name)
            result = ours(x)
            libraries = [("PyTorch", lambda: theirs[name](x))]
            if cupy is not None:
                y = cupy.from_dlpack(x)
                libraries.append(("CuPy", lambda: getattr(cupy, name)(y)))
            try:
                assert close(result, libraries[0][1]()), name
            except RuntimeError as error:  # no deterministic algorithm
                print(f"{name}: {error}"[:200])
                libraries = libraries[1:]
            ms = device_ms(lambda: ours(x))
            for library, call in libraries:
                yield {"function": name, "dtype": dtype, "n": n, "library": library, "ms": ms, "peer_ms": device_ms(call)}
    for side in (256, 1024, 4096):
        a = torch.from_numpy(np.random.default_rng(side).standard_normal((side, side))).cuda()
        assert close(cc.matmul(a, a), a @ a)
        yield {"function": "matmul", "dtype": "f8", "n": side * side, "library": "PyTorch", "ms": device_ms(lambda: cc.matmul(a, a)),
               "peer_ms": device_ms(lambda: a @ a)}


def overhead(device):
    """Microseconds that a call from Python takes on the host beyond the same call in C++, by library of the arrays."""
    found = {}

    def measure(library, x, out, wait):
        def python():
            count = 2000
            start = time.perf_counter()
            for _ in range(count):
                cc.map("copy", x, out=out)
            taken = time.perf_counter() - start
            wait()
            return taken / count

        python()
        ours = min(python() for _ in range(7))
        plain = min(_concord._repeated_copy(x, out, 2000) for _ in range(7))
        found[library] = {"python_us": ours * 1e6, "cpp_us": plain * 1e6, "overhead_us": (ours - plain) * 1e6}

    if device == "cuda":
        import torch

        measure("PyTorch", torch.ones(64, device="cuda"), torch.zeros(64, device="cuda"), torch.cuda.synchronize)
        try:
            import cupy

            measure("CuPy", cupy.ones(64, "f4"), cupy.zeros(64, "f4"), cupy.cuda.Device().synchronize)
        except ImportError:
            pass
        measure("concord.Array", cc.array(np.ones(64, "f4"), device="cuda"), cc.empty(64, "float32", "cuda"), torch.cuda.synchronize)
    else:
        measure("NumPy", np.ones(64, "f4"), np.zeros(64, "f4"), lambda: None)
        measure("concord.Array", cc.array(np.ones(64, "f4"), device="tbb"), cc.empty(64, "float32", "tbb"),
                lambda: _concord._synchronize("tbb"))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--quick", action="store_true", help="up to 2^20 elements")
    options = parser.parse_args()
    sizes = [log for log in SIZES[options.device] if log <= 20 or not options.quick]
    rows = []
    for row in (rows_cuda if options.device == "cuda" else rows_cpu)(sizes):
        rows.append(row)
        print(f"{row['function']:9} {row['dtype']} {row['n']:>10}  {row['ms']:10.4f} ms  {row['library']:8} {row['peer_ms']:10.4f} ms"
              f"  {row['peer_ms'] / row['ms']:6.2f}x", flush=True)
    host = overhead(options.device)
    for library, times in host.items():
        print(f"{library}: {times['python_us']:.2f} µs from Python, {times['cpp_us']:.2f} µs in C++")
    versions = {"NumPy": np.__version__, "Python": platform.python_version()}
    for name, title in (("torch", "PyTorch"), ("cupy", "CuPy")):
        try:
            versions[title] = __import__(name).__version__
        except ImportError:
            pass
    selector = "cuda:0" if options.device == "cuda" else "tbb:0"
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"schema": 1, "date": str(datetime.date.today()), "version": cc.__version__, "device": cc.device(selector).name,
                       "driver": cc.device(selector).driver, "versions": versions, "rows": rows, "overhead": host}, file, indent=1)


if __name__ == "__main__":
    main()
