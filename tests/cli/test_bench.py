"""`concord bench`."""

import csv
import json

import pytest

from program import fails, json_object, refused, says

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


def test_calls_in_a_row():
    says("100 calls", *BENCH, "--calls", 100, "--csv", "bench.csv")
    [row] = rows("bench.csv")
    assert [row[key] for key in ("repetitions", "calls_each", "copies", "clock")] == ["3", "100", "1", "host"]


def test_recorded_calls():
    says("100 replays", *BENCH, "--calls", 100, "--recorded")


def test_trace():
    says("fixed", *BENCH, "--trace", "trace.json")
    with open("trace.json", encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    assert {"kernel", "upload"} <= {event.get("cat") for event in events}
    names = {event["name"]: event["args"]["name"] for event in events if event["ph"] == "M"}
    assert names["process_name"].startswith("tbb:0") and names["thread_name"] == "stream 1"


@pytest.mark.parametrize("option, file", [("--trace", "no/such/trace.json"), ("--csv", "no/such/bench.csv")])
def test_report_that_cannot_be_written(option, file):
    refused(2, file, *BENCH, option, file)


@pytest.mark.parametrize("selector", ["cuda:7", "opencl:99", "tbb:1", "nosuch"])
def test_unavailable_device(selector):
    fails(3, f"'{selector}'", "bench", "--devices", selector)


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
