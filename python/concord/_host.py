"""Compiles functions and kernels from source for the CPU device, with the system's C++ compiler. Called by the extension module."""

import ctypes
import functools
import hashlib
import os
import re
import secrets
import shlex
import shutil
import subprocess
import tempfile
import warnings
from pathlib import Path

from ._concord import (
    CompileFailed,
    Unavailable,
    __version__,
    _cache_problem,
    _load_library,
    _load_program,
    _store_program,
    _why_untrusted,
)

_FOLDER = Path(__file__).parent
_FLAGS = ["-std=c++20", "-O3", "-fPIC", "-shared", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-w"]
_AT_SECURE = 23

# How each use of a function reaches the kernels that the algorithm's header defines.
_USES = {
    ("map", 1): ("map", "&detail::map_host<A0, A0, R, detail::host::IgnoreSecond<F::Host>>()"),
    ("map", 2): ("map", "&detail::map_host<A0, A1, R, F::Host>()"),
    ("reduce", 2): ("reduce", "&detail::reduce_host<R, F::Host>()"),
    ("scan", 2): ("scan", "&detail::scan_host<R, F::Host>()"),
    ("segmented_reduce", 2): ("segmented_reduce", "&detail::segmented_reduce_host<R, F::Host>()"),
    ("segmented_scan", 2): ("segmented_scan", "&detail::segmented_scan_host<R, F::Host>()"),
}

# Key -> address of the kernels. Libraries stay loaded.
_loaded = {}

# What makes a source depend on files. Their content is not part of the key, so that such a source is compiled again.
_INCLUDES = re.compile(r"(#|%:|\?\?=).*(include|import|embed)", re.DOTALL)


@functools.lru_cache(maxsize=None)
def _compiler(setting):
    """The command of the compiler, and what it says about its version."""
    try:
        command = shlex.split(setting) or ["c++"]
    except ValueError as error:
        raise Unavailable(f"concord: invalid value of CXX '{setting}': {error}; expected e.g. 'g++' or "
                          "'ccache clang++'") from None
    missing = (
        f"concord: no C++ compiler for the CPU device, searched for '{command[0]}'; "
        "install g++ 12 or clang 14, set CXX, or pass device= with a GPU or an OpenCL device"
    )
    if shutil.which(command[0]) is None:
        raise Unavailable(missing)
    try:
        version = _output([*command, "--version"]).stdout
    except OSError as error:
        raise Unavailable(f"{missing}: {error}") from None
    return command, version


def _output(command, **environment):
    return subprocess.run(command, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL, check=False,
                          env={**os.environ, **environment})


def _include():
    return os.environ.get("CONCORD_PYTHON_INCLUDE") or str(_FOLDER / "include")


@functools.lru_cache(maxsize=None)
def _headers(folder):
    """What changes with Concord's headers."""
    rows = []
    for path, _, names in os.walk(folder):
        for name in names:
            status = os.stat(os.path.join(path, name))
            rows.append(f"{path}/{name} {status.st_mtime_ns} {status.st_size}")
    return "\n".join(sorted(rows))


def _library():
    named = os.environ.get("CONCORD_PYTHON_LIBRARY")
    found = [Path(named)] if named else sorted((_FOLDER / "lib").glob("libconcord.so.*"))
    if not found or not found[0].is_file():
        raise Unavailable(f"concord: no such file '{named or _FOLDER / 'lib' / 'libconcord.so.*'}'; "
                          "reinstall the package")
    return str(found[0])


# In the scope of a body. OpenCL C has these names.
_NAMES = "using uchar = u8; using ushort = u16; using uint = u32; using ulong = u64;"


def _function_source(definition, name, result, types, use, free):
    """A function that returns the C++ source for a name of the function's type."""
    header, kernels = _USES[use, free]
    parameters = types.split(",")
    # The extension module has checked all before the parenthesis: a type and the name.
    start = definition.index("(")
    aliases = "".join(f"using A{i} = {t};\n" for i, t in enumerate(parameters))
    bound = "".join(f", A{i}" for i in range(free, len(parameters)))
    line = definition.count("\n", 0, start) + 1
    return lambda unique: f"""#include <concord/{header}.hpp>
using namespace concord;
using R = {result};
{aliases}struct {unique} : Vocabulary {{
    {_NAMES}
    static constexpr std::string_view name = "{name}", text = "", file = "{name}";
    static constexpr u32 line = 1;
#line {line} "{name}"
static inline R call {definition[start:]}
}};
using F = Function<{unique}{bound}>;
extern "C" const void* concord_python_kernels() {{ return {kernels}; }}
"""


def _kernel_source(definition, name):
    """A function that returns the C++ source for a name of the kernel's type."""
    start = definition.index("(")
    line = definition.count("\n", 0, start) + 1
    return lambda unique: f"""#include <concord/text_kernel.hpp>
using namespace concord;
struct {unique} : Vocabulary {{
    {_NAMES}
#line {line} "{name}"
[[gnu::always_inline]] static inline void call {definition[start:]}
}};
extern "C" const void* concord_python_kernels() {{
    static constexpr HostKernel kernel = index_host_kernel<&{unique}::call>();
    return &kernel;
}}
"""


def _group_source(definition, name, group_size):
    """A function that returns the C++ source for a name of the kernel's type."""
    start = definition.index("(")
    line = definition.count("\n", 0, start) + 1
    size = "any_size" if group_size == (0,) else ", ".join(map(str, group_size))
    return lambda unique: f"""#include <concord/text_kernel.hpp>
using namespace concord;
struct {unique} : detail::GroupVocabulary {{
    {_NAMES}
    CONCORD_GROUP_SIZE_(({size}))
    template <class ConcordItems>
#line {line} "{name}"
[[gnu::always_inline]] static inline void call CONCORD_WITH_GROUP_ {definition[start:]}
}};
extern "C" const void* concord_python_kernels() {{
    static constexpr HostKernel kernel = group_host_kernel<{unique}>();
    return &kernel;
}}
"""


def compile(definition, name, result, types, use, free):
    """The address of the function's kernels for that use, in a library that stays loaded."""
    return _compiled(name, definition, _function_source(definition, name, result, types, use, free))


def compile_kernel(definition, name, group_size):
    """The address of the host kernel, in a library that stays loaded. group_size: empty for a kernel over an index space."""
    source = _group_source(definition, name, group_size) if group_size else _kernel_source(definition, name)
    return _compiled(name, definition, source)


def _compiled(name, definition, source):
    # The library ignores the environment in such programs, but compilers do not.
    if ctypes.CDLL(None).getauxval(_AT_SECURE):
        raise Unavailable("concord: the CPU device is not available in privileged programs; "
                          "pass device= with another device")
    command, version = _compiler(os.environ.get("CXX", ""))
    library = _library()
    stamp = f"{os.path.realpath(library)} {os.stat(library).st_mtime_ns} {os.stat(library).st_size}"
    parts = [source("f"), *command, version, *_FLAGS, _include(), _headers(_include()), __version__, stamp]
    key = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]
    cached = not _INCLUDES.search(definition)
    if not cached:
        key += secrets.token_hex(8)
    if key in _loaded:
        return _loaded[key]
    # The first line is the entry's title in `concord cache ls`.
    entry = f"python | {version.partition(chr(10))[0]} | {name}\n{key}"
    address = None
    if cached and (stored := _load_program(entry)):
        try:
            address = _load_library(name, stored)
        except CompileFailed:
            pass  # of another system, for example: compiled again and replaced
    if address is None:
        # The linker merges template instances of all libraries of the process by their names.
        made = _made(name, [*command, *_FLAGS, f"-I{_include()}"], source(f"{name}_{key}"), library)
        # Loaded before it is stored: a compiler that fails without saying so leaves nothing in the cache.
        address = _load_library(name, made)
        if cached and (problem := _cache_problem()):
            # At the caller of the call that needs the function.
            warnings.warn(f"concord: {problem}", RuntimeWarning, stacklevel=3)
        elif cached:
            _store_program(entry, made)
    _loaded[key] = address
    return address


def _made(name, command, source, library):
    """The bytes of the library that the compiler makes of the source."""
    with tempfile.TemporaryDirectory(prefix="concord-") as folder:
        why = _why_untrusted(folder)
        if why:
            raise Unavailable(f"concord: the folder of temporary files is not used: '{folder}' is {why}; "
                              "set TMPDIR to a folder that other users cannot change")
        path, made = Path(folder) / "function.cpp", Path(folder) / "function.so"
        path.write_text(source, encoding="utf-8")
        # Compilers have temporary files of their own.
        done = _output([*command, str(path), library, "-o", str(made)], TMPDIR=folder)
        if done.returncode != 0:
            raise CompileFailed(f"concord: {name} does not compile for the CPU device\n{done.stderr.strip()}")
        try:
            return made.read_bytes()
        except OSError as error:
            raise CompileFailed(f"concord: {name}: '{shlex.join(command[:1])}' reported no error, but wrote no "
                                f"library: {error.strerror}") from None
