"""`concord check`."""

import json
import re
import xml.etree.ElementTree

import pytest

from program import compiles_only, concord, fails, json_object, refused, says


def test_reports():
    arguments = [
        "--devices",
        "tbb",
        "--types",
        "f32",
        "--sizes",
        "0,1,1025",
        "reduce",
        "--json",
        "check.json",
        "--junit",
        "check.xml",
    ]
    out = says(" 0 failed", "check", *arguments).out
    with open("check.json", encoding="utf-8") as file:
        report = json_object(file.read())
    assert report["passed"] > 0 and report["failed"] == 0 and report["failures"] == []
    assert f"{report['passed']} passed, 0 failed, {report['skipped']} skipped" in out
    assert out.splitlines()[-1].startswith("check: ")
    for row in report["matrix"]:
        assert row["algorithm"] == "reduce" and row["device"] == "tbb:0"
        applies = row["passed"] + row["failed"] + row["skipped"] > 0
        assert bool(re.search(rf"^reduce +{row['variant']} ", out, re.MULTILINE)) == applies
    assert any(row["not_applicable"] for row in report["matrix"])
    assert f"{report['not_applicable']} not applicable" in out and "not applicable: " not in out
    for count in ("passed", "failed", "skipped"):
        assert report[count] == sum(row[count] for row in report["matrix"])
    suite = xml.etree.ElementTree.parse("check.xml").getroot()
    assert suite.tag == "testsuite" and suite.get("failures") == "0"
    assert len(suite.findall("testcase")) == int(suite.get("tests")) > 0


def test_verbose_lists_what_is_not_applicable():
    arguments = ["reduce", "--device", "tbb", "--types", "f32", "--sizes", "5", "--verbose"]
    says("not applicable: reduce/shuffle on tbb:0: ", "check", *arguments)


def test_all_devices_of_a_backend():
    says(["tbb:0", " 0 failed"], "check", "add", "--devices", "tbb:*", "--types", "f32", "--sizes", "5")
    fails(3, ["'nosuch:*'", "backend"], "check", "--devices", "nosuch:*")


def test_device_that_only_compiles():
    says(
        ["compiles", " 0 failed"],
        *"check add --variants naive --types f32 --sizes 5 --device".split(),
        compiles_only(),
    )


def test_nothing_to_check():
    result = concord(
        "check",
        "reduce",
        "--devices",
        "tbb",
        "--variants",
        "shuffle",
        "--types",
        "f32",
        "--sizes",
        "5",
        "--json",
        "check.json",
    )
    assert result.status == 2 and "checked" in result.out, result
    with open("check.json", encoding="utf-8") as file:
        assert json.load(file)["passed"] == 0


def test_report_that_cannot_be_written():
    refused(2, ["--json", "directory", "no/such'"], "check", "reduce", "--devices", "tbb", "--json", "no/such/check.json")


@pytest.mark.parametrize("selector", ["cuda:7", "opencl:99", "tbb:1", "nosuch"])
def test_unavailable_device(selector):
    fails(3, f"'{selector}'", "check", "--devices", selector)


@pytest.mark.parametrize(
    "arguments",
    [
        "frob",
        "--variants frob",
        "--types frob",
        "--types all,frob",
        "--patterns all,frob",
        "--sizes 2^99",
        "--seed -1",
        "--seed abc",
    ],
)
def test_refused_values(arguments):
    fails(2, f"'{arguments.split()[-1].removeprefix('all,')}'", "check", *arguments.split())
