"""Manual pages and the reference of the command line."""

import os
import pathlib
import re
import shutil
import subprocess

import pytest

from program import concord, says
from test_help import LEVELS


@pytest.fixture
def pages(folder):
    assert concord("man --out", str(folder), "--date", "2026-11-23").status == 0
    return sorted(folder.glob("*.1"))


def test_the_citation_has_the_version_of_the_program():
    citation = pathlib.Path(os.environ["CONCORD_TEST_SOURCE"], "CITATION.cff").read_text()
    assert re.findall(r"^version: (.*)$", citation, re.MULTILINE) == [concord("--version").out.split()[-1]]
    assert citation.startswith("cff-version: 1.2.0\n")


def test_a_page_for_every_command(pages):
    assert {page.name for page in pages} == {"-".join(["concord", *level]) + ".1" for level in LEVELS if len(level) < 2}


def test_pages_name_every_option(pages):
    for page in pages:
        text = page.read_text().replace("\\-", "-")
        level = page.name[:-2].split("-")[1:]
        for option in re.findall(r"^  (--[a-z-]+)", concord(*level, "--help").out, re.MULTILINE):
            if option not in ("--help", "--log-level", "--threads") or not level:
                assert option in text, f"{page.name} lacks {option}"


def test_pages_have_no_mandoc_warnings(pages):
    if shutil.which("mandoc") is None:
        pytest.skip("mandoc is not installed (apt-get install mandoc)")
    done = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", *pages], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stdout + done.stderr == "", done


def test_pages_have_no_groff_warnings(pages):
    if shutil.which("groff") is None:
        pytest.skip("groff is not installed (apt-get install groff-base)")
    done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", *pages], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stderr == "", done
    assert "CONCORD-RUN(1)" in done.stdout


def test_reference_has_every_command():
    text = says("| option | meaning |", "reference --markdown").out
    headings = re.findall(r"^#+ (concord.*)$", text, re.MULTILINE)
    assert headings == [" ".join(["concord", *level]) for level in LEVELS]
    assert text.count("Exit status: `0`") == len(headings)
    assert text.count("```sh\nconcord ") + text.count("```sh\nCONCORD") == len(headings)


def test_hidden_commands_are_not_listed():
    out = says("Subcommands:", "--help").out
    assert not {"completion", "man", "reference"} & set(re.findall(r"^  (\w+)", out, re.MULTILINE))
    assert "completion" not in says("concord", "reference --markdown").out
