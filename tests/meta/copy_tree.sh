# What new_type.sh and new_algorithm.sh share: a copy of the source tree with the files of a folder added, and its
# build. Sourced with the arguments BUILD_DIR SOURCE_DIR. Ends with 77, which ctest shows as skipped, if SOURCE_DIR is
# not a git checkout.
# shellcheck shell=bash
set -eu
export LC_ALL=C

build=$(cd -- "$1" && pwd -P)
source=$(cd -- "$2" && pwd -P)
git -C "$source" ls-files --error-unmatch CMakeLists.txt >/dev/null 2>&1 || { echo "skipped: not a git checkout"; exit 77; }
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
copy=$work/source new=$work/build

copy_tree() {  # FOLDER: the tree, with the files of the folder next to this file
    mkdir "$copy"
    git -C "$source" ls-files -z --cached --others --exclude-standard | tar -C "$source" --null -T - -cf - | tar -C "$copy" -xf -
    cp -r "$source/tests/meta/$1"/* "$copy"
}
configure() {  # OPTIONS...: otherwise like BUILD_DIR
    local line options=("$@")
    while read -r line; do
        [[ " ${options[*]}" == *" -D${line%%[:=]*}="* ]] || options+=("-D$line")
    done < <(grep -E "^(CMAKE_BUILD_TYPE|CMAKE_CXX_COMPILER|CMAKE_CXX_FLAGS|BUILD_SHARED_LIBS|CONCORD_[A-Z_]*):" "$build/CMakeCache.txt")
    cmake -S "$copy" -B "$new" "${options[@]}" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
}
compile() {  # TARGETS...
    cmake --build "$new" --parallel "$(nproc)" --target "$@" >"$work/log" 2>&1 || { tail -n 60 "$work/log"; exit 1; }
}
# For runs of the new program: settings, and the selectors of devices.
use_program() {
    concord=$new/bin/concord
    export XDG_CACHE_HOME=$work/cache XDG_CONFIG_HOME=$work/config CONCORD_TUNING=off
    unset CONCORD_DEVICE CONCORD_KERNELS
    # shellcheck disable=SC2034  # the scripts use it
    failed=0
    devices=tbb
    ! "$concord" devices | grep -q '^opencl:0 ' || devices+=,opencl
}
