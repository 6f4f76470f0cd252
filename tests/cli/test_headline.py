"""From measurements to pages: `concord study headline`, docs/store_results.py and `concord study --page`."""

import copy
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

from program import PROGRAM, concord, fails, says

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
PEERS = {"CONCORD_BACKEND_PATH": os.path.join(os.environ["CONCORD_TEST_MODULES"], "peers")}
ADD = ["study", "headline", "--quick", "--devices", "tbb", "--algorithms", "add", "--sizes", "2^10"]


def rows(folder):
    """The result lines of a study in their order."""
    lines = pathlib.Path(folder, "results.jsonl").read_text().splitlines()
    return [line for line in map(json.loads, lines) if line["kind"] == "result"]


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """A folder of results, with a peer whose results are wrong and one with another contract."""
    folder = tmp_path_factory.mktemp("headline")
    result = concord(*ADD, "--out", folder, env=PEERS)
    assert result.status == 1, result
    return folder


@pytest.fixture
def stored(measured, folder):
    store_results = [DOCS / "store_results.py", "--results", "stored", "--title", "Machine", "box", measured]
    subprocess.run([sys.executable, *store_results], check=True)
    return json.loads(pathlib.Path("stored/box.bench.json").read_text())


def store(content):
    pathlib.Path("stored/box.bench.json").write_text(json.dumps(content))


def page():
    return says("Measured by", "study --stored stored --page machine box").out


def test_peers_are_measured_in_the_same_run(measured):
    lines = rows(measured)
    by_name = {line["row"]["variant"]: line["row"] for line in lines}
    assert {"exact", "damaged", "other_contract"} <= set(by_name)
    assert all(line["compared"] for line in lines)
    assert [line["row"]["kind"] for line in lines[-2:]] == ["baseline", "variant"], "Concord's row is the last"
    assert lines[-1]["asked"] == "auto"
    exact = by_name["exact"]
    assert exact["library"] == "Peer 1.0" and exact["call"] == "peer::add" and exact["ratio"] > 0
    assert "WRONG" in by_name["damaged"]["problem"] and by_name["damaged"]["median_ms"] is None
    assert by_name["other_contract"]["note"] == "1 result differs: Peer 1.0 adds one to the first sum"


def test_the_run_names_commit_and_hardware(measured):
    lines = [json.loads(line) for line in (measured / "results.jsonl").read_text().splitlines()]
    assert lines[0]["commit"] == "unknown" or len(lines[0]["commit"].split()[0]) == 12
    (device,) = {line["hardware"] for line in lines if line["kind"] == "device"}
    assert device
    assert "oneTBB" in [line for line in lines if line["kind"] == "device"][-1]["libraries"]


def test_incomplete_groups_are_measured_again(measured, folder):
    """An interrupted run may have written the peers' rows without Concord's, and failed rows are repeated."""
    text = (measured / "results.jsonl").read_text().splitlines(keepends=True)
    pathlib.Path("part").mkdir()
    whole = [line for line in text if '"damaged"' not in line]
    pathlib.Path("part/results.jsonl").write_text("".join(whole))
    result = concord(*ADD, "--out", "part", env=PEERS)
    assert "headline: 0 measured" in result.out, result
    pathlib.Path("part/results.jsonl").write_text("".join(line for line in whole if '"kind":"variant"' not in line))
    result = concord(*ADD, "--out", "part", env=PEERS)
    assert result.status == 1 and "headline: 0 measured" not in result.out, result
    result = concord(*ADD, "--out", "part", env=PEERS)
    assert result.status == 1 and "headline: 0 measured" not in result.out, result


def test_another_commit_is_another_run(measured, folder):
    lines = (measured / "results.jsonl").read_text().splitlines(keepends=True)
    run = json.loads(lines[0]) | {"commit": "0123456789ab"}
    pathlib.Path("old").mkdir()
    pathlib.Path("old/results.jsonl").write_text(json.dumps(run) + "\n" + "".join(lines[1:]))
    result = concord(*ADD, "--out", "old", env=PEERS)
    assert "existing results differ in commit: moved to results-" in result.out, result


def test_report(measured):
    report = (measured / "report.md").read_text()
    assert "## Compared with peer libraries" in report
    assert "Peers: Peer 1.0 (peer::add)" in report
    assert "1 result differs: Peer 1.0 adds one" in report
    assert "WRONG" in report


