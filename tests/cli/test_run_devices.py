"""The devices of `concord run`: selectors, and several devices."""

import numpy as np
import pytest

from program import BYTES, THREE, compiles_only, fails, gives, refused, save


@pytest.mark.parametrize("selector", ["cuda:7", "opencl:99", "tbb:1", "nosuch"])
def test_unavailable_device(selector):
    refused(3, f"'{selector}'", "run map --in", THREE, "--out", "box/new.npy", "--device", selector)


def test_unknown_backend():
    refused(3, ["backend", "'nosuch'"], "run map --in", THREE, "--out", "box/kept.npy", "--device", "nosuch")


def test_number_out_of_range():
    refused(3, ["'tbb:1'", "1 device"], "run map --in", THREE, "--out", "box/new.npy", "--device", "tbb:1")


def test_malformed_selector():
    refused(2, ["'tbb:x'", "selector"], "run map --in", THREE, "--out", "box/new.npy", "--device", "tbb:x")


@pytest.mark.parametrize("option", ["--device", "--devices"])
@pytest.mark.parametrize("algorithm", ["map", "sort"])
def test_device_that_only_compiles(algorithm, option):
    words = ["'cuda@sm_90'", "compile-only"]
    refused(3, words, "run", algorithm, "--in", THREE, "--out", "box/new.npy", option, compiles_only())


@pytest.mark.parametrize("option", ["--device", "--devices"])
@pytest.mark.parametrize("selector", ["tbb:1", "nosuch", "nosuch:*", "tbb@nosuch"])
@pytest.mark.parametrize("command", ["run map --in three.npy --out new.npy", "check map", "bench map", "tune map"])
def test_errors_name_the_option(command, selector, option):
    save("three.npy", THREE)
    fails(3, [f"concord: {option}: ", f"'{selector}'"], *command.split(), option, selector)
    fails(3, f"concord: {option}: ", *command.split(), f"{option}={selector}")


def test_errors_name_the_environment_variable():
    save("three.npy", THREE)
    for selector in ["tbb:1", "nosuch", "nosuch:*", "cuda@sm_90"]:
        fails(3, "concord: CONCORD_DEVICE: ", "run map --in three.npy --out new.npy", env={"CONCORD_DEVICE": selector})


def test_list_of_one():
    gives(THREE, "run map --in", THREE, "--devices", "tbb")
    gives(BYTES, "run sort --in", BYTES[[2, 0, 1]], "--devices", "tbb")


def test_device_and_devices_are_one_option():
    gives(THREE, "run map --in", THREE, "--device", "tbb")
    words = ["'tbb,tbb'", "one device"]
    refused(2, words, "run sort --in", THREE, "--out", "box/new.npy", "--device", "tbb", "--devices", "tbb")


@pytest.mark.parametrize("option", ["--device", "--devices"])
@pytest.mark.parametrize(
    "command",
    ["run sort --in three.npy --out box/new.npy", "tune reduce --quick --out box/new.txt"],
)
def test_two_devices_where_one_is_needed(command, option):
    save("three.npy", THREE)
    refused(2, ["--device", "one device", "'tbb,tbb'"], *command.split(), option, "tbb,tbb")


def test_all_devices_of_a_backend():
    gives(THREE, "run map --in", THREE, "--devices", "tbb:*")
    refused(3, ["'nosuch:*'", "backend"], "run map --in", THREE, "--out", "box/new.npy", "--devices", "nosuch:*")


def test_all_devices_of_a_backend_in_the_environment():
    gives(THREE, "run map --in", THREE, env={"CONCORD_DEVICE": "tbb:*"})
    words = ["CONCORD_DEVICE", "'nosuch:*'", "backend"]
    refused(3, words, "run map --in", THREE, "--out", "box/new.npy", env={"CONCORD_DEVICE": "nosuch:*"})


def test_all_devices():
    refused(2, "'all'", "run map --in", THREE, "--out", "box/new.npy", "--devices", "all")


@pytest.mark.parametrize("command", ["tune reduce --quick --out box/new.txt", "study reduce-steps --quick --out box/new"])
def test_other_commands_refuse_a_device_that_only_compiles(command):
    refused(3, ["'cuda@sm_90'", "compile-only"], *command.split(), "--device", compiles_only())


def test_unavailable_device_in_a_list():
    refused(3, "'nosuch'", "run map --in", THREE, "--out", "box/new.npy", "--devices", "tbb,nosuch")


@pytest.mark.parametrize("device", ["opencl", "cuda"], indirect=True)
class TestSharedWithTbb:
    SHARED = np.array([2, 3, 4], "f4")

    def test_reduce(self, device):
        gives(np.array(9, "f4"), "run reduce --in", self.SHARED, "--devices", f"tbb,{device}")

    def test_scan(self, device):
        gives(np.cumsum(self.SHARED), "run scan --in", self.SHARED, "--devices", f"{device},tbb")

    def test_algorithm_that_cannot_share(self, device):
        refused(
            2, ["sort", "one device", "mpirun"], "run sort --out box/new.npy --in", THREE, "--devices", f"tbb,{device}"
        )

    def test_device_that_is_named_twice(self, device):
        refused(2, ["tbb:0", "twice"], "run map --out box/kept.npy --in", THREE, "--devices", f"tbb,{device},tbb:0")
