"""Compare arrays of any library and device bit by bit, or within a bound, with a report of what differs.

    import concord as cc
    from concord.testing import assert_same_bits

    assert_same_bits(my_kernel(x), cc.cumsum(x))

Needs NumPy.
"""

__all__ = ["assert_same_bits", "assert_within", "to_numpy"]


def to_numpy(x):
    """The elements as an array of NumPy, copied from a GPU if they are there."""
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
    import numpy as np

    return np.ascontiguousarray(x).reshape(-1).view(f"u{x.dtype.itemsize}")


def _described(value, bits):
    return f"{value!r} (0x{int(bits):0{bits.dtype.itemsize * 2}x})"


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


def assert_same_bits(actual, expected):
    """Raises AssertionError unless dtype, shape and all bits are equal. NaNs are equal if their bits are."""
    a, b = _same_kind(actual, expected)
    wrong = _bits(a) != _bits(b)
    if wrong.any():
        raise AssertionError(_report(a, b, wrong))


def assert_within(actual, expected, bound):
    """Raises AssertionError unless |actual - expected| <= bound, a number or an array of the same shape.

    NaN is within the bound of NaN only, and infinities of themselves. expected may have a wider dtype than actual.
    """
    import numpy as np

    a, b, limit = to_numpy(actual), to_numpy(expected), to_numpy(bound)
    if a.shape != b.shape:
        raise AssertionError(f"shapes differ: {a.shape} and {b.shape}")
    if np.any(np.isnan(limit)) or np.any(limit < 0):
        raise ValueError("bound: expected numbers that are not negative")
    wide = np.longdouble
    with np.errstate(all="ignore"):
        distance = np.abs(a.astype(wide) - b.astype(wide))
        right = (distance <= limit) | (a == b) | ((a != a) & (b != b))
    wrong = ~np.broadcast_to(right, a.shape).reshape(-1)
    if wrong.any():
        at = int(np.argmax(wrong))
        allowed = np.broadcast_to(limit, a.shape).reshape(-1)[at]
        raise AssertionError(_report(a, b.astype(a.dtype), wrong, f" by more than the bound ({float(allowed):.6g} at the first)"))
