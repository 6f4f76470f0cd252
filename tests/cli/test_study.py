"""`concord study`: its list, and what it refuses. Studies themselves are in study.sh."""

import json

import pytest

from program import concord, fails, says


def test_list():
    says("reduce-steps", "study --list")


@pytest.mark.parametrize("words, arguments", [("study", ""), ("'frob'", "frob --out box"), ("--out", "reduce-steps")])
def test_refused_values(words, arguments):
    fails(2, words, "study", *arguments.split())


@pytest.mark.parametrize("levels", [33, 100000])
def test_imported_file_with_values_in_values(folder, levels):
    """Copies and output of values recurse, so that the depth is limited."""
    (folder / "deep.json").write_text('{"matrix": ' + "[" * levels + "]" * levels + "}")
    fails(2, ["--from", "deep.json"], "study --from deep.json --out box")


def results(folder, card, times):
    """Results of headline on a card, as a study writes them: {(algorithm, n): milliseconds}."""
    machine = {"cpu": "", "cores": 1, "memory_bytes": 1, "os": "", "compiler": ""}
    lines = [{"kind": "run", "schema": 1, "version": "0", "commit": "", "date": "2026-01-03", "quick": False, "machine": machine},
             {"kind": "device", "selector": "cuda:1", "threads": 0, "name": card, "driver": "", "ceilings": {}}]
    for (algorithm, n), ms in times.items():
        for kind, factor in ("variant", 1), ("baseline", 9):
            row = {"algorithm": algorithm, "function": "sum", "variant": f"{kind} of it", "device": "cuda:1", "kind": kind,
                   "type": "f32", "n": n, "median_ms": factor * ms, "problem": "", "kernels": []}
            lines.append({"kind": "result", "key": f"{algorithm}{n}{kind}", "asked": "auto", "workload": "first", "threads": 0,
                          "compared": True, "row": row})
    (folder / "now").mkdir(exist_ok=True)
    (folder / "now/results.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_regressions(folder):
    """Results are compared with the last stored ones of the same card. Differences of a microsecond do not count."""
    def run(date, card, ms):
        rows = [{"algorithm": algorithm, "function": "sum", "variant": "other", "device": "cuda:0", "kind": "variant", "type": "f32",
                 "n": n, "median_ms": time} for (algorithm, n), time in ms.items()]
        return {"date": date, "devices": [{"selector": "cuda:0", "name": card}], "results": rows}

    times = {("reduce", 1024): 0.002, ("reduce", 1 << 24): 1.0, ("scan", 1 << 24): 2.0}
    slow = {key: 9 * ms for key, ms in times.items()}
    (folder / "stored").mkdir()
    stored = [run("2026-01-02", "Card A", times), run("2026-01-01", "Card A", slow), run("2026-01-03", "Card B", slow)]
    (folder / "stored/machine.bench.json").write_text(json.dumps({"schema": 1, "title": "A machine", "runs": stored}))
    ask = "study --regressions now --stored stored"

    results(folder, "Card A", {**times, ("reduce", 1024): 0.0029, ("scan", 1 << 24): 2.2})
    says(["speed: 3 results compared with machine of 2026-01-02, 0 slower"], ask)
    results(folder, "Card A", {**times, ("scan", 1 << 24): 2.4, ("map", 1 << 24): 1.0})
    slower = concord(ask)
    assert slower.status == 1 and "1 slower by more than 15 %" in slower.out, slower
    assert [line.split(",")[1].strip()[:4] for line in slower.out.splitlines() if line.startswith("cuda:1")] == ["scan"], slower
    results(folder, "Card C", times)
    other = concord(ask)
    assert other.status == 3 and "no stored results of these devices" in other.out, other
