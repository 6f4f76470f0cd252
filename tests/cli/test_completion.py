"""Shell completion. Bash completes in a shell; the scripts of zsh and fish are parsed, and fish completes too."""

import os
import pathlib
import shutil
import subprocess

import pytest

from program import PROGRAM, TYPES, algorithms, concord, fails, says, selectors


def shell(name):
    path = shutil.which(name)
    if path is None:
        pytest.skip(f"{name} is not installed (apt-get install {name})")
    return path


def folder_of_program():
    """A folder with a link to the program. Its path, unlike that of the program, has no characters that shells quote."""
    path = pathlib.Path("bin").absolute()
    path.mkdir(exist_ok=True)
    if not (path / "concord").exists():
        (path / "concord").symlink_to(PROGRAM)
    return path


@pytest.fixture
def script(folder):
    """Writes the completion script of a shell."""

    def write(name):
        path = folder / f"concord.{name}"
        path.write_text(says("concord", "completion", name).out)
        return path

    return write


@pytest.fixture
def bash(script):
    """Completes a command line in bash, as readline does, and returns the candidates."""
    path = shell("bash")
    text = script("bash")

    def complete(line):
        code = f"""
            source {text}
            [[ $(complete -p concord) == "complete -F _concord concord" ]] || exit 9
            COMP_LINE=$1 COMP_POINT=${{#1}}
            read -ra COMP_WORDS <<<"$1"
            [[ $1 == *[[:space:]] ]] && COMP_WORDS+=("")
            COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
            _concord concord
            printf '%s\n' "${{COMPREPLY[@]}}"
        """
        line = line.replace("concord", f"{folder_of_program()}/concord", 1)
        done = subprocess.run([path, "-c", code, "bash", line], capture_output=True, text=True, check=False)
        assert done.returncode == 0 and done.stderr == "", done
        return [word for word in done.stdout.split("\n") if word]

    return complete


def test_bash_commands(bash):
    assert set(bash("concord ")) == {"algorithms", "bench", "cache", "check", "devices", "doctor", "run", "study", "tune"}
    assert bash("concord ch") == ["check"]
    assert bash("concord cache v") == ["verify"]


def test_bash_algorithms(bash):
    assert set(bash("concord run ")) == {*algorithms(), "argsort"}
    assert set(bash("concord check ")) == set(algorithms())
    assert bash("concord algorithms tra") == ["transpose"]


def test_bash_options(bash):
    assert "--baselines" in bash("concord bench --") and "--device" in bash("concord bench reduce --")
    assert set(bash("concord run stencil --gen")) == {"--generate"}
    assert bash("concord --vers") == ["--version"]


def test_bash_variants_and_types(bash):
    variants = {variant["name"] for variant in algorithms()["scan"]["variants"]}
    assert set(bash("concord run scan --variant ")) == variants | {"auto"}
    assert set(bash("concord check --types ")) == set(TYPES) | {"all"}
    assert bash("concord check --types f32,f6") == ["f32,f64"]
    assert bash("concord run reduce --op=pr") == ["product"]


def test_bash_selectors(bash):
    assert {"all", "auto", "tbb", "tbb:*", *selectors()} <= set(bash("concord check --devices "))
    # Readline replaces what follows the last colon only.
    assert set(bash("concord check --device tbb:")) == {"0", "*"}
    assert bash("concord bench --devices all,aut") == ["all,auto"]


def test_bash_files(bash, folder):
    (folder / "data").mkdir()
    (folder / "data.npy").touch()
    assert set(bash("concord run map --in dat")) == {"data", "data.npy"}
    assert bash("concord study --out dat") == ["data"]
    assert bash("concord study --compare data da") == ["data"]


def test_bash_values_are_not_commands(bash):
    assert bash("concord run histogram --range 0 10 --mod") == ["--modulo"]
    assert set(bash("concord run sort --in map --vari")) == {"--variant"}


def test_zsh_parses(script):
    done = subprocess.run([shell("zsh"), "-n", script("zsh")], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stderr == "", done


@pytest.fixture
def fish(script):
    path = shell("fish")
    text = script("fish")

    def complete(line):
        done = subprocess.run(
            [path, "--no-config", "-c", f"source {text}; complete -C '{line}'"],
            env={**os.environ, "PATH": f"{folder_of_program()}:{os.environ['PATH']}", "HOME": os.getcwd()},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0 and done.stderr == "", done
        return {row.split("\t")[0] for row in done.stdout.splitlines()}

    return complete


def test_fish_parses(script):
    done = subprocess.run([shell("fish"), "-n", script("fish")], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stderr == "", done


def test_fish_completes(fish):
    assert set(algorithms()) <= fish("concord run ")
    assert {"check", "bench"} <= fish("concord ")
    assert "--baselines" in fish("concord bench --b")
    assert {"auto", "fixed"} <= fish("concord run reduce --variant ")
    assert {"tbb:0", "tbb:*"} <= fish("concord check --devices ")
    assert "f64" in fish("concord check --types f6")


def test_unknown_shell():
    fails(2, ["'csh'", "bash"], "completion csh")


def test_selectors():
    assert set(selectors()) | {"auto", "all", "tbb:*"} <= set(concord("completion selectors").out.split())
