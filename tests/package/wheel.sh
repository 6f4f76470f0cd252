#!/usr/bin/env bash
# wheel.sh BUILD SOURCE [--long]: installs the wheel that `./setup wheel` built into a fresh virtual environment,
# without the build folder in any search path, and runs the tests of the package and the examples of its page there.
# --long: all cases on all devices, with all types and optimised kernels.
set -euo pipefail
build=$(cd -- "$1" && pwd -P) source=$(cd -- "$2" && pwd -P) long=${3:-}
# The newest environment whose wheel exists.
wheel='' tools=''
while IFS= read -r installed; do
    tools=${installed%/installed}
    tag=${tools##*tools-}
    # From Python 3.12 on, wheels have the tags of the stable ABI.
    kind=$tag-$tag
    ((${tag#cp3} < 12)) || kind=cp312-abi3
    wheel=$(find "$build/python/wheels" -name "concord_compute-*-$kind-*.whl" 2>/dev/null | sed -n 1p)
    [[ -z $wheel ]] || break
done < <(ls -t "$build"/python/tools-*/installed 2>/dev/null)
if [[ -z $wheel ]]; then
    echo "not tested: no wheel in $build/python/wheels; ./setup wheel builds it"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

size=$(du -k "$wheel" | cut -f1)
echo "$((size / 1024)) MiB: ${wheel##*/}"
listing=$("$tools/bin/python" -m zipfile -l "$wheel")
for name in concord/__init__.py concord/_concord.pyi concord/py.typed concord/bin/concord concord/lib/concord/concord-backend-tbb.so \
    concord/include/concord/concord.hpp; do
    grep -q "$name" <<<"$listing" || { echo "the wheel lacks $name"; exit 1; }
done
"$tools/bin/python" -m zipfile -e "$wheel" "$work/wheel"
if grep -q '^CONCORD_HARDENING:BOOL=ON' "$build/CMakeCache.txt"; then
    "$source/tests/package/hardened.sh" "$work/wheel"
else
    echo "hardening not tried: CONCORD_HARDENING is off"
fi
# auditwheel gives the libraries that it copies names with the beginning of their SHA-256.
"$tools/bin/python" - "$work/wheel" <<'PYTHON'
import hashlib, json, pathlib, sys
wheel = pathlib.Path(sys.argv[1])
info, = wheel.glob("*.dist-info")
components = json.loads((info / "sboms" / "concord.cdx.json").read_text())["components"]
digests = [entry["content"] for part in components for entry in part.get("hashes", [])]
libraries = {path.name: path.name.split(".")[0].rsplit("-", 1)[-1] for path in wheel.glob("*.libs/*")}
for path in wheel.glob("concord/lib/concord/opencl/*"):
    libraries[path.name] = hashlib.sha256(path.read_bytes()).hexdigest()
assert len(libraries) > 4, libraries
missing = [name for name, digest in libraries.items() if not any(known.startswith(digest) for known in digests)]
unlicensed = [part["name"] for part in components if not (info / part["licenses"][0]["license"]["name"]).stat().st_size]
unlicensed += [] if (info / "licenses" / "LICENSE").exists() else ["concord"]
if missing or unlicensed:
    sys.exit(f"the wheel's list of components lacks {missing}; without a licence: {unlicensed}")
PYTHON
if grep -E 'libcuda|libnvrtc|libcudart|libpocl' <<<"$listing"; then
    echo "the wheel contains libraries of drivers"
    exit 1
fi

start=$SECONDS
"$tools/bin/python" -m venv "$work/venv"
python=$work/venv/bin/python
"$python" -m pip install --quiet --disable-pip-version-check --no-index --no-deps "$wheel"
cd "$work"
unset PYTHONPATH CONCORD_BACKEND_PATH
"$python" -c "import concord as cc; print(cc.__version__); print(cc.devices())"
echo "first result $((SECONDS - start)) s after the start of the installation"
"$work/venv/bin/concord" --version
# The system's OpenCL loader comes first; the wheel's own serves systems without one. A damaged file of that name hides
# the system's.
loader() { (cd / && "$work/venv/bin/concord" doctor 2>&1 || true) | sed -n 's/.*OpenCL ICD loader: *\([^ ]*\).*/\1/p' | sed -n 1p; }
own=$("$python" -c 'import concord; print(concord.__path__[0])')/lib/concord/opencl/libOpenCL.so.1
mkdir "$work/damaged"
touch "$work/damaged/libOpenCL.so.1" "$work/damaged/libOpenCL.so"
if PATH=$PATH:/sbin:/usr/sbin ldconfig -p | grep 'libOpenCL\.so\.1' >/dev/null; then
    [[ $(loader) == /* && $(loader) != "$own" ]] || { echo "the OpenCL loader is '$(loader)'; expected the system's"; exit 1; }
fi
if [[ -e $own ]]; then
    found=$(LD_LIBRARY_PATH=$work/damaged loader)
    [[ $found -ef $own ]] || { echo "without a loader of the system the OpenCL loader is '$found'; expected $own"; exit 1; }
fi
# NumPy and pytest are those of the build's environment.
"$tools/bin/python" -c "import site; print(site.getsitepackages()[0])" >"$("$python" -c 'import site; print(site.getsitepackages()[0])')/tools.pth"
"$python" "$source/tests/docs/python_examples.py" "$source/docs/python.md"
if [[ $long ]]; then
    selection=(--structs 50000)
    export CONCORD_TEST_ALL_TYPES=1
else
    selection=(-m "not long")
    # shellcheck disable=SC2034  # unoptimised.sh uses it
    concord=$work/venv/bin/concord
    # shellcheck source=tests/conformance/unoptimised.sh
    source "$source/tests/conformance/unoptimised.sh"
fi
"$python" -m pytest -q -p no:cacheprovider --durations=5 "${selection[@]}" "$source/python/tests" "$source/python/examples"
