"""Data-parallel algorithms with bitwise identical results on CUDA, OpenCL and CPUs.

    import concord as cc

    cc.sum(x)        # x: an array of NumPy, PyTorch, CuPy, JAX, ... or a concord.Array

Calls read arrays without copying them. Results are arrays of the same library, on the device of the first argument. CUDA calls are
enqueued on the library's current stream, and most return before their work is done. All functions take the keyword
arguments device (where to compute; host arrays are copied there if necessary), stream, order ('unspecified' allows faster
orders of operations) and variant (a name from `concord algorithms`).
"""

import os as _os
import sys as _sys
from pathlib import Path as _Path


if "t" in _sys.abiflags:
    raise ImportError("concord: free-threaded builds of Python are not supported, got " + _sys.version.split("(")[0].strip() +
                      "t; use a build with the global interpreter lock")


def _find_libraries():
    """Lets the backends find the libraries in NVIDIA's and PoCL's wheels. Variables that are set have precedence."""
    packages = _Path(__file__).parent.parent
    if not _os.environ.get("CONCORD_NVRTC") and (
        any((packages / "nvidia").glob("cu*/lib/libnvrtc.so.*")) or any((packages / "nvidia").glob("cuda_nvrtc/lib/libnvrtc.so.*"))
    ):
        _os.environ["CONCORD_NVRTC"] = str(packages)
    # PoCL's wheel puts its driver there.
    pocl = next((packages / "pyopencl" / ".libs").glob("libpocl*.so"), None)
    has_drivers = any(_Path("/etc/OpenCL/vendors").glob("*.icd"))
    if pocl and not has_drivers and not _os.environ.get("OCL_ICD_VENDORS"):
        _os.environ["OCL_ICD_VENDORS"] = str(pocl)


_find_libraries()

from . import testing
from ._concord import (
    Array,
    CompileFailed,
    Device,
    DeviceFailed,
    Error,
    FileError,
    Function,
    InvalidArgument,
    Kernel,
    OutOfMemory,
    Stream,
    Unavailable,
    Unsupported,
    WrongDevice,
    __version__,
    abs,
    acos,
    add,
    argsort,
    array,
    asin,
    atan,
    atan2,
    bincount,
    cbrt,
    compact,
    compress,
    convolve,
    cos,
    cosh,
    cospi,
    cumsum,
    device,
    empty,
    erf,
    erfc,
    exp,
    exp2,
    expm1,
    from_dlpack,
    function,
    histogram,
    hypot,
    kernel,
    lgamma,
    log,
    log10,
    log1p,
    log2,
    map,
    matmul,
    max,
    min,
    negative,
    partition,
    pow,
    prod,
    reduce,
    rsqrt,
    scan,
    sin,
    sinh,
    sinpi,
    sort,
    sort_pairs,
    sqrt,
    square,
    stencil,
    sum,
    tan,
    tanh,
    tgamma,
    transpose,
)
from . import _signatures
from ._tables import Table, algorithms, bench, check, devices


_signatures.install()


def _restored(values, selector):
    """An array of a pickle, whose device may be missing here."""
    try:
        return array(values, selector)
    except Unavailable:
        return array(values)


__all__ = [
    "Array", "CompileFailed", "Device", "DeviceFailed", "Error", "FileError", "Function", "InvalidArgument", "Kernel",
    "OutOfMemory", "Stream", "Table", "Unavailable", "Unsupported", "WrongDevice", "abs", "acos", "add", "algorithms",
    "argsort", "array", "asin", "atan", "atan2", "bench", "bincount", "cbrt", "check", "compact", "compress", "convolve",
    "cos", "cosh", "cospi", "cumsum", "device", "devices", "empty", "erf", "erfc", "exp", "exp2", "expm1", "from_dlpack",
    "function", "histogram", "hypot", "kernel", "lgamma", "log", "log10", "log1p", "log2", "map", "matmul", "max", "min",
    "negative", "partition", "pow", "prod", "reduce", "rsqrt", "scan", "sin", "sinh", "sinpi", "sort", "sort_pairs", "sqrt",
    "square", "stencil", "sum", "tan", "tanh", "testing", "tgamma", "transpose",
]
