"""Compiles functions and kernels from source for the CPU device, with the system's C++ compiler. Called by the extension module."""

import ctypes
import functools
import hashlib
import os
import shlex
import shutil
import stat
import subprocess
import tempfile
import warnings
from pathlib import Path

from ._concord import CompileFailed, Unavailable, __version__

_FOLDER = Path(__file__).parent
_FLAGS = ["-std=c++20", "-O3", "-fPIC", "-shared", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-w"]
_AT_SECURE = 23

# How each use of a function reaches the kernels that the algorithm's header defines.
_USES = {
    ("map", 1): ("map", "&detail::map_host<A0, A0, R, detail::host::IgnoreSecond<F::Host>>()"),
    ("map", 2): ("map", "&detail::map_host<A0, A1, R, F::Host>()"),
    ("reduce", 2): ("reduce", "&detail::reduce_host<R, F::Host>()"),
    ("scan", 2): ("scan", "&detail::scan_host<R, F::Host>()"),
}

# Libraries that are loaded, but not in the cache: key -> path. Their files are removed.
_loaded = {}


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


def _output(command):
    return subprocess.run(command, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL, check=False)


def _why_untrusted(path):
    """Why code is not loaded from a file or folder; empty if it may be. The rules are those for modules."""
    status = os.lstat(path)
    if not stat.S_ISDIR(status.st_mode) and not stat.S_ISREG(status.st_mode):
        return "not a folder and not a regular file"
    kind = "a folder" if stat.S_ISDIR(status.st_mode) else "a file"
    if status.st_mode & stat.S_IWOTH:
        return f"{kind} that every user may write to"
    if status.st_uid not in (0, os.geteuid()):
        return f"{kind} of another user"
    return ""


def _cache():
    """The folder of the cache, like that of the compiled kernels. None if there is none or it is not trusted."""
    if os.environ.get("CONCORD_CACHE") == "off":
        return None
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):
        home = os.environ.get("HOME", "")
        if not os.path.isabs(home):
            return None
        base = os.path.join(home, ".cache")
    folder = Path(base)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("concord", "python"):
            folder = folder / name
            folder.mkdir(mode=0o700, exist_ok=True)
            why = _why_untrusted(folder.resolve())
            if why:
                return _not_used(folder, why)
    except OSError as error:
        return _not_used(folder, error.strerror)
    return folder


def _not_used(folder, why, level=5):
    """Warns the caller of the call that needs the function."""
    warnings.warn(f"concord: the cache '{folder}' is not used: {why}", RuntimeWarning, stacklevel=level)


def _include():
    return os.environ.get("CONCORD_PYTHON_INCLUDE") or str(_FOLDER / "include")


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


def compile(definition, name, result, types, use, free):
    """The path of a library whose function concord_python_kernels() returns the function's kernels for that use.

    The library is in the cache. Without a cache it is already loaded under that path.
    """
    return _compiled(name, _function_source(definition, name, result, types, use, free))


def compile_kernel(definition, name):
    """The path of a library whose function concord_python_kernels() returns the host kernel, as in compile()."""
    return _compiled(name, _kernel_source(definition, name))


def _compiled(name, source):
    # The library ignores the environment in such programs, but compilers do not.
    if ctypes.CDLL(None).getauxval(_AT_SECURE):
        raise Unavailable("concord: the CPU device is not available in privileged programs; "
                          "pass device= with another device")
    command, version = _compiler(os.environ.get("CXX", ""))
    library = _library()
    stamp = f"{os.path.realpath(library)} {os.stat(library).st_mtime_ns} {os.stat(library).st_size}"
    parts = [source("f"), *command, version, *_FLAGS, _include(), __version__, stamp]
    key = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]
    if key in _loaded:
        return _loaded[key]
    cache = _cache()
    target = cache and cache / f"{name[:64]}-{key}.so"
    if target and _is_usable(target):
        return str(target)
    with tempfile.TemporaryDirectory(prefix="concord-") as folder:
        path, made = Path(folder) / "function.cpp", Path(folder) / "function.so"
        # The linker merges template instances of all libraries of the process by their names.
        path.write_text(source(f"{name}_{key}"), encoding="utf-8")
        done = _output([*command, *_FLAGS, f"-I{_include()}", str(path), library, "-o", str(made)])
        if done.returncode != 0:
            raise CompileFailed(f"concord: {name} does not compile for the CPU device\n{done.stderr.strip()}")
        if target:
            try:
                _store(made, target)
                return str(target)
            except OSError as error:
                _not_used(cache, error.strerror, level=4)
        # Loaded before the file is removed. dlopen() of the same path returns the loaded library.
        try:
            ctypes.CDLL(str(made), mode=os.RTLD_NOW | os.RTLD_LOCAL)
        except OSError as error:
            raise CompileFailed(f"concord: {name} cannot be loaded: {error}; set TMPDIR to a folder from which "
                                "libraries can be loaded") from None
        _loaded[key] = str(made)
    return _loaded[key]


def _is_usable(target):
    try:
        return not _why_untrusted(target) and os.access(target, os.R_OK)
    except OSError:
        return False


def _store(made, target):
    # Renamed within one file system, so that no process sees half a file. mkstemp() sets the mode 0600.
    number, waiting = tempfile.mkstemp(prefix=".", suffix=".new", dir=target.parent)
    try:
        with os.fdopen(number, "wb") as file, open(made, "rb") as library:
            shutil.copyfileobj(library, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(waiting, target)
    except BaseException:
        os.unlink(waiting)
        raise
