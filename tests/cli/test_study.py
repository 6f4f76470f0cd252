"""`concord study`: its list, and what it refuses. Studies themselves are in study.sh."""

import pytest

from program import fails, says


def test_list():
    says("reduce-steps", "study --list")


@pytest.mark.parametrize("words, arguments", [("study", ""), ("'frob'", "frob --out box"), ("--out", "reduce-steps")])
def test_refused_values(words, arguments):
    fails(2, words, "study", *arguments.split())


@pytest.mark.parametrize("levels", [33, 100000])
def test_imported_file_with_values_in_values(folder, levels):
    """Copies and output of values recurse, so that the depth is limited."""
    (folder / "deep.json").write_text('{"matrix": ' + "[" * levels + "]" * levels + "}")
    fails(2, ["--from", "deep.json"], "study --from deep.json --out box")
