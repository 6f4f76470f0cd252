"""The devices of `concord run`: selectors, and several devices."""

import numpy as np
import pytest

from program import BYTES, THREE, concord, gives, refused


@pytest.mark.parametrize("selector", ["cuda:7", "opencl:99", "tbb:1", "nosuch"])
def test_unavailable_device(selector):
    refused(3, f"'{selector}'", "run", "map", "--in", THREE, "--out", "box/new.npy", "--device", selector)


def test_unknown_backend():
    refused(3, ["backend", "'nosuch'"], "run", "map", "--in", THREE, "--out", "box/kept.npy", "--device", "nosuch")


def test_number_out_of_range():
    refused(3, ["'tbb:1'", "1 device"], "run", "map", "--in", THREE, "--out", "box/new.npy", "--device", "tbb:1")


def test_malformed_selector():
    refused(2, ["'tbb:x'", "selector"], "run", "map", "--in", THREE, "--out", "box/new.npy", "--device", "tbb:x")


def test_device_that_only_compiles():
    if "cuda" not in {backend["name"] for backend in concord("devices", "--json").json()["backends"]}:
        pytest.skip("no cuda backend")
    refused(
        2, ["'cuda@sm_90'", "compile"], "run", "map", "--in", THREE, "--out", "box/new.npy", "--device", "cuda@sm_90"
    )


def test_list_of_one():
    gives(THREE, "run", "map", "--in", THREE, "--devices", "tbb")
    gives(BYTES, "run", "sort", "--in", BYTES[[2, 0, 1]], "--devices", "tbb")


def test_device_and_devices_exclude_each_other():
    refused(
        2,
        ["--device", "--devices"],
        "run",
        "map",
        "--in",
        THREE,
        "--out",
        "box/new.npy",
        "--device",
        "tbb",
        "--devices",
        "tbb",
    )


def test_unavailable_device_in_a_list():
    refused(3, "'nosuch'", "run", "map", "--in", THREE, "--out", "box/new.npy", "--devices", "tbb,nosuch")


@pytest.mark.parametrize("device", ["opencl", "cuda"], indirect=True)
class TestSharedWithTbb:
    SHARED = np.array([2, 3, 4], "f4")

    def test_reduce(self, device):
        gives(np.array(9, "f4"), "run", "reduce", "--in", self.SHARED, "--devices", f"tbb,{device}")

    def test_scan(self, device):
        gives(np.cumsum(self.SHARED), "run", "scan", "--in", self.SHARED, "--devices", f"{device},tbb")

    def test_algorithm_that_cannot_share(self, device):
        refused(
            2, ["sort", "segments"], "run", "sort", "--in", THREE, "--out", "box/new.npy", "--devices", f"tbb,{device}"
        )

    def test_device_that_is_named_twice(self, device):
        refused(
            2,
            ["tbb:0", "twice"],
            "run",
            "map",
            "--in",
            THREE,
            "--out",
            "box/kept.npy",
            "--devices",
            f"tbb,{device},tbb:0",
        )
