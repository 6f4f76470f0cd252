"""Files that are not what they seem, closed descriptors, signals, and file systems that are full or read-only."""

import json
import os
import pathlib
import re
import resource
import shutil
import signal
import socket
import stat
import subprocess
import threading
import time

import numpy as np
import pytest

from program import PROGRAM, THREE
from program import complains, concord, fails, fresh_box, holds, raw_npy, refused, save, saved, says, without_sanitizers

MAP = ["run", "map", "--device", "tbb", "--in"]
ENDING = ["INT", "TERM", "HUP", "QUIT", "ALRM", "VTALRM", "PROF", "XCPU", "USR1", "USR2", "PIPE"]


def shell(script, *arguments, **options):
    """Runs a shell script whose "$@" is the program and its arguments."""
    return subprocess.run(
        ["sh", "-c", script, "sh", PROGRAM, *arguments], capture_output=True, timeout=300, check=False, **options
    )


@pytest.fixture
def other_user():
    """Gives a file to another user. Skips the test if this user may not."""
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    return lambda path: os.chown(path, 12345, 12345)


# Standard files


def test_standard_output_that_is_appended():
    save("three.npy", THREE)
    pathlib.Path("log").write_bytes(b"before\n")
    for _ in range(2):
        assert shell('exec "$@" >>log', *MAP, "three.npy", "--out", "/dev/stdout").returncode == 0
    # The program also prints a line.
    log = pathlib.Path("log").read_bytes()
    assert log.startswith(b"before\n" + saved(THREE)) and log.count(saved(THREE)) == 2


@pytest.mark.parametrize("out", ["/dev/fd/7", "/proc/self/fd/7", "link"])
def test_output_that_is_an_open_file(out):
    save("three.npy", THREE)
    os.symlink("/dev/fd/7", "link")
    assert shell('printf 12345 >log; exec "$@" 7<>log', *MAP, "three.npy", "--out", out).returncode == 0
    assert pathlib.Path("log").read_bytes() == saved(THREE)


def test_output_that_is_a_socket():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        assert concord(*MAP, THREE, "--out", "/dev/stdout", stdout=theirs).status == 0
        theirs.close()
        assert ours.recv(1 << 16).startswith(saved(THREE))


def test_open_file_that_is_only_readable():
    save("three.npy", THREE)
    done = shell('exec "$@" 7<three.npy', *MAP, "three.npy", "--out", "/dev/fd/7")
    assert done.returncode == 2 and b"--out: cannot be written, got '/dev/fd/7': not open for writing" in done.stderr


# Without standard output the report of --json is lost, which is an error.
@pytest.mark.parametrize(
    "closed, status", [("<&-", 0), (">&-", 2), ("2>&-", 0), ("<&- 2>&-", 0), (">&- 2>&-", 2), ("<&- >&- 2>&-", 2)]
)
def test_closed_standard_files(closed, status):
    """Text for standard files does not land in files that get their numbers."""
    save("three.npy", THREE)
    # In segments, so that the output is open while the program logs.
    command = [*MAP, "three.npy", "--out", "new.npy", "--chunk", "8", "--trace", "trace.json", "--json"]
    command += ["--log-level", "debug"]
    done = shell(f'exec "$@" {closed}', *command)
    assert done.returncode == status, done
    if status != 0:
        assert os.listdir() == ["three.npy"]
        return
    holds("new.npy", THREE)
    json.loads(pathlib.Path("trace.json").read_text())


# Permissions, links and names


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666])
def test_permissions_of_a_replaced_file_are_kept(mode):
    save("new.npy", THREE)
    os.chmod("new.npy", mode)
    assert concord(*MAP, THREE, "--out", "new.npy", preexec_fn=lambda: os.umask(0o027)).status == 0
    assert stat.S_IMODE(os.stat("new.npy").st_mode) == mode
    assert concord(*MAP, THREE, "--out", "other.npy", preexec_fn=lambda: os.umask(0o027)).status == 0
    assert stat.S_IMODE(os.stat("other.npy").st_mode) == 0o640


