"""`concord check`."""

import json
import os
import pathlib
import pty
import re
import shutil
import signal
import subprocess
import time
import xml.etree.ElementTree

import pytest

from program import PROGRAM, compiles_only, concord, fails, json_object, need, refused, says, started


def test_reports():
    options = "--devices tbb --types f32 --sizes 0,1,1025 reduce --json check.json --junit check.xml"
    out = says(" 0 failed", f"check {options}").out
    with open("check.json", encoding="utf-8") as file:
        report = json_object(file.read())
    assert report["passed"] > 0 and report["failed"] == 0 and report["failures"] == []
    assert report["interrupted"] is False and "interrupted" not in out
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
    says(["tbb:0", " 0 failed"], "check add --devices tbb:* --types f32 --sizes 5")
    fails(3, ["'nosuch:*'", "backend"], "check --devices nosuch:*")


def test_device_that_only_compiles():
    """Its cases are compiled, which does not count as passed."""
    device = compiles_only()
    arguments = [*"check add --variants naive --types f32 --sizes 5 --json check.json --device".split(), f"tbb,{device}"]
    out = says(["compiles", " 0 failed"], *arguments).out
    with open("check.json", encoding="utf-8") as file:
        report = json_object(file.read())
    assert report["passed"] > 0 and report["compiled"] > 0
    assert f"check: {report['passed']} passed, {report['compiled']} compiled, 0 failed, " in out
    for row in report["matrix"]:
        compiles = row["device"] == device
        assert (row["compiled"] > 0) == compiles and (row["passed"] > 0) == (not compiles)
        assert (row["verdict"] == "compiles") == compiles


def test_skipped_cases_are_grouped_by_reason():
    arguments = ["reduce", "--devices", "tbb", "--types", "f32,f64", "--sizes", "1025,2^40", "--variants", "fixed"]
    out = says("check: ", "check", *arguments, "--json", "check.json").out
    with open("check.json", encoding="utf-8") as file:
        report = json_object(file.read())
    groups = {group["reason"]: group["cases"] for group in report["skipped_by_reason"]}
    assert groups["not enough memory"] > 1 and sum(groups.values()) == report["skipped"]
    lines = out.splitlines()
    shown = dict(re.fullmatch(r"skipped (\d+) cases?: (.*)", line).group(2, 1) for line in lines[-1 - len(groups) : -1])
    assert {reason: int(count) for reason, count in shown.items()} == groups
    assert sum(line.startswith("skipped ") for line in lines) == len(groups)


def test_nothing_to_check():
    arguments = ["sort", "--devices", "tbb", "--variants", "std_sort", "--types", "f32", "--sizes", "2^40"]
    result = concord("check", *arguments, "--json", "check.json")
    assert result.status == 2 and "checked" in result.out, result
    with open("check.json", encoding="utf-8") as file:
        assert json.load(file)["passed"] == 0


@pytest.mark.parametrize("command", ["check", "bench"])
def test_variant_that_the_device_lacks(command):
    words = ["--variants: variant 'lookback' is not implemented for tbb:0", "available: ", "partitioned"]
    refused(2, words, command, "scan", "--devices", "tbb", "--variants", "lookback", "--json", "box/report.json")
    refused(2, words[0], command, "scan", "--devices", "tbb:*", "--variants", "partitioned,lookback")
    # Other algorithms have it.
    says("reduce", command, "reduce", "scan", "--devices", "tbb", "--variants", "fixed", "--types", "f32", "--sizes", "5")


def test_variant_that_some_devices_lack():
    """Without named devices, one that has it suffices."""
    says("reduce", "check reduce --variants fixed --types f32 --sizes 5")
    need("opencl")
    says("serial", "check reduce --variants serial --types f32 --sizes 5")
    words = "is not implemented for opencl:0"
    refused(2, words, "check reduce --variants serial --devices tbb,opencl")


def test_report_that_cannot_be_written():
    refused(2, ["--json", "directory", "no/such'"], "check reduce --devices tbb --json no/such/check.json")


def read_until(terminal, pattern):
    """What the terminal shows up to the first match. Without one, up to the end of the program."""
    shown = ""
    while not (pattern and re.search(pattern, shown)):
        try:
            piece = os.read(terminal, 4096)
        except OSError:  # the program has closed its side
            break
        if not piece:
            break
        shown += piece.decode()
    return shown


def on_terminal(*arguments):
    """The running program with a terminal as stderr, and our side of the terminal."""
    ours, theirs = pty.openpty()
    process = started(*arguments, stderr=theirs)
    os.close(theirs)
    return process, ours


