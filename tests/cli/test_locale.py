"""The program under a locale with a decimal comma."""

import json
import os
import shutil
import subprocess

import pytest

from program import THREE, concord


@pytest.fixture
def comma(folder):
    """The environment of a German user."""
    made = folder / "locales" / "de_DE.UTF-8"
    made.parent.mkdir()
    command = ["localedef", "-i", "de_DE", "-f", "UTF-8", str(made)]
    if not shutil.which("localedef") or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("no German locale (apt-get install locales)")
    env = {**os.environ, "LOCPATH": str(made.parent), "LC_ALL": "de_DE.UTF-8"}
    said = subprocess.run(["bash", "-c", "printf %.1f 0,5"], env=env, capture_output=True, text=True, check=False)
    assert said.stdout == "0,5", said
    return {"LOCPATH": str(made.parent), "LC_ALL": "de_DE.UTF-8"}


def test_outputs_have_points(comma, folder):
    for name, arguments in {
        "check.json": "check add --devices tbb --sizes 1000 --types f32 --json check.json",
        "bench.json": "bench add --devices tbb --sizes 1000 --types f32 --json bench.json",
    }.items():
        result = concord(arguments, env=comma)
        assert result.status == 0, result
        json.loads((folder / name).read_text())
    result = concord("run map --in", THREE, "--out", "new.npy", "--device", "tbb", "--json", env=comma)
    assert result.json()["algorithm"] == "map"


def test_calibration_is_read_again(comma, folder):
    """Its rows have gains such as 1.25."""
    env = {**comma, "CONCORD_TUNING": "", "XDG_CONFIG_HOME": str(folder / "config"), "XDG_CACHE_HOME": str(folder / "cache")}
    for _ in range(2):
        assert concord("devices --verbose", env=env).status == 0
    listed = concord("devices --verbose --json", env={**env, "LC_ALL": "C"})
    row = next(row for row in listed.json()["devices"] if row["selector"] == "tbb:0")
    assert "in the kernel cache" in row["traits"]["tuning table"], row