def test_owner_of_a_replaced_file_is_kept(other_user):
    save("new.npy", THREE)
    other_user("new.npy")
    assert concord(*MAP, THREE, "--out", "new.npy").status == 0
    assert os.stat("new.npy").st_uid == 12345


def test_output_behind_links_that_does_not_exist():
    os.mkdir("folder")
    os.symlink("folder/middle", "link.npy")
    os.symlink("target.npy", "folder/middle")
    assert concord(*MAP, THREE, "--out", "link.npy").status == 0
    assert os.path.islink("link.npy") and os.path.islink("folder/middle")
    holds("folder/target.npy", THREE)


def test_links_in_a_circle():
    os.symlink("b", "a")
    os.symlink("a", "b")
    fails(2, "symbolic links", *MAP, THREE, "--out", "a")


@pytest.mark.parametrize("length", [249, 255])
def test_long_name(length):
    for _ in range(2):
        assert concord(*MAP, THREE, "--out", "n" * length).status == 0
    holds("n" * length, THREE)


def test_long_path():
    folder = "/".join(["d" * 250] * 16)
    os.makedirs(folder)
    path = f"{folder}/new.npy"
    path = path + "n" * (4095 - len(path))
    assert concord(*MAP, THREE, "--out", path).status == 0
    holds(path, THREE)


def test_name_that_is_too_long():
    fails(2, ["--out", "too long"], *MAP, THREE, "--out", "n" * 256)


# Inputs


@without_sanitizers
@pytest.mark.parametrize("major", [2, 3])
def test_header_length_that_lies(major):
    """A sparse file takes no memory for a header that it does not have."""
    with open("lie.npy", "wb") as file:
        file.write(b"\x93NUMPY" + bytes([major, 0]) + ((1 << 32) - 100).to_bytes(4, "little"))
        file.truncate(1 << 33)

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))

    refused(2, ["lie.npy", "4294967196"], *MAP, "lie.npy", "--out", "box/new.npy", preexec_fn=limit)


def make(kind, path, other_user=None):
    """Puts something that is not a usable file at the path."""
    pathlib.Path(path).unlink(missing_ok=True)
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        os.mkdir(path)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(os.path.relpath(path))
    elif kind == "dangling link":
        os.symlink("nowhere", path)
    elif kind == "device":
        os.symlink("/dev/zero", path)


KINDS = ["fifo", "folder", "socket", "dangling link", "device"]


@pytest.mark.parametrize("kind", KINDS)
def test_input(kind):
    make(kind, "x")
    refused(2, ["--in: cannot be read, got 'x'"], *MAP, "x", "--out", "box/new.npy")


@pytest.mark.parametrize("kind", KINDS)
def test_imported_file(kind):
    make(kind, "x")
    fails(2, ["--from: cannot be read, got 'x'"], "study --from x --out report")
    assert not os.path.exists("report")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("named", ["file", "folder"])
def test_tuning_table(kind, named):
    """CONCORD_TUNING names something that is not a table, or a folder with it."""
    os.mkdir("tables")
    make(kind, "tables/x.txt")
    if kind == "dangling link" and named == "file":
        pytest.skip("refused as a missing file")
    env = {"CONCORD_TUNING": os.path.abspath("tables/x.txt" if named == "file" else "tables")}
    result = concord(*MAP, THREE, "--out", "new.npy", env=env)
    assert result.status == 0, result
    # A folder is a folder of tables.
    assert ("tuning table: cannot be read" in result.err) == ((kind, named) != ("folder", "file")), result
    holds("new.npy", THREE)


@pytest.mark.parametrize("problem", ["belongs to another user", "everyone can write it"])
def test_tuning_table_of_a_stranger(folder, request, problem):
    """A table in the configuration folder that another user can change is not used."""
    tables = folder / "concord" / "tuning"
    tables.mkdir(parents=True)
    table = tables / "x.txt"
    table.write_text("")
    if problem == "belongs to another user":
        request.getfixturevalue("other_user")(table)
    else:
        table.chmod(0o666)
    result = concord(*MAP, THREE, "--out", "new.npy", env={"XDG_CONFIG_HOME": str(folder), "CONCORD_TUNING": ""})
    assert result.status == 0 and f"x.txt': {problem}" in result.err, result


