# Shared by tests that build a copy of the source tree: the copy, as git clones it into a folder `concord`, below one
# with a blank in its name, and its build. Sourced with the arguments BUILD_DIR SOURCE_DIR. Ends with 77, which ctest
# shows as skipped, if SOURCE_DIR is not a git checkout.
# shellcheck shell=bash
set -eu
export LC_ALL=C

build=$(cd -- "$1" && pwd -P)
source=$(cd -- "$2" && pwd -P)
commit=$(git -C "$source" rev-parse --verify --quiet HEAD) || { echo "skipped: git knows no commit of $source: clone it"; exit 77; }
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
copy="$work/a folder/concord" new="$work/a folder/concord/build"

copy_tree() {  # [FOLDER]: the tree with its uncommitted changes, and the files of the folder next to this file
    mkdir "$work/a folder"
    git clone --quiet --shared --no-checkout "$source" "$copy"
    git -C "$copy" reset --quiet "$commit"
    git -C "$source" ls-files -z --cached --others --exclude-standard | tar -C "$source" --null -T - -cf - | tar -C "$copy" -xf -
    [[ $# == 0 ]] || cp -r "$source/tests/meta/$1"/* "$copy"
}
configure() {  # OPTIONS...: otherwise like BUILD_DIR
    local line options=("$@")
    while read -r line; do
        [[ " ${options[*]}" == *" -D${line%%[:=]*}="* ]] || options+=("-D$line")
    done < <(grep -E "^(CMAKE_BUILD_TYPE|CMAKE_CXX_COMPILER|CMAKE_CXX_FLAGS|BUILD_SHARED_LIBS|CONCORD_[A-Z_]*):" "$build/CMakeCache.txt")
    cmake -S "$copy" -B "$new" "${options[@]}" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
}
# Configures for make, which compares times only: copies of objects of BUILD_DIR are newer than their sources, so that
# they are up to date. Precompiled headers would be newer than the objects.
configure_with_objects() {  # OPTIONS...
    local -a options=(-G "Unix Makefiles" -DCONCORD_BASELINES=OFF -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON "$@")
    local batch list
    grep -q '^CMAKE_DISABLE_PRECOMPILE_HEADERS:[A-Z]*=ON' "$build/CMakeCache.txt" || options+=(-DCONCORD_BATCHES=ON)
    configure "${options[@]}"
    copy_objects '*_sources.cpp'
    copy_objects '*.o'
    # Except objects of generated lists and of batches of sources that differ: these have one more entry.
    find "$new" -name 'unity_*.cxx' | while IFS= read -r batch; do
        sed "s|$new/|$build/|; s|$copy/|$source/|" "$batch" | cmp -s - "$build/${batch#"$new"/}" || rm -f "$batch.o"
    done
    find "$new" -maxdepth 2 -name '*.cpp' | while IFS= read -r list; do
        cmp -s "$list" "$build/${list#"$new"/}" && continue
        find "$new" -name "${list##*/}.o" -delete
        # A batch that includes the list.
        grep -rlF --include='unity_*.cxx' "$list" "$new" | sed 's/$/.o/' | tr '\n' '\0' | xargs -0r rm -f
    done
}
copy_objects() {  # PATTERN: files of the build that the new one does not have
    (cd "$build" && find . -name "$1" -print0 | tar --null -T - -cf -) |
        tar -C "$new" -xf - --skip-old-files --touch
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
    ! "$concord" devices | grep '^opencl:0 ' >/dev/null || devices+=,opencl
}
