#!/usr/bin/env python3
"""versions.py: fails unless this Python has the packages of docs/requirements.in in versions that they permit."""
import importlib.metadata
import re
import sys
from pathlib import Path


def numbers(version):
    return [int(n) for n in re.match(r"[\d.]+", version).group().rstrip(".").split(".")]


for line in (Path(__file__).parent / "requirements.in").read_text(encoding="utf-8").splitlines():
    if not line or line.startswith("#"):
        continue
    name, bounds = re.match(r"([\w-]+)(.*)", line).groups()
    found = numbers(importlib.metadata.version(name))
    for bound in filter(None, bounds.split(",")):
        operator, limit = re.match(r"(>=|<)(.*)", bound).groups()
        if (found >= numbers(limit)) != (operator == ">="):
            sys.exit(f"{name} is {importlib.metadata.version(name)}; {line} is needed")