# Outputs


@pytest.mark.parametrize("kind", ["fifo", "folder", "socket"])
def test_output(kind):
    make(kind, "x")
    fails(2, "x", *MAP, THREE, "--out", "x")


def test_pipe_whose_reader_comes_late():
    os.mkfifo("pipe")
    save("three.npy", THREE)
    read = []

    def reader():
        time.sleep(1)
        read.append(pathlib.Path("pipe").read_bytes())

    thread = threading.Thread(target=reader)
    thread.start()
    assert concord(*MAP, "three.npy", "--out", "pipe").status == 0
    thread.join()
    assert read == [saved(THREE)]


BENCH = '{"schema": 1, "version": "0.1.0", "date": "", "machine": {"cpu": "a", "cores": 1, "os": "b"}, "devices": [], "results": []}'


def report_of(*files, out="report", **options):
    return concord("study --from", ",".join(files), "--out", out, **options)


@pytest.mark.parametrize("kind", ["fifo", "folder", "socket"])
@pytest.mark.parametrize("name", ["results.jsonl", "results.lock", "report.html", "results.json"])
def test_folder_of_a_report(kind, name):
    pathlib.Path("a.json").write_text(BENCH)
    os.mkdir("report")
    make(kind, f"report/{name}")
    complains(report_of("a.json"), 2, name)


def test_links_in_the_folder_of_a_report():
    """A link under the name of a temporary file or of the lock is not followed."""
    pathlib.Path("a.json").write_text(BENCH)
    pathlib.Path("precious").write_text("precious")
    os.mkdir("report")
    os.symlink("../precious", "report/results.jsonl.new")
    assert report_of("a.json").status == 0
    os.remove("report/results.lock")
    os.symlink("../precious", "report/results.lock")
    complains(report_of("a.json"), 2, "results.lock")
    assert pathlib.Path("precious").read_text() == "precious"


def test_names_of_imported_files():
    """Names of any length, and names that differ only in punctuation, are sections of their own."""
    os.makedirs("a/" + "/".join(["d" * 200] * 5))
    files = ["a/b.json", "a-b.json", "a/" + "/".join(["d" * 200] * 5) + "/c.json", "n" * 250 + ".json"]
    says("", "bench map --devices tbb --types f32 --sizes 10 --json", files[0])
    for file in files[1:]:
        shutil.copy(files[0], file)
    assert report_of(*files).status == 0
    page = pathlib.Path("report/report.html").read_text()
    sections = re.findall('id="(file-[^"]*)-title"', page)
    assert len(set(sections)) == len(sections) == len(files), sections
    assert len(os.listdir("report/csv")) == len(files)


# The cache of kernels


@pytest.mark.parametrize("kind", KINDS + ["file of another user", "file that everyone can write"])
def test_cache_entry(folder, request, kind):
    cache = folder / "concord"
    cache.mkdir()
    entry = cache / "0123.program"
    if kind.startswith("file"):
        entry.write_text("no kernel")
        if "another" in kind:
            request.getfixturevalue("other_user")(entry)
        else:
            entry.chmod(0o666)
    else:
        make(kind, entry)
    env = {"XDG_CACHE_HOME": str(folder)}
    result = concord("cache verify", env=env)
    assert result.status == 1 and "0 entries are valid, 1 damaged" in result.out, result
    assert concord("cache clear", env=env).status == 0
    assert not os.path.lexists(entry)


# Signals


