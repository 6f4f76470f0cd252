"""Fixtures of the command line's tests.

CONCORD_PROGRAM is the path of the program under test. CONCORD_TEST_MODULES is the folder of the backend modules that
the library must reject, and of the NVTX listener.
"""

import os
import pathlib
import shutil
import tempfile

import pytest

pytest.register_assert_rewrite("program")


def pytest_configure(config):
    """Gives the session its own temporary folder and kernel cache, and clears Concord's settings.

    PoCL compiles a kernel in one to two seconds. The sessions share its cache with the other tests, if XDG_CACHE_HOME
    names theirs.
    """
    for name in ("CONCORD_PROGRAM", "CONCORD_TEST_MODULES"):
        if not os.path.exists(os.environ.get(name, "")):
            raise pytest.UsageError(f"{name} must be an existing path, got '{os.environ.get(name, '')}'")
        os.environ[name] = os.path.abspath(os.environ[name])
    for name in ("DEVICE", "BACKEND_PATH", "CACHE", "LOG", "THREADS", "HOST_ISA", "KERNELS"):
        os.environ.pop(f"CONCORD_{name}", None)
    for name in ("NO_COLOR", "POCL_CACHE_DIR"):
        os.environ.pop(name, None)
    if os.environ.get("XDG_CACHE_HOME"):
        os.environ["POCL_CACHE_DIR"] = os.path.join(os.environ["XDG_CACHE_HOME"], "pocl", "kcache")
    config.concord_folder = tempfile.mkdtemp(prefix="concord-cli-")
    config.option.basetemp = os.path.join(config.concord_folder, "tests")
    os.environ.update(LC_ALL="C", CONCORD_TUNING="off", XDG_CACHE_HOME=os.path.join(config.concord_folder, "cache"))


def pytest_sessionfinish(session, exitstatus):
    """Ends with 77, which ctest shows as skipped, if all tests are skipped."""
    stats = session.config.pluginmanager.get_plugin("terminalreporter").stats
    if exitstatus == 0 and stats.get("skipped") and not stats.get("passed"):
        session.exitstatus = 77


def pytest_unconfigure(config):
    if hasattr(config, "concord_folder"):
        shutil.rmtree(config.concord_folder, ignore_errors=True)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """The working directory of the test and the program: a new, empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(params=["tbb", "opencl", "cuda"])
def device(request):
    """The selector of each backend's first device. Skips the test if the backend has no device."""
    from program import need

    need(request.param)
    return request.param


@pytest.fixture
def unusable_modules(folder, monkeypatch):
    """Adds the backends 'old', 'entryless' and 'broken', which fail to load, to those of the build."""
    modules = folder / "modules"
    modules.mkdir()
    for module in pathlib.Path(os.environ["CONCORD_TEST_MODULES"]).glob("concord-backend-*.so"):
        shutil.copy(module, modules)
    (modules / "concord-backend-broken.so").write_text("no shared object\n")
    monkeypatch.setenv("CONCORD_BACKEND_PATH", f"{modules}:/no/such/folder")
