#!/usr/bin/env python3
"""functions.py [--out FILE] [--quick]: the math functions in Concord, NumPy and PyTorch: bits, rounding and time.

Each row is one function on random numbers of an interval. It has the share of results with the same bits as Concord's, the
greatest difference in units in the last place, and the share of correctly rounded results (float32: the function in float64,
rounded). Times are per element, with the results in an existing array: on the CPU with all its threads, except that NumPy
uses one, and on the GPU if PyTorch has one. Concord's results must have the same bits on the CPU and the GPU.
"""
import argparse
import datetime
import json
import math
import platform

import numpy as np

import concord as cc
from compare import device_ms, host_ms

try:
    import torch
except ImportError:
    torch = None

GPU = torch is not None and torch.cuda.is_available()


def of_math(function):
    return np.frompyfunc(function, 1, 1)


# Name: interval of the arguments, NumPy's function, PyTorch's function, and the function in float64 if NumPy lacks it.
FUNCTIONS = {
    "exp": (-80, 80, "exp", "exp", None),
    "exp2": (-120, 120, "exp2", "exp2", None),
    "expm1": (-10, 10, "expm1", "expm1", None),
    "log": (0, 1000, "log", "log", None),
    "log2": (0, 1000, "log2", "log2", None),
    "log10": (0, 1000, "log10", "log10", None),
    "log1p": (-0.9, 10, "log1p", "log1p", None),
    "pow": (0.1, 9, "power", "pow", None),
    "sin": (-100, 100, "sin", "sin", None),
    "cos": (-100, 100, "cos", "cos", None),
    "tan": (-100, 100, "tan", "tan", None),
    "sinpi": (-0.5, 0.5, None, None, lambda x: np.sin(np.pi * x)),
    "cospi": (-0.5, 0.5, None, None, lambda x: np.sin(np.pi * (0.5 - np.abs(x)))),
    "asin": (-1, 1, "arcsin", "asin", None),
    "acos": (-1, 1, "arccos", "acos", None),
    "atan": (-10, 10, "arctan", "atan", None),
    "atan2": (-10, 10, "arctan2", "atan2", None),
    "sinh": (-50, 50, "sinh", "sinh", None),
    "cosh": (-50, 50, "cosh", "cosh", None),
    "tanh": (-5, 5, "tanh", "tanh", None),
    "erf": (-4, 4, None, "erf", of_math(math.erf)),
    "erfc": (-4, 8, None, "erfc", of_math(math.erfc)),
    "rsqrt": (0.001, 1000, None, "rsqrt", lambda x: 1 / np.sqrt(x)),
    "cbrt": (-1000, 1000, "cbrt", None, None),
    "hypot": (-100, 100, "hypot", "hypot", None),
    "lgamma": (2.5, 50, None, "lgamma", of_math(math.lgamma)),
    "tgamma": (0.1, 30, None, None, of_math(math.gamma)),
    "sqrt": (0, 1000, "sqrt", "sqrt", None),
}
TWO = ("pow", "atan2", "hypot")


def ordered(values):
    """Integers in the order of the floats, one apart for neighbours."""
    bits = values.view(f"i{values.dtype.itemsize}").astype("i8")
    return np.where(bits < 0, np.iinfo(values.view(f"i{values.dtype.itemsize}").dtype).min - bits, bits)


def compared(result, ours):
    """Share of results with the same bits, and the greatest difference in ulp."""
    unsigned = f"u{ours.dtype.itemsize}"
    both = ~(np.isnan(result) | np.isnan(ours))
    same = (result.view(unsigned) == ours.view(unsigned)) | (np.isnan(result) & np.isnan(ours))
    return float(same.mean()), int(np.abs(ordered(result[both]) - ordered(ours[both])).max())