def test_all_leaves_it_out(folder):
    result = concord("study all --quick --devices tbb --algorithms add --out all")
    assert result.status == 0 and "portability: 1 measured" in result.out and "headline" not in result.out, result


def test_missing_peers_are_reported(folder):
    """The program says so if no module of baselines was built."""
    library = pathlib.Path(PROGRAM).resolve().parents[1] / "lib"
    built = any(library.rglob("concord-baselines-*.so"))
    result = concord(*ADD, "--out", "box")
    assert ("no peer library is available" in result.out) == (not built), result


@pytest.mark.parametrize(
    "words, arguments",
    [
        (["--sizes", "'1000'", "available: 2^10, 2^16"], "--algorithms add --sizes 1000"),
        (["--algorithms", "'frob'"], "--algorithms frob"),
    ],
)
def test_refused_restrictions(words, arguments, folder):
    fails(2, words, "study headline --quick --out box", *arguments.split())


def test_stored_file(stored):
    (run,) = stored["runs"]
    assert run["command"] == "concord study headline --quick --devices tbb:0 --out DIR"
    assert run["commit"] and run["version"] and run["machine"]["cpu"]
    assert {"exact", "damaged"} <= {row["variant"] for row in run["results"]}
    assert "/" not in json.dumps(run["devices"][0]["libraries"])


def test_page(stored):
    """Peers with version and function, notes, rows without a time, and a row for each comparison that Concord loses."""
    for row in stored["runs"][0]["results"]:
        if "median_ms" in row:
            row["median_ms"] = {"exact": 0.5, "other_contract": 2.0}.get(row["variant"], 4.0)
        if row["kind"] == "variant":
            row["median_ms"] = 1.0
    store(stored)
    text = page().replace("\N{NO-BREAK SPACE}", " ")
    commit = stored["runs"][0]["commit"].split()[0]
    assert (f"commit {commit}" if commit != "unknown" else "commit not recorded") in text
    assert "Peers: Peer 1.0 (peer::add)" in text
    assert "\\* 1 result differs: Peer 1.0 adds one to the first sum: Peer 1.0 sum of 2^10 f32." in text
    assert "2.00x Peer 1.0 (peer::add) \\*" in text
    assert "No time: Peer 1.0 (peer::add) sum of 2^10 f32: WRONG" in text
    losses = text.partition("<summary>Where a peer is faster")[2].partition("<summary>add")[0]
    assert "| Peer 1.0 (peer::add) | 500 µs | 0.500x |" in losses
    assert losses.count("\n| add sum |") == 1


def test_runs_are_merged(stored):
    """Of measurements with two releases of a library the page shows the newest."""
    older = copy.deepcopy(stored["runs"][0])
    for row in older["results"]:
        if row.get("library") == "Peer 1.0":
            row["library"] = "Peer 0.9"
    store(stored | {"runs": [older, *stored["runs"]]})
    text = page()
    assert "Peer 0.9 (peer::add)" not in text and "Peer 1.0 (peer::add)" in text


def test_units_stay_with_their_numbers(stored):
    for text in (page(), says("sum", "study --stored stored --page algorithm add").out):
        assert not re.search(r"\d (%|[kMGTnµm]?s\b|[kMGTP]?(B|elem|FLOP)/s)", text)


def test_rates_above_the_ceiling_are_explained(stored):
    (row,) = (row for row in stored["runs"][0]["results"] if row["kind"] == "variant")
    row |= {"of_ceiling": 1.5, "ceiling": "copy"}
    store(stored)
    text = page().replace("\N{NO-BREAK SPACE}", " ")
    assert "| > 100 % |" in text
    assert text.count("> 100 %: faster than the kernel that measures the ceiling with as much work: sum of 2^10 f32 (") == 2


def test_missing_facts_are_named(stored):
    run = stored["runs"][0]
    run |= {"commit": "0123456789ab (modified)"}
    run["devices"][0].pop("ceilings", None)
    store(stored)
    text = page()
    assert "commit 0123456789ab **with changes that were not committed**" in text
    assert "Ceilings: not stored" in text