def writing(command, **options):
    """Starts the program and waits until it has an output file open in the folder box."""
    fresh_box()
    box = os.path.abspath("box")
    process = subprocess.Popen(
        [PROGRAM, *command],
        # PoCL brings LLVM's signal handlers, which take no notice of some signals.
        env={**os.environ, "OCL_ICD_VENDORS": "/no/such/folder"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **options,
    )
    for _ in range(6000):
        for number in os.listdir(f"/proc/{process.pid}/fd"):
            try:
                target = os.readlink(f"/proc/{process.pid}/fd/{number}")
            except OSError:
                continue
            if target.startswith(box + "/"):
                return process
        time.sleep(0.005)
    process.kill()
    raise AssertionError(f"no output file after 30 s: {process.communicate()}")


@pytest.fixture(scope="module")
def sparse(tmp_path_factory):
    """An input of 4 GiB that takes no room."""
    path = tmp_path_factory.mktemp("sparse") / "sparse.npy"
    with open(path, "wb") as file:
        header = raw_npy(b"", descr="'<f4'", shape=f"({1 << 30},)")
        file.write(header)
        file.truncate(len(header) + (4 << 30))
    yield str(path)
    path.unlink()


@pytest.mark.parametrize("name", ENDING + ["KILL", "XFSZ"])
def test_signal_leaves_no_file(sparse, name):
    """XFSZ: the system sends it, because the file gets too large."""

    def limits():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if name == "XFSZ":
            resource.setrlimit(resource.RLIMIT_FSIZE, (50 << 20, 50 << 20))

    command = [*MAP, sparse, "--out", "box/new.npy", "--memory-limit", "8M", "--chunk", "64K"]
    process = writing(command, preexec_fn=limits)
    number = getattr(signal, f"SIG{name}")
    if name != "XFSZ":
        process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert os.listdir("box") == ["kept.npy"]
    if name == "XFSZ":
        assert process.returncode == 2 and b"File too large" in err
        return
    assert process.returncode == -number
    said = b"" if name in ("KILL", "PIPE") else f"concord: interrupted (SIG{name})\n".encode()
    assert err == said


def test_ignored_signal_stays_ignored(sparse):
    def ignore():
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)

    command = [*MAP, sparse, "--out", "box/new.npy", "--memory-limit", "8M", "--chunk", "64K"]
    process = writing(command, preexec_fn=ignore)
    process.send_signal(signal.SIGUSR1)
    time.sleep(0.1)
    assert process.poll() is None
    process.terminate()
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGTERM


# File systems


@pytest.fixture(params=["full", "read-only"])
def mounted(request, folder):
    """Runs commands in the folder `small`, a file system that is full or read-only."""
    script = {
        "full": "mount -t tmpfs -o size=64k tmpfs small; head -c 60000 /dev/zero >small/rest",
        "read-only": "mount -t tmpfs tmpfs small; echo old >small/old.npy; mount -o remount,ro small",
    }[request.param]
    (folder / "small").mkdir()
    unshare = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]
    if shutil.which("unshare") is None or subprocess.run([*unshare, script], capture_output=True, check=False).returncode:
        pytest.skip("cannot mount file systems in a user namespace")

    def run(*arguments, env=None):
        # The folder's content is listed after the run.
        done = subprocess.run(
            [*unshare, f'{script}; "$@" || status=$?; ls -A small >listed; exit ${{status:-0}}', "sh", PROGRAM, *arguments],
            capture_output=True,
            text=True,
            timeout=300,
            env={**os.environ, **(env or {})},
            check=False,
        )
        done.listed = pathlib.Path("listed").read_text().split()
        return done

    run.before = ["rest"] if request.param == "full" else ["old.npy"]
    return run


@pytest.mark.parametrize(
    "arguments",
    [
        [*MAP, "ones.npy", "--out", "small/new.npy"],
        [*MAP, "ones.npy", "--out", "small/new.npy", "--chunk", "1K"],
        [*MAP, "ones.npy", "--out", "small/old.npy"],
        ["study", "--from", "a.json", "--out", "small/report"],
        ["check", "map", "--devices", "tbb", "--types", "f32", "--sizes", "1..300", "--json", "small/check.json"],
    ],
    ids=["run", "segments", "replace", "study", "check"],
)
def test_file_system_without_room(mounted, arguments):
    save("ones.npy", np.ones(60000, "f4"))
    pathlib.Path("a.json").write_text(BENCH)
    done = mounted(*arguments)
    assert done.returncode == 2 and done.stderr.startswith("concord: ") and done.stderr.count("\n") == 1, done
    # A study's folder holds what was written before the failure.
    assert [name for name in done.listed if name != "report"] == mounted.before, done
