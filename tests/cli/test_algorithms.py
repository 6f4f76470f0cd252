"""`concord algorithms`."""

import pytest

from program import algorithms, fails, says


def test_json():
    assert {"map", "reduce", "sort"} <= set(algorithms())
    for algorithm in algorithms().values():
        assert algorithm["summary"]
        assert algorithm["variants"]
        for variant in algorithm["variants"]:
            assert variant["name"] and variant["summary"] and variant["order"] and variant["source"]
            assert {type(variant[backend]) for backend in ("cuda", "opencl", "cpu")} == {bool}


def test_text_names_every_algorithm():
    says(list(algorithms()), "algorithms")


@pytest.mark.parametrize("name", algorithms())
def test_text_of_one_names_every_variant(name):
    says([name, *(variant["name"] for variant in algorithms()[name]["variants"])], "algorithms", name)


def test_text_fits_100_columns():
    for name in ["", *algorithms()]:
        out = says("", "algorithms", *([name] if name else [])).out
        wide = [line for line in out.splitlines() if len(line) > 100]
        assert not wide, wide[0]
        assert not [line for line in out.splitlines() if line != line.rstrip()]


@pytest.mark.parametrize("name", algorithms())
def test_text_of_one_lists_workloads_that_bench_takes(name):
    lines = says("workloads", "algorithms", name).out.splitlines()
    first = lines.index("  workloads (for `concord bench --workloads`)") + 1
    names = " ".join(line.strip() for line in lines[first : lines.index("", first)]).split("; ")
    # bench names those that it takes when it refuses another, before it measures anything.
    available = "available: " + ", ".join(["all", *names])
    fails(2, available, "bench", name, "--device", "tbb", "--workloads", names[0].split(",")[0] + ",frob")


def test_unknown_algorithm():
    fails(2, "'frob'", "algorithms frob")
