"""Output files of `concord run`, which appear whole or not at all, and what happens out of memory."""

import os
import pathlib
import resource
import stat

import numpy as np
import pytest

from program import BYTES, THREE, box_is_untouched, concord, fails, fresh_box, gives, holds, raw_npy, refused, save

ONES = np.ones(200000, "u1")


@pytest.mark.parametrize(
    "out, words",
    [
        ("no/such/new.npy", ["--out", "directory", "no/such'"]),
        ("input.npy/new.npy", ["input.npy", "directory"]),
        ("box", "directory"),
        ("box/", "box/"),
        ("", "written"),
    ],
)
def test_path_that_cannot_be_written(out, words):
    save("input.npy", THREE)
    refused(2, words, "run map --in input.npy --out", out, "--device", "tbb")


def test_failing_run_keeps_the_old_file():
    refused(3, "nosuch", "run map --in", THREE, "--out", "box/kept.npy", "--device", "nosuch")
    refused(2, "frob", "run map --in", THREE, "--out", "box/kept.npy", "--device", "tbb", "--variant", "frob")


@pytest.mark.skipif(os.geteuid() == 0, reason="root can write everywhere")
def test_folder_that_is_not_writable():
    os.mkdir("closed", mode=0o555)
    refused(2, ["--out", "closed'"], "run map --in", THREE, "--out", "closed/new.npy", "--device", "tbb")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_full_device():
    refused(2, "/dev/full", "run map --in", THREE, "--out", "/dev/full", "--device", "tbb")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_full_standard_output():
    with open("/dev/full", "wb") as full:
        result = concord("devices", stdout=full)
    assert result.status == 2, result


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
@pytest.mark.parametrize("name", ["kept", "new"])
@pytest.mark.parametrize(
    "arguments",
    [
        "run map --in three.npy --device tbb --out",
        "run map --in three.npy --device tbb --chunk 4K --out",
        "run map --in three.npy --device tbb --json --out",
        "run sort --in three.npy --values three.npy --device tbb --out-values values.npy --out",
        "check map --devices tbb --types f32 --sizes 10 --json",
    ],
)
def test_full_standard_output_leaves_no_file(arguments, name):
    save("three.npy", THREE)
    with open("/dev/full", "wb") as full:
        refused(2, "standard output", *arguments.split(), f"box/{name}.npy", stdout=full)
    assert not os.path.exists("values.npy")


@pytest.mark.parametrize("name", ["kept", "new"])
def test_full_disk(name):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))

    arguments = ["run", "map", "--in", ONES, "--out", f"box/{name}.npy", "--device", "tbb"]
    refused(2, [f"box/{name}.npy", "written"], *arguments, preexec_fn=limit)


def test_output_that_is_the_input():
    save("itself.npy", THREE)
    assert concord("run map --function square --in itself.npy --out itself.npy --device tbb").status == 0
    holds("itself.npy", THREE * THREE)


def test_output_that_is_a_link():
    save("target.npy", BYTES)
    os.symlink("target.npy", "link.npy")
    assert concord("run map --in", THREE, "--out", "link.npy", "--device", "tbb").status == 0
    assert os.path.islink("link.npy")
    holds("target.npy", THREE)


@pytest.mark.parametrize(
    "words, arguments",
    [
        (
            ["'box/new.npy'", "outputs"],
            "run sort --in three.npy --values bytes.npy --out box/new.npy --out-values box/new.npy",
        ),
        (["'box/new.npy'", "--out"], "run sort --in three.npy --out box/new.npy --trace box/new.npy"),
        (["'three.npy'", "--in"], "run sort --in ./three.npy --out box/new.npy --trace three.npy"),
        (["'box/../box/new.npy'", "--json"], "bench map --sizes 10 --json box/new.npy --csv box/../box/new.npy"),
        (["'box/new.npy'", "--json"], "check map --sizes 10 --json box/new.npy --junit box/new.npy"),
        (["'box/new.npy'", "--out"], "tune map --device tbb --out box/new.npy --json box/new.npy"),
    ],
)
def test_file_that_is_named_twice(words, arguments):
    save("three.npy", THREE)
    save("bytes.npy", BYTES)
    refused(2, words, *arguments.split())


@pytest.mark.parametrize("arguments", [["--out", "box/new.npy"], ["--in", "three.npy"]], ids=["no input", "no output"])
def test_input_and_output_are_required(arguments):
    save("three.npy", THREE)
    refused(2, "--out" if "--in" in arguments else "--in", "run map", *arguments)


# Elements of a sparse file. Sorting needs it twice, which is more than limit_memory() permits.
LARGE = 1 << 31


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (7 << 29, 7 << 29))


@pytest.fixture
def large():
    if (
        concord(
            "run map --in", THREE, "--out", "new.npy", "--device", "tbb", env=ONE_THREAD, preexec_fn=limit_memory
        ).status
        != 0
    ):
        pytest.skip("the program does not start in 3.5 GiB")
    header = raw_npy(b"", descr="'|u1'", shape=f"({LARGE},)")
    with open("large.npy", "wb") as file:
        file.write(header)
        file.truncate(len(header) + LARGE)
    yield "large.npy"
    os.remove("large.npy")


ONE_THREAD = {"CONCORD_THREADS": "1"}


def test_out_of_memory(large):
    fresh_box()
    result = concord("run sort --out box/kept.npy --device tbb --in", large, env=ONE_THREAD, preexec_fn=limit_memory)
    assert result.status == 4 and "memory" in result.err, result
    box_is_untouched()


def test_reduction_of_a_large_file_in_little_memory(large):
    result = concord("run reduce --out new.npy --device tbb --in", large, env=ONE_THREAD, preexec_fn=limit_memory)
    assert result.status == 0, result
    holds("new.npy", np.zeros((), "u1"))
