"""Modules that must not be loaded or that fail, and machines without drivers."""

import os
import pathlib
import shutil
import subprocess

import pytest

from program import PROGRAM, THREE, concord, fails, gives, says

MODULES = pathlib.Path(os.environ["CONCORD_TEST_MODULES"])
# Backends with a device that does not open.
OPENING = {"CONCORD_BACKEND_PATH": str(MODULES / "opening")}


def test_failing_modules_have_reasons(unusable_modules):
    out = says([], "doctor").out
    for backend, reason in {
        "null_entry": "entry point returned null",
        "throwing_entry": "thrown by the entry point",
        "no_create": "does not describe backend 'no_create'",
        "other_name": "does not describe backend 'other_name'",
        "null_backend": "created no backend",
        "throwing_create": "thrown by create",
        "throwing_devices": "not a std::exception",
        "out_of_memory_once": "out of memory",
    }.items():
        assert f"{backend}: not available: " in out and reason in out, out


@pytest.mark.parametrize(
    "backend, reason", [("throwing_open", "threw an object that is not a std::exception"), ("null_open", "no device")]
)
def test_device_that_does_not_open(backend, reason):
    fails(4, [f"concord-backend-{backend}.so", reason], "run map --out new.npy --in", THREE, "--device", backend, env=OPENING)  # fmt: skip


FATAL = "#include <stdlib.h>\nvoid* concord_backend_fatal(void) { abort(); }\n"
COMMANDS = [
    ["run map --in", THREE, "--out", "new.npy", "--device", "tbb"],
    ["run map --in", THREE, "--out", "new.npy", "--devices", "tbb@baseline"],
    ["check add --devices tbb --sizes 100 --types f32"],
    ["bench add --devices tbb:* --sizes 100 --types f32"],
    ["check add --devices tbb --sizes 100 --types f32 --variants all"],
    ["algorithms"],
]


@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda words: words[0])
def test_only_the_backend_that_is_named_is_loaded(arguments, folder):
    """Another one may end the process."""
    if not shutil.which("cc"):
        pytest.skip("no C compiler")
    (folder / "fatal.c").write_text(FATAL)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", "concord-backend-fatal.so", "fatal.c"], check=True)
    env = {"CONCORD_BACKEND_PATH": str(folder)}
    assert concord(*arguments, env=env).status == 0
    if arguments[-2:] == ["--device", "tbb"]:
        assert concord(*arguments[:-2], env={**env, "CONCORD_DEVICE": "tbb"}).status == 0
        assert concord(*arguments[:-2], env=env).status == -6  # `auto` asks all backends


def test_other_devices_work():
    env = {**OPENING, "CUDA_VISIBLE_DEVICES": "-1"}  # devices of the same rank, which come first by their name
    result = concord("run map --in", THREE, "--out", "new.npy", "--json", env=env)
    assert result.status == 0 and "cannot open null_open:0" in result.err, result
    assert "_open" not in result.json()["device"]["selector"], result


def test_doctor_reports_a_device_that_does_not_open():
    result = concord("doctor", env=OPENING)
    assert result.status == 4 and "libraries: " in result.out and "2 failing" in result.out, result


def test_relative_folder(folder):
    shutil.copytree(MODULES, folder / "modules")
    for relative in ("modules", "./modules", "."):
        fails(2, ["CONCORD_BACKEND_PATH", "relative path", f"'{relative}'"], "devices",
              env={"CONCORD_BACKEND_PATH": f"/no/such/folder:{relative}"})  # fmt: skip


@pytest.mark.parametrize("mode", [0o777, 0o1777])
def test_folder_that_every_user_may_write_to(folder, mode):
    shutil.copytree(MODULES, folder / "modules")
    (folder / "modules").chmod(mode)
    fails(2, ["CONCORD_BACKEND_PATH", "every user"], "devices", env={"CONCORD_BACKEND_PATH": f"{folder}/modules"})


@pytest.mark.parametrize("mode, above", [(0o777, True), (0o1777, False)])
def test_folder_below_one_that_every_user_may_write_to(folder, mode, above):
    """Others could put a folder of theirs in its place, unless the sticky bit forbids it."""
    (folder / "open" / "between").mkdir(parents=True)
    shutil.copytree(MODULES / "opening", folder / "open" / "between" / "modules")
    (folder / "open").chmod(mode)
    env = {"CONCORD_BACKEND_PATH": f"{folder}/open/between/modules"}
    if above:
        fails(2, ["CONCORD_BACKEND_PATH", f"below '{folder}/open'", "every user"], "devices", env=env)
    else:
        assert "throwing_open" in concord("doctor", env=env).out