def measured(name, dtype, n, timed):
    """The row of a function. n: elements that are compared. timed: elements on the CPU and the GPU in a call that is timed."""
    low, high, numpy_name, torch_name, reference = FUNCTIONS[name]
    random = np.random.default_rng(n)

    def inputs(count):
        return [random.uniform(low, high, count).astype(dtype) for _ in range(2 if name in TWO else 1)]

    ours, numpy_function = getattr(cc, name), numpy_name and getattr(np, numpy_name)
    torch_function = torch_name and torch and getattr(torch, torch_name)
    x = inputs(n)
    result = ours(*x, device="tbb")
    results = {}
    if numpy_function:
        results["NumPy"] = numpy_function(*x)
    if torch_function:
        results["PyTorch"] = torch_function(*map(torch.from_numpy, x)).numpy()
    if GPU:
        on_gpu = [torch.from_numpy(a).cuda() for a in x]
        assert ours(*on_gpu).cpu().numpy().tobytes() == result.tobytes(), f"{name}: other bits on the GPU"
        if torch_function:
            results["PyTorch on the GPU"] = torch_function(*on_gpu).cpu().numpy()
    row = {"function": name, "dtype": dtype, "low": low, "high": high, "same": {}, "ulp": {}, "rounded": {}, "ns": {}, "gpu_ns": {}}
    for library, theirs in results.items():
        row["same"][library], row["ulp"][library] = compared(theirs, result)
    if dtype == "f4":
        wide = (reference or numpy_function)(*(a.astype("f8") for a in x))
        rounded = np.asarray(wide, dtype="f8").astype("f4")
        row["rounded"] = {library: float((theirs == rounded).mean()) for library, theirs in {"Concord": result, **results}.items()}

    x = inputs(timed[0])
    out = np.empty_like(x[0])
    per_element = 1e6 / timed[0]
    row["ns"]["Concord"] = host_ms(lambda: ours(*x, out=out)) * per_element
    if numpy_function:
        row["ns"]["NumPy"] = host_ms(lambda: numpy_function(*x, out=out)) * per_element
    if torch_function:
        tensors, to = [torch.from_numpy(a) for a in x], torch.from_numpy(out)
        row["ns"]["PyTorch"] = host_ms(lambda: torch_function(*tensors, out=to)) * per_element
    if GPU:
        x = [torch.empty(timed[1], dtype=torch.float32 if dtype == "f4" else torch.float64, device="cuda").uniform_(low, high)
             for _ in x]
        to = torch.empty_like(x[0])
        per_element = 1e6 / timed[1]
        row["gpu_ns"]["Concord"] = device_ms(lambda: ours(*x, out=to)) * per_element
        if torch_function:
            row["gpu_ns"]["PyTorch"] = device_ms(lambda: torch_function(*x, out=to)) * per_element
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", metavar="FILE")
    parser.add_argument("--quick", action="store_true", help="fewer elements")
    options = parser.parse_args()
    n, timed = (1 << 14, (1 << 18, 1 << 22)) if options.quick else (1 << 20, (1 << 22, 1 << 26))
    rows = []
    for name in FUNCTIONS:
        for dtype in ("f4", "f8"):
            with np.errstate(all="ignore"):
                row = measured(name, dtype, n, timed)
            rows.append(row)
            parts = [f"{library} {share:.2%} same bits, {row['ulp'][library]} ulp" for library, share in row["same"].items()]
            parts += [f"{library} {share:.4%} rounded" for library, share in row["rounded"].items()]
            parts += [f"{library} {ns:.3g} ns" for library, ns in row["ns"].items()]
            parts += [f"{library} {ns:.3g} ns on the GPU" for library, ns in row["gpu_ns"].items()]
            print(f"{name} {dtype}: " + ", ".join(parts), flush=True)
    versions = {"NumPy": np.__version__, "Python": platform.python_version()}
    if torch is not None:
        versions["PyTorch"] = torch.__version__
    selectors = {"device": "tbb:0", **({"gpu": "cuda:0"} if GPU else {})}
    if options.out:
        devices = {key: f"{cc.device(selector).name}, {cc.device(selector).driver}" for key, selector in selectors.items()}
        with open(options.out, "w", encoding="utf-8") as file:
            json.dump({"schema": 1, "date": str(datetime.date.today()), "version": cc.__version__, **devices, "versions": versions,
                       "elements": n, "timed": timed[0], "gpu_timed": timed[1], "rows": rows}, file, indent=1)


if __name__ == "__main__":
    main()
