"""The calibration of a CPU without a tuning table: its time, its entry in the kernel cache, and how it is switched off."""

import os
import re

import numpy as np
import pytest

from program import concord, need, without_sanitizers


@pytest.fixture(autouse=True)
def calibrating(folder, monkeypatch):
    """No tables of the user, an empty kernel cache, and tuning on. Returns the folder of the cache."""
    need("tbb")
    monkeypatch.setenv("CONCORD_TUNING", "")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / "config"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    return folder / "cache" / "concord"


def table(env=None):
    """What `concord devices` says of the CPU's tuning table, and the messages of the log."""
    result = concord("devices --verbose --json --log-level info", env=env)
    assert result.status == 0, result
    row = next(row for row in result.json()["devices"] if row["selector"] == "tbb:0")
    return row["traits"]["tuning table"], result.err


def entries(cache):
    return [path for path in sorted(cache.glob("*.program")) if b"calibration" in path.read_bytes()]


def settled():
    """Runs the program as often as it may measure: a calibration that runs out of time is tried once more."""
    first = table()
    table()
    return first


@without_sanitizers
def test_it_is_measured_once(calibrating):
    words, log = settled()
    assert re.fullmatch(r"calibration in this process, [1-9][0-9]* entries", words), words
    # The limit is 200 ms. Other tests may load the machine.
    assert 1 <= int(re.search(r"tbb:0: calibrated in (\d+) ms", log)[1]) <= 1000, log
    (stored,) = entries(calibrating)
    content = stored.read_bytes()
    assert b"concord tuning 2" in content and stored.stat().st_mode & 0o777 == 0o600
    again, log = table()
    assert re.fullmatch(r"calibration of \d{4}-\d\d-\d\d in the kernel cache, [1-9][0-9]* entries", again), again
    assert "calibrated in" not in log
    assert stored.read_bytes() == content
    listed = concord("cache ls")
    assert listed.status == 0 and "tbb" in listed.out and "calibration" in listed.out, listed
    assert concord("cache clear").status == 0 and not entries(calibrating)


def test_a_damaged_entry_is_measured_again(calibrating):
    settled()
    (stored,) = entries(calibrating)
    content = stored.read_bytes()
    for bad in (b"", b"sort * - * sample_radix\n", content[:-20], content.replace(b"version: ", b"version: 9", 1)):
        stored.write_bytes(bad)
        assert "calibrated in" in table()[1]
        assert stored.read_bytes() != bad


def test_a_file_of_strangers_is_not_read(calibrating):
    settled()
    (stored,) = entries(calibrating)
    stored.chmod(0o666)
    assert "calibrated in" in table()[1]


def test_another_number_of_units_is_another_calibration(calibrating):
    table()
    assert "calibrated in" in table({"CONCORD_THREADS": "1"})[1]
    assert len(entries(calibrating)) == 2


@pytest.mark.parametrize("off", [{"CONCORD_CALIBRATION": "off"}, {"CONCORD_TUNING": "off"}])
def test_it_is_switched_off(calibrating, off):
    table()
    words, log = table(off)  # a stored calibration is not used either
    assert words == "none" and "calibrated in" not in log
    for path in entries(calibrating):
        path.unlink()
    words, log = table(off)
    assert words == "none" and "calibrated in" not in log and not entries(calibrating)


def test_without_a_cache_it_is_measured_in_each_process(calibrating):
    for _ in range(2):
        words, log = table({"CONCORD_CACHE": "off"})
        assert "calibration in this process" in words and "calibrated in" in log
    assert not calibrating.exists()


def test_a_table_of_the_user_has_precedence(calibrating, folder):
    table()
    (stored,) = entries(calibrating)
    text = stored.read_bytes()
    tables = folder / "config" / "concord" / "tuning"
    tables.mkdir(parents=True)
    (tables / "mine.txt").write_bytes(text[text.index(b"concord tuning 2") :])
    words, _ = table()
    assert "mine.txt" in words


@pytest.mark.parametrize("n", [5, 1 << 12, 300001])
def test_results_are_those_without_it(calibrating, n):
    values = np.random.default_rng(1).normal(size=n).astype("f4")
    for words in (["sort"], ["scan"], ["map", "--function", "negate"], ["reduce"]):
        results = []
        for state in ("off", "on", "on"):
            done = concord(
                "run", *words, "--in", values, "--out", "out.npy", "--device", "tbb", env={"CONCORD_CALIBRATION": state}
            )
            assert done.status == 0, done
            with open("out.npy", "rb") as file:
                results.append(file.read())
            os.remove("out.npy")
        assert results[0] == results[1] == results[2]
    assert entries(calibrating)
