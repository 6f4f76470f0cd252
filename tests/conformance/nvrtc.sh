#!/usr/bin/env bash
# nvrtc.sh BUILD_DIR: where the CUDA backend finds NVRTC: next to its module, unless CONCORD_NVRTC names another one,
# then on the loader's path, and then in CUDA_HOME. Ends with 77, which ctest shows as skipped, if there is no NVRTC.
set -euo pipefail

build=$(cd -- "${1:?usage: nvrtc.sh BUILD_DIR}" && pwd -P)
concord=$build/bin/concord
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset CONCORD_NVRTC CONCORD_BACKEND_PATH CUDA_HOME CUDA_PATH LD_LIBRARY_PATH

used() { "$concord" doctor | sed -n 's/^  NVRTC: \(.*\), NVRTC .*/\1/p'; }
expect() {  # WHAT, EXPECTED PATH, COMMAND...
    local got
    got=$("${@:3}")
    if [[ $got != "$2" ]]; then
        echo "FAILED  $1: expected '$2', got '$got'"
        exit 1
    fi
    echo "ok      $1"
}

system=$(used)
if [[ -z $system ]]; then
    echo "nvrtc.sh: not tested: there is no NVRTC (./setup test fetches nvidia-cuda-nvrtc-cu12)"
    exit 77
fi
name=${system##*/}
# Links to it and to what it opens itself.
link_to() {  # FOLDER
    local library
    mkdir -p "$1"
    for library in "${system%/*}"/libnvrtc*.so.*; do
        ln -s "$(readlink -f "$library")" "$1/${library##*/}"
    done
}
compiles() {
    CONCORD_CACHE=off "$concord" check map --variants naive --devices cuda@sm_90 --types f32 --sizes 1025 >/dev/null
    echo "ok      it compiles"
}
cp "$build/lib/concord-backend-cuda.so" "$work"
export CONCORD_BACKEND_PATH=$work
for folder in "$work/concord" "$work"; do
    link_to "$folder"
    expect "found in ${folder/#"$work"/the module\'s folder}" "$folder/$name" used
    compiles
done
CONCORD_NVRTC=$system expect "CONCORD_NVRTC comes first" "$system" used
rm -r "$work"/libnvrtc* "$work/concord"

# Folders of this test, because this machine's NVRTC may be the one that the build bundles.
link_to "$work/loader"
link_to "$work/toolkit/lib64"
export CUDA_HOME=$work/toolkit
LD_LIBRARY_PATH=$work/loader expect "without it the search goes on: the loader's path" "$work/loader/$name" used
if PATH=$PATH:/sbin:/usr/sbin ldconfig -p | grep -F "$name " >/dev/null; then
    echo "        CUDA_HOME is not tried: the loader's cache has $name"
else
    expect "CUDA_HOME" "$work/toolkit/lib64/$name" used
    compiles
fi
