#!/usr/bin/env bash
# privileged.sh PROGRAM MODULES_DIR: privileged programs obey no environment variable and load no driver, because their
# users may have fewer rights. Runs PROGRAM (privileged_program.cpp), and a copy that is setuid to `nobody` if root runs
# the test, otherwise setgid to another group of the user. Ends with 77, which ctest shows as skipped, if neither is
# possible.
set -euo pipefail

plain=$1
modules=$(cd -- "$2" && pwd -P)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
copy=$work/program
failed=0

skip() {
    echo "privileged.sh: not tested: $1"
    exit 77
}

chmod 777 "$work"
cp "$plain" "$copy"
if [[ $(id -u) == 0 ]]; then
    chown nobody "$copy"
    chmod 4755 "$copy"
else
    group=$(id -G | tr ' ' '\n' | grep -vx "$(id -g)" | sed -n 1p || true)
    [[ $group ]] || skip "needs root, or a user of two groups"
    chgrp "$group" "$copy"
    chmod 2755 "$copy"
fi

run() {  # PROGRAM OUTPUT
    rm -f "$work/ranges"
    env CONCORD_BACKEND_PATH="$modules" CONCORD_DEVICE=nosuch CONCORD_LOG=debug CONCORD_THREADS=3 \
        XDG_CACHE_HOME="$work/cache" XDG_CONFIG_HOME="$work/config" \
        NVTX_INJECTION64_PATH="$modules/concord-nvtx-listener.so" LISTENER_FILE="$work/ranges" "$1" >"$2" 2>&1
}
run "$plain" "$work/plain" || { cat "$work/plain"; exit 1; }
ranges=$([[ -s $work/ranges ]] && echo yes || echo no)
run "$copy" "$work/privileged" || skip "the copy does not start: $(tail -n 1 "$work/privileged")"
grep -qx "privileged: yes" "$work/privileged" || skip "a copy in $work has no privileges (mounted with nosuid?)"

obeys() {  # WHAT PATTERN: a line that only the plain program prints
    if grep -q -- "$2" "$work/plain" && ! grep -q -- "$2" "$work/privileged"; then
        echo "ok      $1"
    else
        failed=$((failed + 1))
        echo "FAILED  $1: '$2' must be in the first output only"
        head -n 50 "$work/plain" "$work/privileged"
    fi
}
obeys CONCORD_BACKEND_PATH "^entryless: "
obeys CONCORD_DEVICE "^CONCORD_DEVICE: unknown backend, got 'nosuch'"
obeys CONCORD_LOG "logged$"
obeys CONCORD_THREADS "^threads: 3$"
obeys XDG_CACHE_HOME "^cache: $work/cache/concord$"
obeys XDG_CONFIG_HOME "^tables: $work/config/concord/tuning$"
for line in "^cache: $" "^tables: $" "^tbb: available$"; do
    grep -q "$line" "$work/privileged" || { echo "FAILED  no line '$line'"; failed=1; }
done
# NVTX loads the library in the constructor of a stream.
if [[ $ranges == yes && -e $work/ranges ]]; then
    failed=$((failed + 1))
    echo "FAILED  NVTX_INJECTION64_PATH was loaded"
fi
for backend in opencl cuda; do
    if grep "^$backend: " "$work/privileged" | grep -v "not available in privileged programs" >/dev/null; then
        echo "FAILED  $backend loads drivers"
        failed=1
    fi
done
[[ $failed == 0 ]]
