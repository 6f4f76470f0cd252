#!/usr/bin/env bash
# wheel.sh BUILD SOURCE [--long]: installs the wheel that `./setup wheel` built into a fresh virtual environment,
# without the build folder in any search path, and runs the tests of the package and the examples of its page there.
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
    wheel=$(find "$build/python/wheels" -name "concord_compute-*-$kind-*.whl" 2>/dev/null | head -n 1)
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
# NumPy and pytest are those of the build's environment.
"$tools/bin/python" -c "import site; print(site.getsitepackages()[0])" >"$("$python" -c 'import site; print(site.getsitepackages()[0])')/tools.pth"
"$python" "$source/tests/docs/python_examples.py" "$source/docs/python.md"
selection=(-m "not long")
if [[ -n $long ]]; then
    selection=(--structs 50000)
    export CONCORD_TEST_ALL_TYPES=1
fi
"$python" -m pytest -q -p no:cacheprovider --durations=5 "${selection[@]}" "$source/python/tests" "$source/python/examples"
