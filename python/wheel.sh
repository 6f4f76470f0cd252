#!/usr/bin/env bash
# wheel.sh BUILD SOURCE DIR [PYTHON]: builds a wheel of the Python package from a built library, in DIR. PYTHON needs
# its headers. A wheel of Python 3.12 or later has the stable ABI. Compiles only the extension module.
set -euo pipefail
build=$(cd -- "$1" && pwd -P) source=$(cd -- "$2" && pwd -P) wheels=$3 python=${4:-python3}
tag=$("$python" -c 'import sys; print(f"cp{sys.version_info[0]}{sys.version_info[1]}")')
folder=$build/python/$tag tools=$build/python/tools-$tag

if ! cmp -s "$source/python/requirements.txt" "$tools/installed"; then
    rm -rf "$tools"
    "$python" -m venv "$tools"
    "$tools/bin/python" -m pip install --quiet --disable-pip-version-check --no-input --retries 1 \
        --require-hashes -r "$source/python/requirements.txt" </dev/null || exit 77
    cp "$source/python/requirements.txt" "$tools/installed"
fi

# What the wheel contains besides the module.
stage=$build/python/stage
rm -rf "$stage"
for component in runtime development program; do
    cmake --install "$build" --prefix "$stage" --component "$component" --strip >/dev/null
done

mkdir -p "$folder/new" "$wheels"
rm -f "$folder"/new/*
CMAKE_GENERATOR=Ninja PATH=$tools/bin:$PATH "$tools/bin/python" -m pip wheel --quiet --disable-pip-version-check --no-deps \
    --no-build-isolation --wheel-dir "$folder/new" "--config-settings=build-dir=$folder/build" \
    "--config-settings=cmake.define.concord_DIR=$(dirname "$(find "$stage" -name concord-config.cmake)")" "$source/python" </dev/null
wheel=$(ls "$folder"/new/*.whl)
# The tags in its name: those of the stable ABI (cp312-abi3) from Python 3.12 on.
kind=$(cut -d - -f 3,4 <<<"${wheel##*/}")
rm -f "$wheels"/concord_compute-*-"$kind"-*.whl
# Takes in the libraries that the modules link (oneTBB, spdlog, fmt), and names the oldest C library that it works with.
LD_LIBRARY_PATH=$stage/lib PATH=$tools/bin:$PATH "$tools/bin/auditwheel" --verbose repair --wheel-dir "$wheels" "$wheel" >"$folder/auditwheel.log" 2>&1 ||
    { tail -n 5 "$folder/auditwheel.log" >&2; exit 1; }
du -h "$wheels"/concord_compute-*-"$kind"-*.whl
