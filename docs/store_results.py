#!/usr/bin/env python3
"""store_results.py [OPTION...] NAME FILE...: stores measurements or checks in docs/results/, from which docs/performance.py prints.

FILE is what `concord bench --json` or `concord check --json` wrote. Measurements become docs/results/NAME.bench.json with a run for
each FILE; checks become docs/results/NAME.check.json, where a later FILE replaces what an earlier one has of the same device.
NAME names the machine, such as h200. Of a measurement stay machine, versions, command, attainable rates and the rows' times.
"""
import argparse
import datetime
import json
import sys
from pathlib import Path

RESULTS = Path(__file__).parent / "results"
ROW = ("algorithm", "function", "variant", "device", "kind", "library", "type", "n", "median_ms", "q1_ms", "q3_ms", "gb_per_s",
       "gflop_per_s", "ceiling", "of_ceiling", "ratio_to", "problem")
CELL = ("algorithm", "variant", "order", "device", "verdict", "passed", "failed", "skipped", "not_applicable",
        "worst_error_over_bound")


def rounded(value):
    return float(f"{value:.4g}") if isinstance(value, float) else value


def trimmed(row, fields):
    return {field: rounded(row[field]) for field in fields if row.get(field) is not None}


def dump(value, lists):
    """JSON in which each element of the named lists is a line."""
    if isinstance(value, dict):
        parts = []
        for key, item in value.items():
            if key in lists and item:
                text = "[\n" + ",\n".join(json.dumps(x, ensure_ascii=False) for x in item) + "]"
            elif key == "runs":
                text = "[\n" + ",\n".join(dump(x, lists) for x in item) + "]"
            else:
                text = json.dumps(item, ensure_ascii=False)
            parts.append(f"{json.dumps(key)}: {text}")
        return "{" + ",\n".join(parts) + "}"
    return json.dumps(value, ensure_ascii=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--title", help="the machine's name on the pages; default: that of its first device")
    parser.add_argument("--command", help="the command that measured, if the file does not tell")
    parser.add_argument("--date", help="the day, if the file does not tell; default: today")
    parser.add_argument("--note", help="what a reader must know about the figures")
    parser.add_argument("--device-name", action="append", default=[], metavar="SELECTOR=NAME", help="for the columns of checks")
    parser.add_argument("--append", action="store_true", help="keep the runs that are stored already")
    parser.add_argument("name")
    parser.add_argument("files", type=Path, nargs="+")
    arguments = parser.parse_args()
    read = [json.loads(file.read_text(encoding="utf-8")) for file in arguments.files]
    is_check = "matrix" in read[0]
    target = RESULTS / f"{arguments.name}.{'check' if is_check else 'bench'}.json"
    old = json.loads(target.read_text(encoding="utf-8")) if arguments.append and target.exists() else None
    today = datetime.date.today().isoformat()
    if is_check:
        names = dict(pair.split("=", 1) for pair in arguments.device_name)
        matrix = {(c["algorithm"], c["variant"], c["device"]): c for c in (old or {}).get("matrix", [])}
        devices = {d["selector"]: d for d in (old or {}).get("devices", [])}
        for file in read:
            for device in file["devices"]:
                selector = device if isinstance(device, str) else device["selector"]
                name = names.get(selector) or (device if isinstance(device, dict) else {}).get("name") or selector
                devices[selector] = {"selector": selector, "name": name}
            for cell in file["matrix"]:
                matrix[cell["algorithm"], cell["variant"], cell["device"]] = trimmed(cell, CELL)
        stored = {"schema": 1, "title": arguments.title or arguments.name, "version": read[-1]["version"],
                  "date": arguments.date or today, "command": arguments.command or "concord check --json FILE",
                  "devices": list(devices.values()), "matrix": list(matrix.values())}
    else:
        runs = (old or {}).get("runs", [])
        for file in read:
            command = arguments.command or file.get("command")
            if not command:
                sys.exit("store_results.py: the file does not tell its command; give --command")
            run = {"command": command, "date": (arguments.date or file.get("date") or today)[:10], "version": file["version"],
                   "note": arguments.note or file.get("note"), "calls": file.get("calls", 0), "hot": file.get("hot", False),
                   "machine": {k: v for k, v in file["machine"].items() if k != "memory_bytes"},
                   "devices": [dict(d, ceilings={k: rounded(v) for k, v in d["ceilings"].items()}) for d in file["devices"]],
                   "results": [trimmed(row, ROW) for row in file["results"]]}
            runs.append({k: v for k, v in run.items() if v not in (None, 0, False)})
        stored = {"schema": 1, "title": arguments.title or runs[0]["devices"][0]["name"], "runs": runs}
    RESULTS.mkdir(exist_ok=True)
    target.write_text(dump(stored, ("results", "matrix", "devices")) + "\n", encoding="utf-8")
    print(f"{target}: {sum(len(r['results']) for r in stored.get('runs', []))} rows, {len(stored.get('matrix', []))} combinations")


main()
