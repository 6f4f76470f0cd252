"""`concord doctor`."""

import os
import re

from program import concord, says, selectors


def test_every_device_works():
    says([f"{selector}: " for selector in selectors()], "doctor")


def test_kernel_cache():
    says(f"{os.environ['XDG_CACHE_HOME']}/concord, writable", "doctor")


def test_unusable_modules(unusable_modules):
    out = says("rebuild", "doctor").out
    for backend, reason in {
        "old": "backend interface",
        "entryless": "no entry point",
        "broken": "cannot load the module",
    }.items():
        assert re.search(rf"^{backend}: not available: .*{reason}", out, re.MULTILINE), out
    assert re.search(r"^tbb: available$", out, re.MULTILINE), out


def test_unusable_cache_folder(folder):
    (folder / "concord").write_text("no folder\n")
    result = concord("doctor", env={"XDG_CACHE_HOME": str(folder)})
    assert result.status == 0 and f"{folder}/concord, not writable" in result.out, result