def test_agreement_names_variants_that_were_not_checked(folder):
    assert concord("check", "map", "--devices", "tbb", "--variants", "naive", "--json", "map.json").status == 0
    subprocess.run([sys.executable, DOCS / "store_results.py", "--results", "stored", "box", "map.json"], check=True)
    text = says("not checked", "study --stored stored --page agreement").out
    assert re.search(r"\| map \| 1 identical, 2 not checked \(", text)
    assert "map `vectorized`, map `serial`, add `vectorized`" in text
    assert "scan `lookback`" not in text  # not for CPUs
    commit = json.loads(pathlib.Path("map.json").read_text())["commit"].split()[0]
    assert f"commit {commit}" in text or "commit not recorded" in text


def row_changed(**members):
    return lambda run: run["results"][0].update(members)


def row_lacks(name):
    return lambda run: run["results"][0].pop(name)


@pytest.mark.parametrize(
    "problem, change",
    [
        ("'machine' not found", lambda run: run.pop("machine")),
        ("must be string", lambda run: run.update(date=3)),
        ("'results' not found", lambda run: run.pop("results")),
        ("expected a time or a problem", row_changed(median_ms="fast")),
        ("'n' not found", row_lacks("n")),
        ("unknown device", row_changed(device="cuda:7")),
        ("lacks 'library'", row_lacks("library")),
        ("second row", lambda run: run["results"].append(run["results"][0])),
    ],
)
def test_wrong_schema(problem, change, stored):
    run = stored["runs"][0]
    run["results"].sort(key=lambda row: row["variant"] != "exact")
    change(run)
    store(stored)
    fails(2, [problem, "box.bench.json"], "study --stored stored --page machines")


def test_studies_over_ranks(folder):
    """Their folders become another kind of file, with a page of its own."""
    study = ["study", "throughput-scaling", "--quick", "--devices", "tbb", "--sizes", "2^16"]
    for algorithm in ("distributed_reduce", "distributed_histogram"):
        result = concord(*study, "--algorithms", algorithm, "--out", algorithm)
        assert result.status == 0, result
        store_results = [DOCS / "store_results.py", "--results", "stored", "--append", "box", algorithm]
        subprocess.run([sys.executable, *store_results], check=True)
    stored = json.loads(pathlib.Path("stored/box.ranks.json").read_text())
    assert [run["results"][0]["algorithm"] for run in stored["runs"]] == ["distributed_reduce", "distributed_histogram"]
    assert stored["runs"][0]["command"].startswith("concord study throughput-scaling --quick --devices tbb:0 ")
    text = says("Measured by", "study --stored stored --page ranks box").out
    assert text.count("| reduce of f32 | 2^16 per rank |") == 2  # 2 and 4 ranks
    assert text.count("| histogram of f32 | 2^16 per rank |") == 2
    assert "one shared device" in text
    fails(2, ["unknown machine", "'other'"], "study --stored stored --page ranks other")


def test_stored_checks(folder):
    """A stored check names its build and its limits, and later files replace earlier ones of the same variant."""
    store_results = [sys.executable, DOCS / "store_results.py", "--results", "stored", "--append", "box"]
    checks = {"add.json": ["add"], "limited.json": ["add", "--types", "f32", "--sizes", "5"]}
    for name, limits in checks.items():
        assert concord("check", *limits, "--variants", "serial", "--devices", "tbb", "--json", name).status == 0
    limited = json.loads(pathlib.Path("limited.json").read_text())
    assert limited["limited_to"] == {"types": ["f32"], "sizes": [5]}
    refusal = subprocess.run([*store_results, "limited.json"], capture_output=True, text=True, check=False)
    assert refusal.returncode == 1 and "limited to types, sizes" in refusal.stderr
    check = json.loads(pathlib.Path("add.json").read_text())
    assert check["limited_to"] == {} and check["commit"]
    for _ in range(2):
        subprocess.run([*store_results, "--device-name", "tbb:0=A CPU", "add.json"], check=True)
    stored = json.loads(pathlib.Path("stored/box.check.json").read_text())
    assert [(c["variant"], c["commit"], c["date"]) for c in stored["matrix"]] == [
        ("serial", check["commit"], check["date"][:10])
    ]
    assert stored["devices"] == [{"selector": "tbb:0", "name": "A CPU"}]
