#!/usr/bin/env python3
"""store_results.py [OPTION...] NAME FILE...: stores measurements or checks in docs/results/ for the documentation's pages.

FILE is the folder of `concord study headline --out` or of the studies over ranks (`concord study weak-scaling strong-scaling
throughput-scaling --out`), or what `concord bench --json` or `concord check --json` wrote. Measurements become
docs/results/NAME.bench.json, and those over ranks docs/results/NAME.ranks.json, with a run for each FILE. Checks become
docs/results/NAME.check.json, where a later FILE replaces what an earlier one has of the same variant and device. NAME names the
machine, such as h200. Of a measurement stay machine, versions, commit, command, attainable rates and the rows' times.

NAME.bench.json: {"schema": 1, "title", "runs": [RUN, ...]}. A run is one measurement session; a machine may have several, for
example with other versions of peer libraries:
    command, date, version    what measured, on which day, and Concord's version
    commit                    git commit of that build, with " (modified)" if the sources differed from it
    note                      what a reader must know about the figures
    calls, hot                as in `concord bench --json`
    machine, devices          the members MACHINE and DEVICE
    results                   rows of `concord bench --json` (lab/bench/include/concord/lab/bench.hpp) with the members ROW
NAME.ranks.json: the same, with all devices of the folder. No measurement may be in two runs.
NAME.check.json: {"schema": 1, "title", "command", "covers", "devices": [{selector, name}, ...], "matrix": [{the members CELL,
version, commit, date}, ...]}. covers: types, sizes and inputs of the cases, for captions. A cell's commit is that of the build which
checked the variant; a cell without one was stored before checks named it. A check that was interrupted or limited to some types,
sizes or inputs is refused; one of some algorithms is not, so that several calls may check a machine.
"""
import argparse
import datetime
import json
import re
from pathlib import Path

ROW = ("algorithm function variant device kind library call type n median_ms q1_ms q3_ms gb_per_s gflop_per_s ceiling of_ceiling "
       "ratio_to problem note").split()
CELL = "algorithm variant order device verdict passed compiled failed skipped not_applicable worst_error_over_bound".split()
BUILD = "version commit date".split()
DEVICE = "selector name driver hardware libraries ceilings".split()
MACHINE = "cpu cores os compiler".split()
RANKS = {"weak_ranks": "weak-scaling", "strong_ranks": "strong-scaling", "distributed_reduce": "throughput-scaling",
         "distributed_histogram": "throughput-scaling", "distributed_sort": "throughput-scaling"}  # the study of each algorithm


def rounded(value):
    return float(f"{value:.4g}") if isinstance(value, float) else value


def trimmed(value, members):
    """These members in this order, with four digits, without empty ones and without the names of files on the machine."""
    kept = {}
    for name in members:
        item = value.get(name)
        if isinstance(item, dict):
            item = {k: rounded(v) for k, v in item.items() if "/" not in str(v) and v is not None}
        if item not in (None, "", {}):
            kept[name] = rounded(item)
    return kept


def study(folder):
    """A study's results as `concord bench --json` prints them: the rows that were measured together with the baselines, or without
    such rows those over ranks."""
    run = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    rows = [line["row"] for line in run["results"] if line.get("compared")]
    over_ranks = [] if rows else [line["row"] for line in run["results"] if line["row"]["algorithm"] in RANKS]
    run["results"] = rows or over_ranks
    devices = {device["selector"]: device for device in run["devices"]}
    used = list(devices if over_ranks else dict.fromkeys(row["device"] for row in rows))
    run["devices"] = [devices[selector] for selector in used]
    names = " ".join(dict.fromkeys(RANKS[row["algorithm"]] for row in over_ranks) or ["headline"])
    quick = " --quick" if run.get("quick") else ""
    run["command"] = f"concord study {names}{quick} --devices {','.join(used)} --out DIR"
    if over_ranks and all("process" in row["function"] for row in over_ranks):
        ranks = max(int(re.search(r"[0-9]+$", row["variant"])[0]) for row in over_ranks)
        run["command"] = f"mpirun -n {ranks} concord study {names}{quick} --out DIR"
    return run


def kind_of(file):
    if "matrix" in file:
        return "check"
    return "ranks" if any(row["algorithm"] in RANKS for row in file["results"]) else "bench"


