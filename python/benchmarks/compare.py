#!/usr/bin/env python3
"""compare.py [--device cpu|cuda] [--json FILE] [--quick]: Concord from Python next to NumPy, PyTorch and CuPy.

Each row is one function on one array. Times are medians of device time on GPUs (events around several calls). On CPUs they
are the smallest of five medians of the host's clock; both libraries take turns. PyTorch runs with torch.use_deterministic_algorithms(True). Results are compared before they are
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

SIZES = [10**3, 10**5, 10**7]


def close(a, b):
    a, b = cc.testing.to_numpy(a), cc.testing.to_numpy(b)
    return np.allclose(a.astype("f8"), b.astype("f8"), rtol=1e-3, atol=1e-2 * max(1.0, float(np.abs(b).max(initial=0))))


def host_ms(calls):
    """The milliseconds of each call."""
    rounds = [[median_ms(call) for call in calls] for _ in range(5)]
    return [min(times) for times in zip(*rounds)]


def median_ms(call, least=0.05, repetitions=7):
    call()
    times, begin = [], time.perf_counter()
    while len(times) < repetitions or time.perf_counter() - begin < least:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
        if time.perf_counter() - begin > 1:
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


def work(n):
    """(row's name, dtype, call) for arrays of n elements: call(library, to) is that of a library on arrays of to(host array)."""
    random = np.random.default_rng(n)
    x, y = random.standard_normal((2, n)).astype("f4")
    integers = random.integers(-(2**31), 2**31, n, dtype="i4")
    small = random.integers(-100, 100, n, dtype="i2")
    bins = random.integers(0, 65536, n, dtype="i8")
    table = x[:n // 1000 * 1000].reshape(1000, -1)
    side = min(1000, int(n**0.5))
    matrix = random.standard_normal((side, side))

    def unary(name, host=x, **keywords):
        return name, host, lambda library, to: (lambda a: lambda: getattr(library, name)(a, **keywords))(to(host))

    def binary(name, a, b):
        return name, a, lambda library, to: (lambda p, q: lambda: getattr(library, name)(p, q))(to(a), to(b))

    def where(library, to):
        a, b = to(x), to(y)
        mask = a < b
        return lambda: library.where(mask, a, b)

    def histogram(library, to):
        a = to(x)
        if library.__name__ == "torch":  # its bins have other edges
            return lambda: library.histc(a, 64, -4, 4)
        return lambda: library.histogram(a, 64, (-4, 4))[0]

    for name, host, call in (
            unary("sum"), unary("sum", integers), unary("sum", small), unary("mean"), unary("std"), unary("argmin"), unary("cumsum"),
            unary("sort"), unary("sort", integers), unary("argsort"), unary("argsort", integers), unary("bincount", bins), unary("exp"),
            unary("sin"), binary("add", x, y), ("where", x, where), ("histogram", x, histogram), binary("matmul", matrix, matrix)):
        yield name, host.dtype.str[1:], host.size, call
    for axis in (0, 1):
        _, host, call = unary("sum", table, axis=axis)
        yield f"sum axis={axis}", host.dtype.str[1:], host.size, call


class Peer:
    """A library by NumPy's names."""

    def __init__(self, library):
        self._library, self.__name__ = library, library.__name__

    def __getattr__(self, name):
        function = getattr(self._library, name)
        if self.__name__ != "torch":
            return (lambda x: function(x, kind="stable")) if name == "argsort" and self.__name__ == "numpy" else function
        return {"cumsum": lambda x: function(x, 0), "sort": lambda x: function(x)[0], "argsort": lambda x: function(x, stable=True),
                "std": lambda x: function(x, correction=0)}.get(name, function)


def rows_cpu(sizes):
    for n in sizes:
        for name, dtype, count, call in work(n):
            ours, theirs = call(cc, lambda a: a), call(Peer(np), lambda a: a)
            assert close(ours(), theirs()), name
            ms, peer_ms = host_ms((ours, theirs))
            yield {"function": name, "dtype": dtype, "n": count, "library": "NumPy", "ms": ms, "peer_ms": peer_ms}


def rows_cuda(sizes):
    import torch

    torch.use_deterministic_algorithms(True)
    torch.backends.cuda.matmul.allow_tf32 = False
    try:
        import cupy
    except ImportError:
        cupy = None
    for n in sizes:
        for name, dtype, count, call in work(n):
            to_torch = lambda a: torch.from_numpy(a).cuda()
            ours = call(cc, to_torch)
            libraries = [("PyTorch", call(Peer(torch), to_torch))]
            if cupy is not None:
                libraries.append(("CuPy", call(Peer(cupy), cupy.asarray)))
            result, ms = ours(), device_ms(ours)
            for library, theirs in libraries:
                try:
                    # Bins of histc have other edges, and CuPy's argsort is not stable.
                    other = theirs()
                    assert name in ("histogram", "argsort")[: 2 if library == "CuPy" else 1] or close(result, other), (name, library)
                except RuntimeError as error:  # no deterministic algorithm
                    print(f"{library} {name}: {error}"[:200])
                    continue
                yield {"function": name, "dtype": dtype, "n": count, "library": library, "ms": ms, "peer_ms": device_ms(theirs)}


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
    parser.add_argument("--quick", action="store_true", help="up to 10^5 elements")
    options = parser.parse_args()
    sizes = SIZES[:2] if options.quick else SIZES
    rows = []
    for row in (rows_cuda if options.device == "cuda" else rows_cpu)(sizes):
        rows.append(row)
        print(f"{row['function']:10} {row['dtype']} {row['n']:>10}  {row['ms']:10.4f} ms  {row['library']:8} {row['peer_ms']:10.4f} ms"
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
