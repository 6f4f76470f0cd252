"""`concord bench`."""

import csv
import json
import os
import re
import signal

import pytest

from program import algorithms, compiles_only, concord, fails, json_object, refused, says, selectors, started

BENCH = ["bench", "reduce", "--devices", "tbb", "--sizes", "64"]


def rows(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_reports():
    says("fixed", *BENCH, "--json", "bench.json", "--csv", "bench.csv")
    with open("bench.json", encoding="utf-8") as file:
        [result] = json_object(file.read())["results"]
    [row] = rows("bench.csv")
    assert result["median_ms"] > 0 and float(row["median_ms"]) > 0
    for key, value in {"algorithm": "reduce", "variant": "fixed", "device": "tbb:0", "n": 64}.items():
        assert result[key] == value and row[key] == str(value)


def test_peers():
    """A wrong result has no time. A peer with another contract has one, and the number of results that differ."""
    peers = {"CONCORD_BACKEND_PATH": os.path.join(os.environ["CONCORD_TEST_MODULES"], "peers")}
    result = concord("bench add --devices tbb --sizes 1000 --baselines --csv bench.csv", env=peers)
    assert result.status == 1, result
    by_name = {row["variant"]: row for row in rows("bench.csv")}
    assert by_name["exact"]["median_ms"] and not by_name["exact"]["note"] and by_name["exact"]["ratio"]
    assert not by_name["damaged"]["median_ms"] and "WRONG" in by_name["damaged"]["problem"]
    other = by_name["other_contract"]
    assert other["median_ms"] and not other["problem"]
    assert other["note"] == "1 result differs: Peer 1.0 adds one to the first sum"
    assert re.search(r"^add .*other_contract.* us \*", result.out, re.M), result.out
    assert ", other_contract, 1000: 1 result differs" in result.out, result.out
    assert "not measured" not in result.out, result.out


def test_peers_that_do_not_support_a_type():
    peers = {"CONCORD_BACKEND_PATH": os.path.join(os.environ["CONCORD_TEST_MODULES"], "peers")}
    result = concord("bench add --devices tbb --sizes 1000,2000 --types f64 --baselines", env=peers)
    assert result.status == 0, result
    lines = [line for line in result.out.splitlines() if line.startswith("not measured: ")]
    assert lines == [f"not measured: add sum f64, {name}: f32 on tbb only" for name in ("exact", "damaged", "other_contract")]


def test_baselines_without_a_module():
    result = concord(*BENCH, "--baselines", "--csv", "bench.csv")
    if any(row["kind"] == "baseline" for row in rows("bench.csv")):
        pytest.skip("modules of baselines are built")
    assert result.status == 0 and result.err.count("\n") == 1, result
    assert result.err.startswith("concord: --baselines: no ") and "'./setup baselines'" in result.err, result


def first_row(process):
    """Reads lines up to the first row of the table."""
    for line in process.stdout:
        if re.match(r"map .* naive|map .* \w+ +2\^", line):
            return line
    raise AssertionError("no row: " + process.stderr.read())


SIZES = ["map", "--devices", "tbb", "--sizes", "2^13..2^20"]


def test_rows_are_printed_as_they_are_measured():
    with started("bench", *SIZES[:-1], "2^13..2^16") as process:
        row = first_row(process)
        assert process.poll() is None, "the program has ended before its first row was read"
        rest = process.stdout.read().splitlines()
        assert process.wait() == 0
    table = [row.rstrip("\n"), *(line for line in rest if line.startswith("map "))]
    assert [re.search(r"2\^\d+", line)[0] for line in table] == [f"2^{k}" for k in range(13, 17)]
    assert len({line.index("2^") for line in table}) == 1, f"columns are not aligned: {table}"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted(number):
    with started("bench", *SIZES, "--json", "bench.json", "--csv", "bench.csv") as process:
        first_row(process)
        process.send_signal(number)
        out, err = process.communicate(timeout=120)
    assert process.returncode == -number, err
    assert "interrupted" in out and f"interrupted ({number.name})" in err
    with open("bench.json", encoding="utf-8") as file:
        report = json_object(file.read())
    assert report["interrupted"] is True
    assert 1 <= len(report["results"]) < 8
    assert all(row["median_ms"] > 0 for row in report["results"])
    assert len(rows("bench.csv")) == len(report["results"])
    assert sorted(os.listdir()) == ["bench.csv", "bench.json"]


def test_complete_run_is_not_interrupted():
    says("fixed", *BENCH, "--json", "bench.json")
    with open("bench.json", encoding="utf-8") as file:
        assert json_object(file.read())["interrupted"] is False


@pytest.mark.parametrize("size", ["1000", "1048576", "2^10+1", "1023"])
def test_sizes_are_printed_as_given(size):
    out = says(f" {size} ", *BENCH[:-1], size).out
    assert len(re.findall(rf"^reduce .* {re.escape(size)} ", out, re.MULTILINE)) == 1


def test_all_devices_of_a_backend():
    says("\ntbb:0: ", "bench reduce --devices tbb:* --sizes 64")
    fails(3, ["'nosuch:*'", "backend"], "bench --devices nosuch:*")


def test_device_is_the_same_option():
    out = says("\ntbb:0: ", "bench reduce --device tbb --sizes 64").out
    assert [s for s in selectors() if f"\n{s}: " in out] == ["tbb:0"]


def test_device_that_only_compiles():
    fails(3, ["'cuda@sm_90'", "compile-only"], "bench reduce --devices", compiles_only())


def test_calls_in_a_row():
    says("100 calls", *BENCH, "--calls", 100, "--csv", "bench.csv")
    [row] = rows("bench.csv")
    assert [row[key] for key in ("repetitions", "calls_each", "copies", "clock")] == ["3", "100", "1", "host"]


def test_recorded_calls():
    says("100 replays", *BENCH, "--calls", 100, "--recorded")


def test_trace():
    # Of calls that take microseconds the file would have some 100,000.
    says("fixed", *BENCH[:-1], "2^22", "--trace", "trace.json")
    with open("trace.json", encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    assert {"kernel", "upload"} <= {event.get("cat") for event in events}
    names = {event["name"]: event["args"]["name"] for event in events if event["ph"] == "M"}
    assert names["process_name"].startswith("tbb:0") and names["thread_name"] == "stream 1"


@pytest.mark.parametrize("option, file", [("--trace", "no/such/trace.json"), ("--csv", "no/such/bench.csv")])
def test_report_that_cannot_be_written(option, file):
    refused(2, [option, "directory", "no/such'"], *BENCH, option, file)


@pytest.mark.parametrize("selector", ["cuda:7", "opencl:99", "tbb:1", "nosuch"])
def test_unavailable_device(selector):
    fails(3, f"'{selector}'", "bench --devices", selector)


@pytest.mark.parametrize(
    "words, arguments",
    [
        ("'frob'", "frob"),
        ("'-5'", "--sizes -5"),
        ("--calls", "reduce --calls 0"),
        (["--recorded", "--calls"], "reduce --recorded"),
    ],
)
def test_refused_values(words, arguments):
    fails(2, words, "bench", *arguments.split())


# Products of some of these sizes with 2, 4 or 8 wrap around to 0.
@pytest.mark.parametrize("algorithm", ["map", "transpose", "matmul"])
@pytest.mark.parametrize("size", ["2^62", "2^61+1", "18446744073709551615", "9223372036854775808", "2^40+1"])
def test_sizes_beyond_any_memory(algorithm, size):
    fails(2, ["--sizes: too many elements", f"'{size}'", "2^40"], "bench", algorithm, "--device", "tbb", "--sizes", size)


def test_the_end_of_a_range_of_sizes_is_limited():
    fails(2, ["--sizes: too many elements", "'2^41'"], "check map --device tbb --sizes 2^10..2^62")


def test_size_without_memory_names_a_variant_of_the_device():
    out = says("needs", "bench scan --device tbb --sizes 2^40 --csv bench.csv").out
    [row] = rows("bench.csv")
    on_the_cpu = [variant["name"] for variant in algorithms()["scan"]["variants"] if variant["cpu"]]
    assert row["variant"] in on_the_cpu, out


def test_largest_size():
    rows = ["bench", "--device", "tbb", "--sizes", "2^40", "--types", "f32,f64,u8", "--workloads", "all"]
    out = says("needs", *rows).out
    assert "GB/s" not in out.split("\n\n")[-1]