def dump(value):
    """JSON in which each device, row and cell is a line."""
    if not isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    parts = []
    for key, item in value.items():
        if key in ("runs", "results", "matrix", "devices") and item:
            text = "[\n" + ",\n".join(dump(x) if key == "runs" else json.dumps(x, ensure_ascii=False) for x in item) + "]"
        else:
            text = json.dumps(item, ensure_ascii=False)
        parts.append(f"{json.dumps(key)}: {text}")
    return "{" + ",\n".join(parts) + "}"


def stored_check(options, files, old):
    names = {d["selector"]: d["name"] for d in old.get("devices", [])}
    names |= dict(pair.split("=", 1) for pair in options.device_name)
    devices = {d["selector"]: d for d in old["devices"]} if options.append and old else {}
    known = [trimmed(old, BUILD) | cell for cell in old["matrix"]] if options.append and old else []
    matrix = {(c["algorithm"], c["variant"], c["device"]): c for c in known}
    for file in files:
        if file.get("interrupted"):
            raise SystemExit("store_results.py: an interrupted check; run it again")
        if file.get("limited_to"):
            raise SystemExit(f"store_results.py: a check that is limited to {', '.join(file['limited_to'])}; run it without limits")
        build = {"version": file["version"], "commit": file.get("commit"), "date": file.get("date", options.date)[:10]}
        for selector in file["devices"]:
            devices[selector] = {"selector": selector, "name": names.get(selector, selector)}
        for cell in file["matrix"]:
            matrix[cell["algorithm"], cell["variant"], cell["device"]] = trimmed(cell, CELL) | trimmed(build, BUILD)
    command = options.command or f"concord check --devices {','.join(devices)} --json FILE"
    return {"schema": 1, "title": options.title or old.get("title") or options.name, "command": command, "covers": options.covers,
            "devices": list(devices.values()), "matrix": list(matrix.values())}


def stored_bench(options, files, old):
    runs = old["runs"] if options.append and old else []
    for file in files:
        run = {"command": options.command or file.get("command"), "date": file.get("date", options.date)[:10],
               "version": file["version"], "commit": file.get("commit"), "note": options.note, "calls": file.get("calls"),
               "hot": file.get("hot"), "machine": trimmed(file["machine"], MACHINE),
               "devices": [trimmed(device, DEVICE) for device in file["devices"]],
               "results": [trimmed(row, ROW) for row in file["results"]]}
        if not run["command"] or not run["results"]:
            raise SystemExit("store_results.py: no results of `headline` or over ranks, or a file that needs --command")
        runs.append({k: v for k, v in run.items() if v not in (None, 0, False)})
    return {"schema": 1, "title": options.title or old.get("title") or runs[0]["devices"][0]["name"], "runs": runs}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--title", help="the machine's name on the pages; default: as stored, or that of its first device")
    parser.add_argument("--command", help="the command that measured, if the file does not tell")
    parser.add_argument("--date", help="the day, if the file does not tell; default: today", default=datetime.date.today().isoformat())
    parser.add_argument("--note", help="what a reader must know about the figures")
    parser.add_argument("--covers", help="types, sizes and inputs of a check, for captions", default="all element types, "
                        "sizes from 0 to 2^23 + 12345 and all input patterns")
    parser.add_argument("--device-name", action="append", default=[], metavar="SELECTOR=NAME", help="for the columns of checks; default: as stored")
    parser.add_argument("--append", action="store_true", help="keep the runs that are stored already")
    parser.add_argument("--results", type=Path, default=Path(__file__).parent / "results", help="folder of the stored files")
    parser.add_argument("name")
    parser.add_argument("files", type=Path, nargs="+")
    options = parser.parse_args()
    files = [study(file) if file.is_dir() else json.loads(file.read_text(encoding="utf-8")) for file in options.files]
    kind, *others = dict.fromkeys(map(kind_of, files))
    if others:
        raise SystemExit(f"store_results.py: files of different kinds: {kind}, {', '.join(others)}")
    stored_as = stored_check if kind == "check" else stored_bench
    target = options.results / f"{options.name}.{kind}.json"
    old = json.loads(target.read_text(encoding="utf-8")) if target.exists() else {}
    stored = stored_as(options, files, old)
    options.results.mkdir(exist_ok=True)
    target.write_text(dump(stored) + "\n", encoding="utf-8")
    print(f"{target}: {sum(len(r['results']) for r in stored.get('runs', []))} rows, {len(stored.get('matrix', []))} combinations")


main()
