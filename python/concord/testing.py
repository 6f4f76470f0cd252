"""Compare arrays of any library and device, bitwise or within a bound, with a report of the differences.

    import concord as cc
    from concord.testing import assert_same_bits

    assert_same_bits(my_kernel(x), cc.cumsum(x))

Needs NumPy.
"""

import sys
from typing import Any

__all__ = ["assert_same_bits", "assert_within", "to_numpy"]


def to_numpy(x: Any) -> Any:
    """The elements as a numpy.ndarray, copied if they are on a GPU."""
    import numpy as np

    if isinstance(x, np.ndarray):
        return x
    if hasattr(x, "detach"):  # PyTorch
        return x.detach().cpu().numpy()
    if hasattr(x, "get") and hasattr(x, "__cuda_array_interface__"):  # CuPy
        return x.get()
    if hasattr(x, "copy_to_host"):  # Numba
        return x.copy_to_host()
    if hasattr(x, "numpy"):
        return x.numpy()
    return np.asarray(x)


def _same_kind(a, b):
    a, b = to_numpy(a), to_numpy(b)
    if a.dtype != b.dtype:
        raise AssertionError(f"dtypes differ: {a.dtype} and {b.dtype}")
    if a.shape != b.shape:
        raise AssertionError(f"shapes differ: {a.shape} and {b.shape}")
    return a, b


def _bits(x):
    """The bytes of the elements, a row for each. Without the padding of x87's 80-bit floats."""
    import numpy as np

    size = x.dtype.itemsize
    rows = np.ascontiguousarray(x).reshape(-1).view("u1").reshape(x.size, size)
    if x.dtype.char in "gG" and np.finfo(x.dtype).nmant == 63:
        part = np.dtype("g").itemsize
        rows = rows.reshape(x.size, size // part, part)[..., :10].reshape(x.size, size // part * 10)
    return rows


def _different(a, b):
    import numpy as np

    size = a.dtype.itemsize
    if size in (1, 2, 4, 8):
        a, b = (np.ascontiguousarray(x).reshape(-1).view(f"u{size}") for x in (a, b))
        return a != b
    return (_bits(a) != _bits(b)).any(axis=1)


def _described(value, bits):
    return f"{value!r} (0x{int.from_bytes(bits.tobytes(), sys.byteorder):0{bits.size * 2}x})"


def _report(a, b, wrong, extra=""):
    import numpy as np

    at = np.flatnonzero(wrong)
    flat_a, flat_b, bits_a, bits_b = a.reshape(-1), b.reshape(-1), _bits(a), _bits(b)
    first = int(at[0])
    index = np.unravel_index(first, a.shape) if a.shape else ()
    where = f"[{', '.join(str(int(i)) for i in index)}]"
    lines = [
        f"{len(at)} of {wrong.size} elements differ{extra}",
        f"  first at {where}: {_described(flat_a[first], bits_a[first])}, expected {_described(flat_b[first], bits_b[first])}",
    ]
    if a.dtype.kind == "c":
        with np.errstate(all="ignore"):
            distance = np.abs(flat_a[at].astype("G") - flat_b[at].astype("G"))
        distance = distance[np.isfinite(distance)]
        if distance.size:
            lines.append(f"  largest difference {float(distance.max()):.6g}")
    if a.dtype.kind == "f":
        with np.errstate(all="ignore"):
            distance = np.abs(flat_a[at].astype("f8") - flat_b[at].astype("f8"))
            ulp = np.abs(np.spacing(flat_b[at])).astype("f8")
            ratio = distance / ulp
        ratio = ratio[np.isfinite(ratio)]
        if ratio.size:
            lines.append(f"  largest difference {np.nanmax(distance):.6g}, {ratio.max():.6g} ulp")
    if len(at) > 1:
        lines.append(f"  last at index {int(at[-1])} of the flattened array")
    return "\n".join(lines)


def assert_same_bits(actual: Any, expected: Any) -> None:
    """Raises AssertionError unless dtype, shape and all bits are equal. NaNs are equal if their bits are."""
    a, b = _same_kind(actual, expected)
    wrong = _different(a, b)
    if wrong.any():
        raise AssertionError(_report(a, b, wrong))


def _difference(a, b):
    """a - b of real numbers; 0 for two NaNs and for equal infinities."""
    import numpy as np

    a, b = a.astype("g"), b.astype("g")
    with np.errstate(all="ignore"):
        return np.where((a == b) | ((a != a) & (b != b)), 0, a - b)


def assert_within(actual: Any, expected: Any, bound: float) -> None:
    """Raises AssertionError unless |actual - expected| <= bound, a number or an array of the same shape.

    NaN is within the bound of NaN only, and infinities of themselves. Real and imaginary parts follow these rules on their own.
    expected may have a wider dtype than actual.
    """
    import numpy as np

    a, b, limit = to_numpy(actual), to_numpy(expected), to_numpy(bound)
    if a.shape != b.shape:
        raise AssertionError(f"shapes differ: {a.shape} and {b.shape}")
    if np.any(np.isnan(limit)) or np.any(limit < 0):
        raise ValueError("bound: expected numbers that are not negative")
    if "c" in (a.dtype.kind, b.dtype.kind):
        distance = np.hypot(_difference(a.real, b.real), _difference(a.imag, b.imag))
    else:
        distance = np.abs(_difference(a, b))
    wrong = ~np.broadcast_to(distance <= limit, a.shape).reshape(-1)
    if wrong.any():
        at = int(np.argmax(wrong))
        allowed = np.broadcast_to(limit, a.shape).reshape(-1)[at]
        # Reports in the type of the actual numbers, if it has all parts of the expected ones.
        kind = a.dtype if a.dtype.kind == b.dtype.kind else np.result_type(a, b)
        a, b = a.astype(kind), b.astype(kind)
        raise AssertionError(_report(a, b, wrong, f" by more than the bound ({float(allowed):.6g} at the first)"))
