"""Devices and data of the tests. CONCORD_TEST_DEVICES names the devices (all that are found)."""

import os

import numpy as np
import pytest

import concord as cc

DEVICES = os.environ.get("CONCORD_TEST_DEVICES", "").split(",") if os.environ.get("CONCORD_TEST_DEVICES") else cc.devices().column("selector")
# Each compiles kernels of its own on OpenCL, so that the default tests have few.
DTYPES = ("uint8", "float32", "int64") if not os.environ.get("CONCORD_TEST_ALL_TYPES") else (
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64")


# On OpenCL, where kernels take seconds to compile, one case of each test takes part in the default tests, if possible
# one with these parameters. The other cases are long, except those of tests with the mark `every_case`.
PREFERRED = {"dtype": "float32", "layout": "steps"}


@pytest.hookimpl(tryfirst=True)  # before -m selects
def pytest_collection_modifyitems(items):
    cases = {}
    for item in items:
        parameters = item.callspec.params if hasattr(item, "callspec") else {}
        if parameters.get("device", "").startswith("opencl"):
            others = sum(parameters.get(name, value) != value for name, value in PREFERRED.items())
            cases.setdefault((item.path, item.originalname, parameters["device"]), []).append((others, item))
    for found in cases.values():
        first = min(others for others, _ in found)
        kept = [item for others, item in found if others == first]
        if not kept[0].get_closest_marker("every_case"):
            kept = kept[:1]
        for _, item in found:
            if item not in kept:
                item.add_marker("long")


def pytest_addoption(parser):
    parser.addoption("--structs", type=int, default=2000, help="random structs of each kind in test_structs.py")


@pytest.fixture
def structs(request):
    return request.config.getoption("--structs")


@pytest.fixture(params=DEVICES)
def device(request):
    return request.param


@pytest.fixture(params=DTYPES)
def dtype(request):
    return request.param


@pytest.fixture
def values():
    """values(dtype, n): random numbers of the whole range of integers, and around 0 for floats."""

    def make(dtype, n, seed=1):
        random = np.random.default_rng(seed)
        kind = np.dtype(dtype)
        if kind.kind == "f":
            return random.standard_normal(n).astype(kind)
        limits = np.iinfo(kind)
        return random.integers(limits.min, limits.max, n, dtype=kind, endpoint=True)

    return make
