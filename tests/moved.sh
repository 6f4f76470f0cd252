#!/usr/bin/env bash
# moved.sh BUILD_DIR SOURCE_DIR: a copy of concord-tests passes on a machine without the build and source folders. Hides
# them in a mount namespace, which root and users of unprivileged namespaces may create; otherwise ends with 77, which
# ctest shows as skipped. The search for paths in the program needs no such right.
set -euo pipefail

build=$(cd -- "$1" && pwd -P)
source=$(cd -- "$2" && pwd -P)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The names of the source files are in it, for messages about failed checks.
if paths=$(strings "$build/bin/concord-tests" | grep -F -e "$build" -e "$source" |
    grep -vE -e "^$source/[a-z_/]+\.[ch]pp\$" -e "^$build/lib(:|\$)" -e "^$build/include/[a-z_/]+\.hpp\$"); then
    echo "moved.sh: FAILED: concord-tests contains paths of its build:"
    echo "$paths"
    exit 1
fi

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
# shellcheck disable=SC2016  # the inner shell expands them
hidden sh -c 'mount -t tmpfs none "$0" && mount -t tmpfs none "$1" && cd / && exec "$2" --test-suite=core' \
    "$build" "$source" "$work/bin/concord-tests"
