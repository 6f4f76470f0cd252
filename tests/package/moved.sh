#!/usr/bin/env bash
# moved.sh BUILD_DIR SOURCE_DIR: a copy of concord-tests passes on a machine without the build and source folders, and
# no program searches the current directory for libraries. Hides the folders in a mount namespace. If this user may not
# create one, ends with 77, which ctest shows as skipped, after the checks that need none. The longest cases, of kernels
# and arithmetic, run in the test `core` only.
set -euo pipefail

build=$(cd -- "$1" && pwd -P)
source=$(cd -- "$2" && pwd -P)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# It contains the names of source files, for messages about failed checks, and the folder of the libraries.
if paths=$(strings "$build/bin/concord-tests" | grep -oP "((?<![\\w.}/-])|(?<=-[IL]))(\\Q$build\\E|\\Q$source\\E)/[^]\"': ]*" |
    grep -vE -e '\.[ch]pp$' -e "^$build/lib\$" | sort -u | grep .); then
    echo "moved.sh: FAILED: concord-tests contains paths of its build:"
    echo "$paths"
    exit 1
fi

# An empty or relative entry of a list of library folders is the current directory.
for file in "$build"/bin/* "$build"/lib/*.so*; do
    if readelf -d "$file" 2>/dev/null | sed -n 's/.*R[UN]*PATH.*\[\(.*\)\]/\1/p' | tr ':' '\n' | grep -v '^[/$]' >/dev/null; then
        echo "moved.sh: FAILED: $file searches the current directory for libraries"
        exit 1
    fi
done

mkdir "$work/bin"
cp "$build/bin/concord-tests" "$work/bin"
cp -a "$build/lib" "$build/test-modules" "$work"
unset CONCORD_TEST_MODULES CONCORD_BACKEND_PATH
export XDG_CACHE_HOME=$work/cache LD_LIBRARY_PATH=$work/lib CONCORD_TEST_DEVICES=tbb
hidden() { unshare --mount --map-root-user "$@"; }
if [[ $(id -u) == 0 ]]; then hidden() { unshare --mount "$@"; }; fi
if ! hidden mount -t tmpfs none "$build"; then
    echo "moved.sh: not tested: this user may not create a mount namespace"
    exit 77
fi
# What the tests read of the source tree.
mkdir -p "$work/source/docs"
cp "$source/docs/public_names.txt" "$work/source/docs"
export CONCORD_TEST_SOURCE=$work/source
# shellcheck disable=SC2016  # the inner shell expands them
hidden sh -c 'mount -t tmpfs none "$0" && mount -t tmpfs none "$1" && cd / && exec "$2" --test-suite=core "$3"' \
    "$build" "$source" "$work/bin/concord-tests" \
    --test-case-exclude='expressions*compile for CUDA,kernels of logic compile for CUDA,a_decomposition_covers*'
