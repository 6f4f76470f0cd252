"""Compiles functions from text for the CPU device, with the C++ compiler of the system. Called by the extension module."""

import hashlib
import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

from ._concord import CompileFailed, Unavailable, __version__

_FOLDER = Path(__file__).parent
_FLAGS = ["-std=c++20", "-O3", "-fPIC", "-shared", "-ffp-contract=off", "-fno-math-errno", "-w"]

# How each use of a function reaches the kernels that the algorithm's header defines.
_USES = {
    ("map", 1): ("map", "&detail::map_host<A0, A0, R, detail::host::IgnoreSecond<F::Host>>()"),
    ("map", 2): ("map", "&detail::map_host<A0, A1, R, F::Host>()"),
    ("reduce", 2): ("reduce", "&detail::reduce_host<R, F::Host>()"),
    ("scan", 2): ("scan", "&detail::scan_host<R, F::Host>()"),
}


def _compiler():
    command = os.environ.get("CXX") or "c++"
    program = shlex.split(command)[0]
    if shutil.which(program) is None:
        raise Unavailable(
            f"concord.function: no C++ compiler, which compiles functions for the CPU device; searched for '{program}'; "
            "install g++ 12 or clang 14, set CXX, or pass device= with a GPU or an OpenCL device"
        )
    return shlex.split(command)


def _cache():
    base = os.environ.get("XDG_CACHE_HOME")
    if not base or not os.path.isabs(base):
        base = os.path.join(os.path.expanduser("~"), ".cache")
    folder = Path(base) / "concord" / "python"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return folder
    except OSError:
        return Path(tempfile.mkdtemp(prefix="concord-"))


def _include():
    return os.environ.get("CONCORD_PYTHON_INCLUDE") or str(_FOLDER / "include")


def _library():
    return os.environ.get("CONCORD_PYTHON_LIBRARY") or str(next((_FOLDER / "lib").glob("libconcord.so.*")))


def compile(text, name, result, types, use, free):
    """The path of a library whose function concord_python_kernels() returns the kernels for that use."""
    header, kernels = _USES[use, free]
    parameters = types.split(",")
    head, body = text.split("{", 1)
    body = body[: body.rindex("}")]
    inside = head[head.index("(") : head.rindex(")") + 1]
    aliases = "".join(f"using A{i} = {t};\n" for i, t in enumerate(parameters))
    bound = "".join(f", A{i}" for i in range(free, len(parameters)))
    source = f"""#include <concord/{header}.hpp>
using namespace concord;
using R = {result};
{aliases}struct NAME : detail::TypeNames {{
    using uchar = u8; using ushort = u16; using uint = u32; using ulong = u64;
    static constexpr std::string_view name = "{name}", text = "", file = "{name}";
    static constexpr u32 line = 1;
    static inline R call {inside} {{
#line 1 "{name}"
{body}
}}
}};
using F = Function<NAME{bound}>;
extern "C" const void* concord_python_kernels() {{ return {kernels}; }}
"""
    command = _compiler()
    library = _library()
    stamp = f"{os.path.realpath(library)} {os.stat(library).st_mtime_ns} {os.stat(library).st_size}"
    key = hashlib.sha256("\0".join([source, *command, *_FLAGS, __version__, stamp]).encode()).hexdigest()[:32]
    # The linker merges template instances of all libraries of the process by their names.
    source = source.replace("NAME", f"{name}_{key}")
    target = _cache() / f"{name}-{key}.so"
    if target.exists():
        return str(target)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "function.cpp"
        path.write_text(source, encoding="utf-8")
        made = Path(folder) / "function.so"
        done = subprocess.run([*command, *_FLAGS, f"-I{_include()}", str(path), library, "-o", str(made)],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise CompileFailed(f"concord.function: {name} does not compile for the CPU device\n{done.stderr.strip()}")
        # Renamed within one file system, so that no process sees half a file.
        waiting = target.with_suffix(f".{os.getpid()}")
        shutil.copyfile(made, waiting)
        os.replace(waiting, target)
    return str(target)
