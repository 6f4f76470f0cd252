"""The files in docs/results/: which members they have, and a check of each.

NAME.bench.json: {"schema": 1, "title", "runs": [RUN, ...]}. A run is one measurement session; a machine may have several, for
example with other versions of peer libraries:
    command, date, version    what measured, on which day, and Concord's version
    commit                    git commit of that build, with " (modified)" if the sources differed from it
    note                      what a reader must know about the figures
    calls, hot                as in `concord bench --json`
    machine                   {cpu, cores, os, compiler}
    devices                   [{selector, name, driver, hardware, libraries, ceilings}, ...]
    results                   rows of `concord bench --json` (lab/bench/include/concord/lab/bench.hpp) with the members ROW
NAME.check.json: {"schema": 1, "title", "version", "date", "command", "covers", "devices": [{selector, name}, ...], "matrix": [CELL, ...]}.
    covers                    types, sizes and inputs of the cases, for captions
"""
import json
import math
import re
from pathlib import Path

RESULTS = Path(__file__).parent / "results"
TYPES = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64")


class Invalid(Exception):
    """A file that lacks a member or has one of another kind."""


def text(value):
    return isinstance(value, str) and value != ""


def date(value):
    return isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", value) is not None


def count(value):
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value) and value >= 0


def flag(value):
    return isinstance(value, bool)


def one_of(*values):
    return lambda value: value in values


def dictionary(of):
    return lambda value: isinstance(value, dict) and all(text(k) and of(v) for k, v in value.items())


# Members: (what they contain, whether they are required).
ROW = {"algorithm": (text, True), "function": (text, True), "variant": (text, True), "device": (text, True),
       "kind": (one_of("variant", "baseline"), True), "library": (text, False), "call": (text, False),
       "type": (one_of(*TYPES), True), "n": (count, True), "median_ms": (number, False), "q1_ms": (number, False),
       "q3_ms": (number, False), "gb_per_s": (number, False), "gflop_per_s": (number, False), "ceiling": (text, False),
       "of_ceiling": (number, False), "ratio_to": (text, False), "problem": (text, False), "note": (text, False)}
CELL = {"algorithm": (text, True), "variant": (text, True), "order": (text, True), "device": (text, True), "verdict": (text, True),
        "passed": (count, False), "compiled": (count, False), "failed": (count, False), "skipped": (count, False), "not_applicable": (count, False),
        "worst_error_over_bound": (number, False)}
MACHINE = {"cpu": (text, True), "cores": (count, True), "os": (text, True), "compiler": (text, True)}
DEVICE = {"selector": (text, True), "name": (text, True), "driver": (text, False), "hardware": (text, False),
          "libraries": (dictionary(text), False), "ceilings": (dictionary(number), False)}
RUN = {"command": (text, True), "date": (date, True), "version": (text, True), "commit": (text, False), "note": (text, False),
       "calls": (count, False), "hot": (flag, False), "machine": (dictionary(lambda _: True), True), "devices": (list, True),
       "results": (list, True)}
BENCH = {"schema": (one_of(1), True), "title": (text, True), "runs": (list, True)}
CHECK = {"schema": (one_of(1), True), "title": (text, True), "version": (text, True), "date": (date, True), "command": (text, True), "covers": (text, True),
         "devices": (list, True), "matrix": (list, True)}


def check_members(value, members, where):
    if not isinstance(value, dict):
        raise Invalid(f"{where} is not an object")
    for name, (kind, required) in members.items():
        if name not in value:
            if required:
                raise Invalid(f"{where} lacks '{name}'")
        elif not (isinstance(value[name], list) and value[name] if kind is list else kind(value[name])):
            raise Invalid(f"{where}: unexpected '{name}', got {json.dumps(value[name])[:60]}")
    for name in value:
        if name not in members:
            raise Invalid(f"{where}: unknown member '{name}'")


def check_run(run, where):
    check_members(run, RUN, where)
    check_members(run["machine"], MACHINE, f"{where}, machine")
    for k, device in enumerate(run["devices"]):
        check_members(device, DEVICE, f"{where}, device {k + 1}")
    selectors = {device["selector"] for device in run["devices"]}
    seen = set()
    for k, row in enumerate(run["results"]):
        at = f"{where}, result {k + 1}"
        check_members(row, ROW, at)
        if row["device"] not in selectors:
            raise Invalid(f"{at}: unknown device '{row['device']}'")
        if row["kind"] == "baseline" and "library" not in row:
            raise Invalid(f"{at}: a baseline lacks 'library'")
        if ("median_ms" in row) == ("problem" in row) or row.get("median_ms") == 0:
            raise Invalid(f"{at}: has either a time or a problem")
        key = tuple(row.get(name) for name in ("device", "algorithm", "function", "type", "n", "kind", "variant"))
        if key in seen:
            raise Invalid(f"{at}: a second row of the same measurement")
        seen.add(key)


def check_bench(stored):
    check_members(stored, BENCH, "the file")
    for k, run in enumerate(stored["runs"]):
        check_run(run, f"run {k + 1}")


def check_check(stored):
    check_members(stored, CHECK, "the file")
    for k, device in enumerate(stored["devices"]):
        check_members(device, {"selector": (text, True), "name": (text, True)}, f"device {k + 1}")
    for k, cell in enumerate(stored["matrix"]):
        check_members(cell, CELL, f"cell {k + 1}")


def read(path):
    """The content of a stored file. Throws Invalid with the file's name."""
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        (check_check if path.name.endswith(".check.json") else check_bench)(stored)
    except (ValueError, Invalid) as problem:
        raise Invalid(f"{path}: {problem}") from problem
    return stored
