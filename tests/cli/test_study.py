"""`concord study`: its list, and what it refuses. Studies themselves are in study.sh."""

import pytest

from program import fails, says


def test_list():
    says("reduce-steps", "study", "--list")


@pytest.mark.parametrize("words, arguments", [("study", ""), ("'frob'", "frob --out box"), ("--out", "reduce-steps")])
def test_refused_values(words, arguments):
    fails(2, words, "study", *arguments.split())