def test_folder_below_one_of_another_user(folder):
    (folder / "other" / "between").mkdir(parents=True)
    shutil.copytree(MODULES, folder / "other" / "between" / "modules")
    try:
        os.chown(folder / "other", 54321, 0)
    except OSError:
        pytest.skip("only root may give files away")
    fails(2, ["CONCORD_BACKEND_PATH", f"below '{folder}/other'", "another user"], "devices",
          env={"CONCORD_BACKEND_PATH": f"{folder}/other/between/modules"})  # fmt: skip


def test_folder_of_another_user(folder):
    shutil.copytree(MODULES, folder / "modules")
    try:
        os.chown(folder / "modules", 54321, 0)
    except OSError:
        pytest.skip("only root may give files away")
    fails(2, ["CONCORD_BACKEND_PATH", "another user"], "devices", env={"CONCORD_BACKEND_PATH": f"{folder}/modules"})


def test_files_that_are_not_modules(folder):
    """Waits for nothing, reads no incomplete file, and says why."""
    modules = folder / "modules"
    modules.mkdir()
    whole = (MODULES / "concord-backend-old.so").read_bytes()
    for name, part in {"page": 4096, "header": 64, "nothing": 0}.items():
        (modules / f"concord-backend-{name}.so").write_bytes(whole[:part])
    (modules / "concord-backend-strange name\n.so").write_bytes(b"")
    (modules / "concord-backend-open.so").write_bytes(whole)
    (modules / "concord-backend-open.so").chmod(0o666)
    (modules / "concord-backend-folder.so").mkdir()
    os.mkfifo(modules / "concord-backend-fifo.so")
    out = says([], "doctor", env={"CONCORD_BACKEND_PATH": str(modules)}).out
    for backend, reason in {
        "page": "it is an incomplete file",
        "header": "it is an incomplete file",
        "nothing": "cannot load the module",
        "open": "it is a file that every user may write to",
        "folder": "it is not a regular file",
        "fifo": "it is not a regular file",
    }.items():
        assert any(line.startswith(f"{backend}: not available: ") and reason in line for line in out.split("\n")), out


def test_modules_of_the_current_folder_are_not_loaded(folder):
    """The program is found through PATH, so that its argv[0] is the name of a file here."""
    shutil.copy(MODULES / "concord-backend-old.so", folder)
    shutil.copy(MODULES / "concord-backend-old.so", folder / "concord-baselines-old.so")
    shutil.copy(PROGRAM, folder / "concord")
    path = f"{pathlib.Path(PROGRAM).parent}:{os.environ['PATH']}"
    for command in ["devices", "--verbose"], ["bench", "map", "--baselines", "--sizes", "16", "--types", "f32"]:
        done = subprocess.run(
            ["concord", *command, "--log-level", "info"], env={**os.environ, "PATH": path}, capture_output=True,
            text=True, timeout=300,
        )  # fmt: skip
        assert done.returncode == 0 and str(folder) not in done.stdout + done.stderr, done
        assert "-old.so" not in done.stdout + done.stderr, done


def test_no_driver(folder):
    """Neither OpenCL drivers nor GPUs: the CPU works, and the reasons are named."""
    env = {"OCL_ICD_VENDORS": str(folder), "OCL_ICD_FILENAMES": "", "CUDA_VISIBLE_DEVICES": ""}
    names = [backend["name"] for backend in concord("devices --json", env=env).json()["backends"]]
    gives(THREE, "run map --in", THREE, env=env)
    says(["tbb: available"], "doctor", env=env)
    for backend in {"opencl", "cuda"} & set(names):
        fails(3, ["not available", f"'{backend}'"], "run map --out new.npy --in", THREE, "--device", backend, env=env)  # fmt: skip


def test_no_modules(folder):
    """The library without its backends, as after an incomplete installation."""
    libraries = folder / "lib"
    libraries.mkdir()
    linked = subprocess.run(["ldd", PROGRAM], capture_output=True, text=True, check=True).stdout
    for word in linked.split():
        if "/libconcord" in word:
            shutil.copy(word, libraries)
    if not list(libraries.iterdir()):
        pytest.skip("a static build: its backends are in the program")
    env = {"LD_LIBRARY_PATH": str(libraries), "CONCORD_BACKEND_PATH": ""}
    result = concord("doctor", env=env)
    assert result.status == 3 and "no backend" in result.out, result
    fails(3, ["no device available", f"searched in {libraries}"], "run map --in", THREE, "--out", "new.npy", env=env)  # fmt: skip
