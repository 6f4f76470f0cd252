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


def test_unknown_algorithm():
    fails(2, "'frob'", "algorithms", "frob")
