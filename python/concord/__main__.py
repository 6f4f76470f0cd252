"""`python -m concord` and the command `concord`: the program of this package. `python -m concord demo` is a short tour."""

import array
import os
import sys
import time

from . import _program


def demo():
    """The devices, one checked sum on each, and a check of all algorithms at a few sizes."""
    import concord as cc

    start = time.monotonic()
    print(cc.devices())
    numbers = array.array("d", (i % 1000 / 7 for i in range(1 << 16)))
    print("\nThe sum of 65,536 numbers, in decimal and hexadecimal:")
    for selector in cc.devices().column("selector"):
        total = cc.sum(cc.array(numbers, device=selector)).item()
        print(f"  {selector:10} {total!r:22} {total.hex()}")
    print("\nEvery variant of three algorithms against the reference:", flush=True)
    status = os.spawnv(os.P_WAIT, _program.path(),
                       ["concord", "check", "map", "reduce", "scan", "--types", "f32", "--sizes", "1,1000", "--patterns", "random"])
    print(f"\n{time.monotonic() - start:.0f} seconds. Next: python -c \"import concord as cc; help(cc)\", concord --help")
    return status


def main():
    if sys.argv[1:2] == ["demo"]:
        sys.exit(demo())
    os.execv(_program.path(), ["concord", *sys.argv[1:]])


if __name__ == "__main__":
    main()
