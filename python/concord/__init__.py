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
    all,
    any,
    argmax,
    argmin,
    argsort,
    array,
    asin,
    atan,
    atan2,
    bincount,
    bitwise_and,
    bitwise_invert,
    bitwise_left_shift,
    bitwise_or,
    bitwise_right_shift,
    bitwise_xor,
    cbrt,
    ceil,
    clip,
    compact,
    compress,
    convolve,
    copysign,
    cos,
    cosh,
    cospi,
    cumprod,
    cumsum,
    device,
    divide,
    dot,
    empty,
    equal,
    erf,
    erfc,
    exp,
    exp2,
    expm1,
    floor,
    floor_divide,
    from_dlpack,
    function,
    greater,
    greater_equal,
    histogram,
    hypot,
    isfinite,
    isinf,
    isnan,
    kernel,
    less,
    less_equal,
    lgamma,
    log,
    log10,
    log1p,
    log2,
    logaddexp,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
    map,
    matmul,
    max,
    maximum,
    mean,
    min,
    minimum,
    multiply,
    negative,
    nextafter,
    norm,
    not_equal,
    partition,
    pow,
    power,
    prod,
    random,
    reciprocal,
    reduce,
    reduce_by_key,
    remainder,
    round,
    rsqrt,
    run_length_encode,
    scan,
    scan_by_key,
    segmented_reduce,
    segmented_scan,
    segmented_sort,
    sign,
    signbit,
    sin,
    sinh,
    sinpi,
    sort,
    sort_pairs,
    sqrt,
    square,
    std,
    stencil,
    subtract,
    sum,
    tan,
    tanh,
    tgamma,
    transpose,
    trunc,
    unique_consecutive,
    var,
    where,
)
from . import _signatures
from ._arrays import (
    __array_namespace_info__,
    _put,
    arange,
    argwhere,
    asarray,
    astype,
    broadcast_arrays,
    broadcast_to,
    can_cast,
    concat,
    conj,
    count_nonzero,
    cumulative_prod,
    cumulative_sum,
    empty_like,
    expand_dims,
    eye,
    finfo,
    flip,
    full,
    full_like,
    iinfo,
    isdtype,
    linspace,
    matrix_transpose,
    moveaxis,
    nonzero,
    ones,
    ones_like,
    permute_dims,
    positive,
    repeat,
    reshape,
    result_type,
    roll,
    squeeze,
    stack,
    take,
    tile,
    unstack,
    vecdot,
    zeros,
    zeros_like,
)
from ._tables import Table, algorithms, bench, check, devices


_signatures.install()

# Types by their names, which numpy.dtype() and dtype= accept.
bool = bool_ = "bool"
int8, int16, int32, int64 = "int8", "int16", "int32", "int64"
uint8, uint16, uint32, uint64 = "uint8", "uint16", "uint32", "uint64"
float32, float64 = "float32", "float64"
e, inf, nan, newaxis, pi = 2.718281828459045, float("inf"), float("nan"), None, 3.141592653589793


def _restored(values, selector):
    """An array of a pickle, whose device may be missing here."""
    try:
        return array(values, selector)
    except Unavailable:
        return array(values)


__all__ = [
    "Array", "CompileFailed", "Device", "DeviceFailed", "Error", "FileError", "Function", "InvalidArgument", "Kernel",
    "OutOfMemory", "Stream", "Table", "Unavailable", "Unsupported", "WrongDevice", "abs", "acos", "add", "algorithms", "all",
    "any", "arange", "argmax", "argmin", "argsort", "argwhere", "array", "asarray", "asin", "astype", "atan", "atan2",
    "bench", "bincount", "bitwise_and", "bitwise_invert", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift",
    "bitwise_xor", "bool", "bool_", "broadcast_arrays", "broadcast_to", "can_cast", "cbrt", "ceil", "check", "clip",
    "compact", "compress", "concat", "conj", "convolve", "copysign", "cos", "cosh", "cospi", "count_nonzero", "cumprod", "cumsum",
    "cumulative_prod", "cumulative_sum", "device", "devices", "divide", "dot", "e", "empty", "empty_like", "equal", "erf",
    "erfc", "exp", "exp2", "expand_dims", "expm1", "eye", "finfo", "flip", "float32", "float64", "floor", "floor_divide",
    "from_dlpack", "full", "full_like", "function", "greater", "greater_equal", "histogram", "hypot", "iinfo", "inf",
    "int16", "int32", "int64", "int8", "isdtype", "isfinite", "isinf", "isnan", "kernel", "less", "less_equal", "lgamma",
    "linspace", "log", "log10", "log1p", "log2", "logaddexp", "logical_and", "logical_not", "logical_or", "logical_xor",
    "map", "matmul", "matrix_transpose", "max", "maximum", "mean", "min", "minimum", "moveaxis", "multiply", "nan",
    "negative", "nextafter", "nonzero", "norm", "not_equal", "ones", "ones_like", "partition", "permute_dims", "pi",
    "positive", "pow", "power", "prod", "random", "reciprocal", "reduce", "reduce_by_key", "remainder", "repeat", "reshape", "result_type", "roll",
    "round", "rsqrt", "run_length_encode", "scan", "scan_by_key", "segmented_reduce", "segmented_scan", "segmented_sort", "sign", "signbit",
    "sin", "sinh", "sinpi", "sort", "sort_pairs", "sqrt", "square",
    "squeeze", "stack", "std", "stencil", "subtract", "sum", "take", "tan", "tanh", "testing", "tgamma", "tile", "transpose", "trunc",
    "uint16", "uint32", "uint64", "uint8", "unique_consecutive", "unstack", "var", "vecdot", "where", "zeros", "zeros_like",
]
