"""Runs of equal neighbours: inputs, and the positions of their runs by NumPy."""

import numpy as np

from program import TYPES, bits

# All NaNs differ, also those with the same bits, and so do the zeros.
SPECIAL = bits([0x7FC00000, 0x7FC00000, 0, 0x80000000, 0x80000000, 0, 0x7F800000, 0x7F800000, 0xFFC00001, 0xFFC00001], "f4")


def inputs(name):
    """Arrays of a type: empty, of one element, equal, different, and with runs of 1 to 2000 elements."""
    kind = TYPES[name]
    runs = np.repeat(np.arange(300) % 120, (np.arange(300) * 37 % 11) ** 2 + 1)
    long = np.repeat(np.arange(9), 2000)
    return [np.array(x, kind) for x in ([], [3], [7] * 1000, np.arange(120), runs, long)]


def starts(x):
    """The positions at which runs begin."""
    if x.size == 0:
        return np.empty(0, np.intp)
    same = x.view(f"u{x.itemsize}")
    begins = np.append(True, same[1:] != same[:-1])
    if x.dtype.kind == "f":
        begins |= np.isnan(x)
    return np.flatnonzero(begins)


def lengths(x):
    """The number of elements of each run."""
    return np.diff(np.append(starts(x), x.size)).astype("u8")
