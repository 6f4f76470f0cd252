#!/usr/bin/env python3
"""bundled.py FOLDER VERSION LOADER [PREFIX]: writes what the wheel VERSION has to say about software of others in it.

FOLDER/licenses has the licence of each component, FOLDER/sboms/concord.cdx.json lists them (CycloneDX). Components are
nanobind, the headers that the program compiles in, the libraries that those in PREFIX/lib link and auditwheel copies,
and LOADER, OpenCL's ICD loader. It is copied to FOLDER/libOpenCL.so.1 if its version is the pinned one.
"""
import hashlib
import importlib.metadata
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

LOADER_VERSION = "2.3.1"
HEADERS = ["libcli11-dev", "nlohmann-json3-dev"]
# Of every system, which wheels do not contain.
SYSTEM = {"libc6", "libgcc-s1", "libstdc++6"}


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def package_of(library):
    """The Debian package of a file, by both paths that a merged /usr gives it."""
    path = str(library)
    for name in (path, path.removeprefix("/usr"), "/usr" + path):
        if found := re.match(r"([^:\s,]+)", output("dpkg-query", "--search", name)):
            return found.group(1)
    return None


def linked(prefix):
    """The libraries of other packages that the libraries in a folder link. The wheel has no MPI component."""
    listing = output("ldd", *(str(file) for file in Path(prefix, "lib").glob("**/*.so*") if "-mpi." not in file.name))
    return {Path(path).resolve() for path in re.findall(r"=> (/\S+)", listing) if not path.startswith(str(prefix))}


def main(folder, version, loader, prefix=None):
    folder = Path(folder)
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "licenses").mkdir(parents=True)
    (folder / "sboms").mkdir()
    components = {}

    def add(name, version, licence, purl, file=None):
        if not licence or not Path(licence).exists():
            print(f"bundled.py: no licence of {name}; the wheel names it without one", file=sys.stderr)
        else:
            shutil.copyfile(licence, folder / "licenses" / f"{name}.txt")
        part = components.setdefault(name, {"type": "library", "name": name, "version": version, "purl": purl,
                                            "licenses": [{"license": {"name": f"licenses/{name}.txt"}}]})
        if file:
            digest = hashlib.sha256(Path(file).read_bytes()).hexdigest()
            part.setdefault("hashes", []).append({"alg": "SHA-256", "content": digest})

    def add_package(package, file=None):
        found = output("dpkg-query", "--show", "--showformat=${Version}", package) if package else ""
        if found:
            add(package, found, f"/usr/share/doc/{package}/copyright", f"pkg:deb/debian/{package}@{found}", file)
        elif file:
            add(Path(file).name, "unknown", None, f"pkg:generic/{Path(file).name}", file)

    nanobind = importlib.metadata.distribution("nanobind")
    licence = next((f.locate() for f in nanobind.files if Path(f).name.startswith("LICENSE")), None)
    add("nanobind", nanobind.version, licence, f"pkg:pypi/nanobind@{nanobind.version}")
    for package in HEADERS:
        add_package(package)
    for library in sorted(linked(prefix)) if prefix else []:
        package = package_of(library)
        if package not in SYSTEM:
            add_package(package, library)
    if Path(loader).exists():
        loader = Path(loader).resolve()
        package = package_of(loader)
        found = output("dpkg-query", "--show", "--showformat=${Version}", package) if package else ""
        if re.match(rf"{re.escape(LOADER_VERSION)}\b", found):
            shutil.copyfile(loader, folder / "libOpenCL.so.1")
            add_package(package, loader)
        else:
            print(f"bundled.py: the wheel has no OpenCL ICD loader: {loader} is version {found or 'unknown'} of "
                  f"{package or 'an unknown package'}; expected {LOADER_VERSION}", file=sys.stderr)
    bom = {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
           "metadata": {"component": {"type": "library", "name": "concord-compute", "version": version}},
           "components": [components[name] for name in sorted(components)]}
    (folder / "sboms" / "concord.cdx.json").write_text(json.dumps(bom, indent=1) + "\n", encoding="utf-8")


main(*sys.argv[1:])