def test_progress_on_a_terminal():
    process, terminal = on_terminal("check", "scan", "--devices", "tbb", "--types", "f32,u8")
    with process:
        shown = read_until(terminal, None)
        out = process.stdout.read()
    assert process.wait() == 0, shown
    lines = [re.fullmatch(r"(\d+) of (\d+) cases(?:, (.*) left)?: scan/.*", line) for line in shown.split("\r\x1b[K") if line]
    assert lines and all(lines), shown
    done = [int(line[1]) for line in lines]
    [total] = {int(line[2]) for line in lines}
    assert done == sorted(done) and done[-1] < total
    counts = [int(n) for n in re.findall(r"\d+", out.splitlines()[-1])]
    assert sum(counts) == total, out.splitlines()[-1]


@pytest.mark.parametrize("jobs", ["1", "3"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted(number, jobs):
    files = ["--json", "check.json", "--junit", "check.xml"]
    process, terminal = on_terminal("check", "--devices", "tbb", "--jobs", jobs, *files)
    with process:
        read_until(terminal, "[1-9]\\d* of \\d+ cases")
        others = workers(process)
        assert (len(others) == 3) == (jobs == "3")
        process.send_signal(number)
        err = read_until(terminal, None)
        out = process.stdout.read()
    assert process.wait() == -number, err
    assert not any(map(is_running, others))
    assert re.search(rf"\r\x1b\[Kconcord: interrupted \({number.name}\)", err), err
    done, total = map(int, re.search(r"^interrupted after (\d+) of (\d+) cases", out, re.MULTILINE).groups())
    assert 0 < done < total
    assert "\nmap " in out and "no passing case" not in out
    with open("check.json", encoding="utf-8") as file:
        report = json_object(file.read())
    assert report["interrupted"] is True
    assert 0 < report["passed"] < total and report["failed"] == 0
    assert out.splitlines()[-1].startswith(f"check: {report['passed']} passed, 0 failed, ")
    suite = xml.etree.ElementTree.parse("check.xml").getroot()
    assert suite.find("properties/property").attrib == {"name": "interrupted", "value": "true"}
    assert sorted(os.listdir()) == ["check.json", "check.xml"]


def workers(process):
    """The processes that run cases for a check."""
    return pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()


def is_running(process):
    try:
        return " Z " not in pathlib.Path(f"/proc/{process}/stat").read_text()
    except FileNotFoundError:
        return False


def report_of(jobs, *arguments, status=0, env=None):
    """What a check with that many jobs prints and writes, except the time."""
    files = [f"check{jobs}.json", f"check{jobs}.xml"]
    result = concord("check", *arguments, "--jobs", jobs, "--json", files[0], "--junit", files[1], "--log-level", "info", env=env)
    assert result.status == status, result
    processes = re.search(r"check: \d+ pieces in (\d+) processes", result.err)
    assert (processes and int(processes[1])) == (jobs if jobs > 1 else None), result
    return [result.out, *(re.sub(r'"date": "[^"]*"', '"date": ""', pathlib.Path(file).read_text()) for file in files)]


@pytest.mark.parametrize(
    "arguments",
    [
        "--devices tbb --types f32,u8,i64 --sizes 1025",
        "reduce scan --devices tbb,tbb@baseline --types f32,u32,f64,i8 --sizes 1025,9001 --patterns mixed,special --seed 7",
        "add --devices tbb,opencl --types f32,f64,u8,i32 --sizes 1,1025,9001 --verbose",
        "add --devices cuda@sm_90 --types f32,f64,u8,i32",
    ],
)
def test_report_does_not_depend_on_jobs(arguments):
    if "opencl" in arguments:
        need("opencl")
    if "cuda" in arguments:
        compiles_only()
    assert report_of(1, *arguments.split()) == report_of(4, *arguments.split())


def wrong_kernels(*replacements):
    """The environment in which the kernel sources have these faults: file, text, replacement."""
    need("opencl")
    os.makedirs("kernels")
    for file, text, replacement in replacements:
        [path] = pathlib.Path(__file__).parents[2].glob(f"algorithms/*/{file}")
        source = path.read_text()
        assert source.count(text) == 1, f"{file} has {source.count(text)} of {text}"
        pathlib.Path("kernels", file).write_text(source.replace(text, replacement))
    return {"CONCORD_KERNELS": os.path.abspath("kernels")}


def test_failures_do_not_depend_on_jobs():
    """In the order of the cases, whichever process is first."""
    line = "if (i < n) out[i] = F("
    env = wrong_kernels(("map.kernel", line, line.replace("i < n", "i < n && i != 1000")))
    arguments = "add --devices tbb,opencl --types f32,u8,f64,i16 --sizes 1,1025,9001".split()
    reports = [report_of(jobs, *arguments, status=1, env=env) for jobs in (1, 4)]
    assert reports[0] == reports[1]
    failures = json_object(reports[0][1])["failures"]
    assert list(dict.fromkeys(failure["type"] for failure in failures)) == ["f32", "u8", "f64", "i16"]
    assert reports[0][0].startswith("FAILED add/naive on opencl:0: ")


def test_case_that_ends_its_process():
    """Others go on. After three such cases in a piece the rest of it is skipped."""
    line = "if (i < n) out[i] = F("
    crash = "if (sizeof(A) == 4 && n == 9001) *(volatile __global int*)0 = 1;\n"
    env = wrong_kernels(("map.kernel", line, crash + line))
    arguments = "add --devices tbb,opencl --types f32,u8 --sizes 1,1025,9001 --jobs 2 --json check.json".split()
    result = concord("check", *arguments, env=env)
    assert result.status == 1, result
    with open("check.json", encoding="utf-8") as file:
        report = json_object(file.read())
    assert len(report["failures"]) == report["failed"] and report["failed"] % 3 == 0
    for failure in report["failures"]:
        assert failure["type"] == "f32" and failure["variant"] == "naive" and " of 9001 " in failure["case"]
        assert "the process that ran the case ended with SIGSEGV" == failure["what"]
    groups = {group["reason"]: group["cases"] for group in report["skipped_by_reason"]}
    assert groups["the process of these cases has ended three times"] > 0
    passed = report_of(1, *"add --devices tbb,opencl --types u8 --sizes 1,1025,9001".split())
    assert report["passed"] > json_object(passed[1])["passed"]


def test_process_that_is_ended():
    """The case that it runs has failed. Another process goes on."""
    arguments = "check --devices tbb --types f32,u8 --sizes 1,1025".split()
    process, terminal = on_terminal(*arguments, "--jobs", "2", "--json", "check.json")
    with process:
        read_until(terminal, "[1-9]\\d* of \\d+ cases")
        os.kill(int(workers(process)[0]), signal.SIGKILL)
        err = read_until(terminal, None)
    assert process.wait() == 1, err
    with open("check.json", encoding="utf-8") as file:
        report = json_object(file.read())
    [failure] = report["failures"]
    assert failure["what"] == "the process that ran the case ended with SIGKILL"
    whole = json_object(report_of(1, *arguments[1:])[1])
    for row, expected in zip(report["matrix"], whole["matrix"]):
        is_there = (row["algorithm"], row["variant"]) == (failure["algorithm"], failure["variant"])
        assert row["passed"] + is_there == expected["passed"] and row["skipped"] == expected["skipped"]


def test_parent_that_ignores_ended_children():
    """A shell's `trap '' CHLD` is inherited."""
    env = {**os.environ, **wrong_kernels(("map.kernel", "const u64 i = global_id();", "if (n == 9001) *(volatile __global int*)0 = 1;\nconst u64 i = global_id();"))}
    command = [PROGRAM, *"check add --devices tbb,opencl --types f32,u8 --sizes 1,1025,9001 --jobs 2 --json check.json".split()]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False,
                          preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
    assert done.returncode == 1, done
    failures = json_object(pathlib.Path("check.json").read_text())["failures"]
    assert failures and all("ended with SIGSEGV" in failure["what"] for failure in failures), failures


def test_without_other_processes():
    """The cases run in this one."""
    strace = [shutil.which("strace"), *"-qq -o trace -e signal=none -e trace=socketpair".split(), "-e", "inject=socketpair:error=EMFILE"]
    if strace[0] is None or subprocess.run([*strace, "true"], capture_output=True, check=False).returncode:
        pytest.skip("strace is not available, or may not trace")
    arguments = "reduce scan --devices tbb --types f32,u8 --sizes 1,1025,9001".split()
    done = subprocess.run([*strace, PROGRAM, "check", *arguments, "--jobs", "2"], capture_output=True, text=True, check=False)
    assert "the cases run in one process" in done.stderr and "Too many open files" in done.stderr
    assert done.stdout == report_of(1, *arguments)[0]


def test_warnings_of_several_processes_are_printed_once():
    pathlib.Path("table.txt").write_text("reduce what\n")
    arguments = "check --devices tbb --types f32,f64,u8 --sizes 1025".split()
    one, several = (concord(*arguments, "--jobs", jobs, env={"CONCORD_TUNING": "table.txt"}) for jobs in (1, 4))
    assert "table.txt" in one.err and one.err == several.err


@pytest.mark.parametrize("selector", ["cuda:7", "opencl:99", "tbb:1", "nosuch"])
def test_unavailable_device(selector):
    fails(3, f"'{selector}'", "check --devices", selector)


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
        "--jobs 0",
        "--jobs 1025",
        "--jobs two",
    ],
)
def test_refused_values(arguments):
    fails(2, f"'{arguments.split()[-1].removeprefix('all,')}'", "check", *arguments.split())
