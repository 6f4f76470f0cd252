#!/usr/bin/env bash
# nvrtc.sh BUILD_DIR: the CUDA backend uses the NVRTC next to its module, unless CONCORD_NVRTC names another one.
# Ends with 77, which ctest shows as skipped, if there is no NVRTC.
set -euo pipefail

build=$(cd -- "${1:?usage: nvrtc.sh BUILD_DIR}" && pwd -P)
concord=$build/bin/concord
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset CONCORD_NVRTC CONCORD_BACKEND_PATH

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
    echo "nvrtc.sh: there is no NVRTC"
    exit 77
fi
name=${system##*/}
cp "$build/lib/concord-backend-cuda.so" "$work"
export CONCORD_BACKEND_PATH=$work
for folder in "$work/concord" "$work"; do
    mkdir -p "$folder"
    for library in "${system%/*}"/libnvrtc*.so.*; do
        ln -s "$(readlink -f "$library")" "$folder/${library##*/}"
    done
    expect "found in ${folder/#"$work"/the module\'s folder}" "$folder/$name" used
    CONCORD_CACHE=off "$concord" check map --devices cuda@sm_90 --types f32 --sizes 1025 >/dev/null
    echo "ok      it compiles"
done
CONCORD_NVRTC=$system expect "CONCORD_NVRTC comes first" "$system" used
rm -r "$work"/libnvrtc* "$work/concord"
expect "without it the search goes on" "$system" used
