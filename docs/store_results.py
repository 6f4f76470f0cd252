#!/usr/bin/env python3
"""store_results.py [OPTION...] NAME FILE...: stores measurements or checks in docs/results/, from which docs/performance.py prints.

FILE is the folder of `concord study headline --out`, or what `concord bench --json` or `concord check --json` wrote. Measurements
become docs/results/NAME.bench.json with a run for each FILE; checks become docs/results/NAME.check.json, where a later FILE replaces what an earlier one has of the same device.
NAME names the machine, such as h200. Of a measurement stay machine, versions, commit, command, attainable rates and the rows' times.
"""
import argparse
import datetime
import json
import sys
from pathlib import Path

sys.dont_write_bytecode = True
import stored_results
from stored_results import CELL, ROW


def rounded(value):
    return float(f"{value:.4g}") if isinstance(value, float) else value


def trimmed(row, fields):
    return {field: rounded(row[field]) for field in fields if row.get(field) is not None}


def study(folder):
    """A study's results as `concord bench --json` prints them: the rows that were measured together with the baselines."""
    lines = []
    for line in (folder / "results.jsonl").read_text(encoding="utf-8").splitlines():
        try:
            lines.append(json.loads(line))
        except ValueError:
            break  # the run was interrupted while it wrote this line
    run, devices, rows = lines[0], {}, {}
    for line in lines:
        if line["kind"] == "device":
            devices[line["selector"]] = line
        elif line["kind"] == "result" and line.get("compared"):
            rows[line["key"]] = line["row"]
    # Concord's row is the last of each group. Without it the group is incomplete.
    work = [tuple(row[k] for k in ("device", "algorithm", "function", "type", "n")) for row in rows.values()]
    whole = {at for at, row in zip(work, rows.values()) if row["kind"] == "variant"}
    results = [row for at, row in zip(work, rows.values()) if at in whole]
    if not results:
        sys.exit(f"store_results.py: {folder} has no results of the study `headline`")
    used = list(dict.fromkeys(row["device"] for row in results))
    quick = " --quick" if run.get("quick") else ""
    return {"command": f"concord study headline{quick} --devices {','.join(used)} --out DIR", "date": run["date"],
            "version": run["version"], "commit": run.get("commit"), "machine": run["machine"],
            "devices": [{k: devices[s].get(k) for k in ("selector", "name", "driver", "hardware", "libraries", "ceilings")}
                        for s in used], "results": results}


def stored_device(device):
    """Without the names of files on the machine."""
    libraries = {name: version for name, version in (device.get("libraries") or {}).items() if "/" not in version}
    members = {"selector": device["selector"], "name": device["name"], "driver": device.get("driver"),
               "hardware": device.get("hardware"), "libraries": libraries,
               "ceilings": {k: rounded(v) for k, v in device["ceilings"].items()}}
    return {k: v for k, v in members.items() if v}


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
    parser.add_argument("--covers", help="types, sizes and inputs of a check, for captions", default="all element types, "
                        "sizes from 0 to 2^23 + 12345 and all input patterns")
    parser.add_argument("--device-name", action="append", default=[], metavar="SELECTOR=NAME", help="for the columns of checks")
    parser.add_argument("--append", action="store_true", help="keep the runs that are stored already")
    parser.add_argument("--results", type=Path, default=stored_results.RESULTS, help="folder of the stored files")
    parser.add_argument("name")
    parser.add_argument("files", type=Path, nargs="+")
    arguments = parser.parse_args()
    read = [study(file) if file.is_dir() else json.loads(file.read_text(encoding="utf-8")) for file in arguments.files]
    is_check = "matrix" in read[0]
    target = arguments.results / f"{arguments.name}.{'check' if is_check else 'bench'}.json"
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
                  "date": arguments.date or today, "command": arguments.command or "concord check --json FILE", "covers": arguments.covers,
                  "devices": list(devices.values()), "matrix": list(matrix.values())}
    else:
        runs = (old or {}).get("runs", [])
        for file in read:
            command = arguments.command or file.get("command")
            if not command:
                sys.exit("store_results.py: the file does not tell its command; give --command")
            run = {"command": command, "date": (arguments.date or file.get("date") or today)[:10], "version": file["version"],
                   "commit": file.get("commit"), "note": arguments.note or file.get("note"), "calls": file.get("calls", 0), "hot": file.get("hot", False),
                   "machine": {k: v for k, v in file["machine"].items() if k != "memory_bytes"},
                   "devices": [stored_device(device) for device in file["devices"]],
                   "results": [trimmed(row, ROW) for row in file["results"]]}
            runs.append({k: v for k, v in run.items() if v not in (None, 0, False)})
        stored = {"schema": 1, "title": arguments.title or runs[0]["devices"][0]["name"], "runs": runs}
    try:
        (stored_results.check_check if is_check else stored_results.check_bench)(stored)
    except stored_results.Invalid as problem:
        sys.exit(f"store_results.py: {target}: {problem}")
    arguments.results.mkdir(exist_ok=True)
    target.write_text(dump(stored, ("results", "matrix", "devices")) + "\n", encoding="utf-8")
    print(f"{target}: {sum(len(r['results']) for r in stored.get('runs', []))} rows, {len(stored.get('matrix', []))} combinations")


main()
