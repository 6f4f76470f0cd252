"""Help on every level, and words that are not commands or options."""

import re

import pytest

from program import algorithms, concord, fails, says

# The contract of the command line.
COMMANDS = "devices doctor algorithms run check bench study tune cache".split()
COMMANDS += ["cache ls", "cache verify", "cache clear"]


def levels(*level):
    """The commands that help lists, from a level downwards."""
    found = [level]
    listed = re.search(r"^Subcommands:\n(.*?)^$", concord(*level, "--help").out, re.MULTILINE | re.DOTALL)
    for name in re.findall(r"^  (\w+) ", listed[1], re.MULTILINE) if listed else []:
        found += levels(*level, name)
    return found


LEVELS = levels()


@pytest.mark.parametrize("level", LEVELS, ids=" ".join)
def test_every_level_has_help_with_an_example(level):
    result = says("Example:\n  concord ", *level, "--help")
    assert result.err == ""


@pytest.mark.parametrize("command", COMMANDS + [f"run {name}" for name in algorithms()])
def test_help_lists_the_command(command):
    assert tuple(command.split()) in LEVELS


@pytest.mark.parametrize("level", LEVELS, ids=" ".join)
def test_unknown_option(level):
    fails(2, "--frob", *level, "--frob")


def test_version():
    says("concord ", "--version")


@pytest.mark.parametrize("level", [(), ("run",)], ids=" ".join)
def test_a_subcommand_is_required(level):
    fails(2, "required", *level)


def test_unknown_command():
    fails(2, "frob", "frob")


def test_unknown_algorithm_to_run():
    fails(2, ["'frob'", *algorithms()], "run frob --in three.npy --out new.npy")


def test_unknown_command_of_the_cache():
    fails(2, ["'frob'", "ls", "verify", "clear"], "cache frob")


@pytest.mark.parametrize("command", ["check", "bench"])
def test_check_and_bench_list_what_they_take(command):
    out = says(["i8, i16, i32, i64, u8, u16, u32, u64, f32, f64"], command, "--help").out
    if command == "check":
        assert "random, mixed, constant, near_one" in " ".join(out.split())
    else:
        assert "`concord algorithms NAME` lists them" in " ".join(out.split())
