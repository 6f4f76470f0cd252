"""`python -m concord` and the command `concord`: the program of this package. `python -m concord demo` is a short tour."""

import os
import sys
import time

from . import _program


def demo():
    """The devices, one checked sum on each, and a check of all algorithms at a few sizes."""
    import concord as cc

    start = time.monotonic()
    print(cc.devices())
    values = cc.array([float(i % 1000) / 7 for i in range(1 << 16)], device="tbb") if _has_numpy() else None
    if values is not None:
        print("\nThe sum of 65,536 numbers, in decimal and hexadecimal:")
        for selector in cc.devices().column("selector"):
            total = float(cc.sum(values.to(selector)))
            print(f"  {selector:10} {total!r:22} {total.hex()}")
    print("\nEvery variant against the reference, f32 and u32, small sizes:", flush=True)
    status = os.spawnv(os.P_WAIT, _program.path(),
                       ["concord", "check", "--types", "f32,u32", "--sizes", "0,1,1000,2^16+3", "--patterns", "random"])
    print(f"\n{time.monotonic() - start:.0f} seconds. Next: python -c \"import concord as cc; help(cc)\", concord --help")
    return status


def _has_numpy():
    try:
        import numpy  # noqa: F401
    except ImportError:
        return False
    return True


def main():
    if sys.argv[1:2] == ["demo"]:
        sys.exit(demo())
    os.execv(_program.path(), ["concord", *sys.argv[1:]])


if __name__ == "__main__":
    main()
