"""What `concord run` reports: --json and --trace."""

import json

import numpy as np
import pytest

from program import THREE, concord, fresh_box, gives, refused


def test_json(device):
    fresh_box()
    volume = np.arange(1, 7, dtype="i2").reshape(2, 1, 3)
    arguments = ["run", "map", "--function", "negate", "--variant", "naive", "--in", volume, "--out", "box/new.npy"]
    result = concord("--log-level debug", *arguments, "--device", device, "--json")
    assert result.status == 0, result
    report = result.json()
    assert report["algorithm"] == "map"
    assert report["variant"] == "naive"
    assert report["device"]["selector"] == f"{device}:0"
    assert report["device"]["name"]
    assert report["backend"] == device
    assert report["type"] == "i16"
    assert report["shape"] == [2, 1, 3]
    for phase in ("compile", "upload", "kernel", "download", "total"):
        assert report["times_ms"][phase] >= 0


@pytest.mark.parametrize("device", ["tbb", "opencl"], indirect=True)
def test_trace(device):
    gives(THREE, "run map --in", THREE, "--device", device, "--trace", "trace.json")
    with open("trace.json", encoding="utf-8") as file:
        work = [event["cat"] for event in json.load(file)["traceEvents"] if "cat" in event]
    # Devices that share the host's memory need no upload.
    assert "download" in work[work.index("kernel") :]


def test_trace_that_cannot_be_written():
    refused(
        2,
        ["--trace", "directory", "no/such'"],
        "run map --out box/new.npy --device tbb --trace no/such/trace.json --in",
        THREE,
    )
